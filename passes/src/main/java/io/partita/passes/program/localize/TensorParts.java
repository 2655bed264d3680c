package io.partita.passes.program.localize;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Parts of constants. Devices that hold the same part share it. A contiguous part is a view of the
 * whole, and any other one is copied when its elements are read.
 */
final class TensorParts {
  private final Map<Tensor, Map<Box, Tensor>> parts = new IdentityHashMap<>();

  Tensor part(Tensor whole, Box box) {
    return parts
        .computeIfAbsent(whole, key -> new HashMap<>())
        .computeIfAbsent(box, key -> cut(whole, key));
  }

  private static Tensor cut(Tensor whole, Box box) {
    Box all = Box.of(whole.type());
    if (box.equals(all)) {
      return whole;
    }
    TensorType type = whole.type().with(box.shape());
    int bits = whole.element().bits();
    int dim = 0;
    long rows = 1;
    for (int i = 0; i < box.rank(); i++) {
      if (box.size(i) < all.size(i)) {
        dim = i;
      }
    }
    for (int i = 0; i < dim; i++) {
      rows *= box.size(i);
    }
    long run = Box.elements(box) / rows * bits;
    boolean isAligned = run % 8 == 0;
    // Two 4-bit elements share a byte, so that runs may begin inside one.
    for (int i = 0; i <= dim && i < box.rank(); i++) {
      long stride = whole.shape().strides()[i] * bits;
      isAligned &= box.from(i) * stride % 8 == 0;
      isAligned &= i == dim || box.size(i) == 1 || stride % 8 == 0;
    }
    if (!isAligned) {
      return Tensor.deferred(type, () -> sliced(whole, box));
    }
    return rows == 1
        ? whole.stretch(type, offset(whole, box) * bits / 8)
        : Tensor.deferred(type, () -> copied(whole, box, run / 8));
  }

  private static long offset(Tensor whole, Box box) {
    long[] strides = whole.shape().strides();
    long offset = 0;
    for (int i = 0; i < box.rank(); i++) {
      offset += box.from(i) * strides[i];
    }
    return offset;
  }

  /** Copies contiguous runs of {@code run} bytes. */
  private static MemorySegment copied(Tensor whole, Box box, long run) {
    int bits = whole.element().bits();
    long[] strides = whole.shape().strides();
    long size = Box.elements(box) * bits / 8;
    // An array of floats is read without a copy.
    MemorySegment copy =
        whole.element() == ElementType.F32
            ? MemorySegment.ofArray(new float[Math.toIntExact(size / Float.BYTES)])
            : MemorySegment.ofArray(new byte[Math.toIntExact(size)]);
    long from = offset(whole, box);
    long[] at = new long[box.rank()];
    for (long to = 0; to < size; to += run) {
      long offset = from;
      for (int i = 0; i < at.length; i++) {
        offset += at[i] * strides[i];
      }
      MemorySegment.copy(whole.bytes(), offset * bits / 8, copy, to, run);
      advance(at, box, run * 8 / bits);
    }
    return copy;
  }

  /** Advances by {@code count} elements, to the beginning of a run. */
  private static void advance(long[] at, Box box, long count) {
    long step = count;
    for (int i = at.length - 1; i >= 0; i--) {
      at[i] += step;
      step = at[i] / box.size(i);
      at[i] %= box.size(i);
    }
  }

  private static MemorySegment sliced(Tensor whole, Box box) {
    List<Dim> starts = new ArrayList<>();
    box.from().forEach(start -> starts.add(Dim.of(start)));
    Shape shape = box.shape();
    List<Long> steps = Collections.nCopies(box.rank(), 1L);
    Movement.Slice slice = new Movement.Slice(starts, shape.dims(), steps);
    return OpEvaluator.evaluate(slice, List.of(whole)).getFirst().bytes();
  }
}
