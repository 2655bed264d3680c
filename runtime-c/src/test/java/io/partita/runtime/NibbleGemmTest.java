package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Contraction.NibbleMatMul;
import io.partita.ir.op.Movement.Slice;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares bit for bit, in one call and in tiles of groups. */
@ExtendWith(WithKernels.class)
class NibbleGemmTest {
  private final Samples samples = new Samples(4);

  @ParameterizedTest
  @CsvSource({"I8,F32", "I8,BF16", "U8,F32", "U8,BF16"})
  void multipliesAsTheReference(ElementType element, ElementType scaleType, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      int rows = samples.from(0, 5);
      int panels = samples.from(0, 5);
      int groups = samples.from(1, 7);
      int group = samples.one(8, 16, 24, 64, 128);
      boolean isExtreme = round % 4 == 0;
      Tensor x = bytes(element, isExtreme, rows, (long) groups * group);
      Tensor codes = bytes(ElementType.U8, isExtreme, panels, groups, NibblePanels.bytes(group));
      Tensor scales = scales(scaleType, panels, groups, NibblePanels.COLUMNS);
      Tensor expected =
          OpEvaluator.evaluate(new NibbleMatMul(), List.of(x, codes, scales)).getFirst();
      Tensor out = Tensor.filled(expected.type(), 99);
      int tile = samples.flag() ? groups : samples.from(1, groups);
      for (int start = 0; start < groups; start += tile) {
        int count = Math.min(tile, groups - start);
        KernelCall call =
            new KernelCall("partita_nibble_gemm_" + element.text() + "_" + scaleType.text())
                .in(part(x, 1, (long) start * group, (long) count * group))
                .in(part(codes, 1, start, count))
                .in(part(scales, 1, start, count))
                .inOut(out)
                .i32(rows, panels, count, group, start == 0 ? 0 : 1);
        Tensor found = kernels.run(call).getFirst();
        Same.verify("contracted sums", kernels.contracted(call).getFirst(), found);
        out = found;
      }
      Same.verify("sums of " + element + " and " + scaleType, out, expected);
    }
  }

  private Tensor bytes(ElementType element, boolean isExtreme, long... extents) {
    TensorType type = TensorType.of(element, extents);
    long least = element.minimum();
    long most = element.maximum();
    long[] values = new long[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          isExtreme ? (samples.flag() ? least : most) : samples.from((int) least, (int) most);
    }
    return Tensor.ofLongs(type, values);
  }

  /** Of either sign, from subnormal numbers to those of weights. */
  private Tensor scales(ElementType element, long... extents) {
    TensorType type = TensorType.of(element, extents);
    double[] values = new double[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      double magnitude = samples.from(1, 1 << 20) * Math.scalb(1.0, -samples.one(25, 30, 150));
      values[i] = samples.flag() ? magnitude : -magnitude;
    }
    return Tensor.ofDoubles(type, values);
  }

  private static Tensor part(Tensor whole, int axis, long start, long size) {
    Shape shape = whole.shape();
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
    starts.set(axis, Dim.of(start));
    Slice slice =
        new Slice(
            starts, shape.with(axis, Dim.of(size)).dims(), Collections.nCopies(shape.rank(), 1L));
    return OpEvaluator.evaluate(slice, List.of(whole)).getFirst();
  }
}
