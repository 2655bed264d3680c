package io.partita.runtime;

import static io.partita.runtime.Within.U;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Compares prompts, decoding, and tiles of keys with the whole attention. */
@ExtendWith(WithKernels.class)
class AttentionTest {
  private enum Mask {
    NONE,
    ALLOWED,
    ADDED
  }

  private static final TensorType NOTHING = TensorType.of(ElementType.F32, 0);

  private final Samples samples = new Samples(6);

  /** An attention and its tiling. */
  private record Case(
      Structured.Attention op,
      Tensor q,
      Tensor k,
      Tensor v,
      Tensor mask,
      Mask kind,
      int parts,
      int tile) {
    int heads() {
      return (int) q.shape().extent(1);
    }

    int seq() {
      return (int) q.shape().extent(2);
    }

    int keys() {
      return (int) k.shape().extent(2);
    }

    int valueSize() {
      return (int) v.shape().extent(3);
    }

    List<Tensor> operands() {
      List<Tensor> operands = new ArrayList<>(List.of(q, k, v));
      if (kind != Mask.NONE) {
        operands.add(mask);
      }
      return operands;
    }
  }

  private Case draw() {
    int kvHeads = samples.from(1, 3);
    int group = samples.from(1, 3);
    int seq = samples.one(1, 1, 2, 7);
    int keys = seq + samples.from(0, 40);
    int d = samples.from(1, 19);
    // Cores share the features of a query from 32 on.
    int dv = samples.from(1, 4) == 1 ? samples.from(32, 70) : samples.from(1, 19);
    Mask kind = samples.one(Mask.values());
    Shape shape = Shape.of(1, (long) kvHeads * group, seq, keys);
    Shape maskShape = samples.flag() ? shape : Shape.of(1, 1, seq, keys);
    Structured.Attention op =
        new Structured.Attention(
            0.375,
            samples.oneIn(3) ? 2.5 : 0,
            samples.flag(),
            Dim.of(samples.from(0, keys)),
            samples.oneIn(3) ? samples.from(1, 9) : 0,
            kind != Mask.NONE,
            false);
    return new Case(
        op,
        samples.floats(Shape.of(1, (long) kvHeads * group, seq, d), 3),
        samples.floats(Shape.of(1, kvHeads, keys, d), 3),
        samples.floats(Shape.of(1, kvHeads, keys, dv), 2),
        kind == Mask.ALLOWED ? samples.booleans(maskShape) : samples.floats(maskShape, 4),
        kind,
        samples.one(1, 1, 3, 8),
        samples.one(keys, keys, 5, 16));
  }

  @Test
  void attends(Kernels kernels) {
    for (int round = 0; round < 60; round++) {
      verify(draw(), kernels);
    }
  }

  private static void verify(Case drawn, Kernels kernels) {
    List<Tensor> wide =
        drawn.operands().stream()
            .map(
                x ->
                    x.element() == ElementType.BOOL
                        ? x
                        : Tensor.ofDoubles(x.type().with(ElementType.F64), x.doubles()))
            .toList();
    double[] exact = OpEvaluator.evaluate(drawn.op, wide).getFirst().doubles();
    // No score is larger than d products of at most 9, scaled, and the mask's 4.
    double score = drawn.q.shape().extent(3) * 9 * 0.375 + 4;
    double bound = (40 * score + 4 * drawn.keys() + 8 * drawn.parts + 24) * U * 2;
    Within.verify(drawn.toString(), attention(drawn, kernels::run), exact, (i, y) -> bound);
    Within.verify(
        drawn + " contracted", attention(drawn, kernels::contracted), exact, (i, y) -> bound);
  }

  private static Tensor attention(Case drawn, Function<KernelCall, List<Tensor>> kernels) {
    TensorType states = TensorType.of(ElementType.F32, drawn.parts, drawn.heads(), drawn.seq());
    List<Tensor> state =
        new ArrayList<>(
            List.of(
                Tensor.filled(states, Double.NaN),
                Tensor.filled(states, Double.NaN),
                Tensor.filled(
                    TensorType.of(
                        ElementType.F32,
                        drawn.parts,
                        drawn.heads(),
                        drawn.seq(),
                        drawn.valueSize()),
                    Double.NaN)));
    for (int from = 0; from == 0 || from < drawn.keys(); from += drawn.tile) {
      int keys = Math.min(drawn.tile, drawn.keys() - from);
      state = kernels.apply(tile(drawn, from, keys, state));
    }
    int rows = drawn.seq() * drawn.valueSize();
    return kernels
        .apply(
            new KernelCall("partita_attention_finish_f32")
                .in(state.get(0))
                .in(state.get(1))
                .in(state.get(2))
                .out(
                    TensorType.of(
                        ElementType.F32, 1, drawn.heads(), drawn.seq(), drawn.valueSize()))
                .i32(drawn.parts, drawn.heads(), drawn.seq(), drawn.valueSize())
                .i32(rows, drawn.valueSize()))
        .getFirst();
  }

  private static KernelCall tile(Case drawn, int from, int keys, List<Tensor> state) {
    Tensor k = part(drawn.k, 2, from, keys);
    Tensor v = part(drawn.v, 2, from, keys);
    Tensor mask =
        drawn.kind == Mask.NONE ? Tensor.filled(NOTHING, 0) : part(drawn.mask, 3, from, keys);
    int d = (int) drawn.q.shape().extent(3);
    int dv = drawn.valueSize();
    long maskHead = drawn.mask.shape().extent(1) == 1 ? 0 : (long) drawn.seq() * keys;
    KernelCall call = new KernelCall("partita_attention_f32").in(drawn.q).in(k).in(v);
    call = drawn.kind == Mask.ALLOWED ? call.in(mask) : call.absent();
    call = drawn.kind == Mask.ADDED ? call.in(mask) : call.absent();
    return call.inOut(state.get(0))
        .inOut(state.get(1))
        .inOut(state.get(2))
        .i32(drawn.parts, drawn.heads(), drawn.heads() / k.shape().extent(1))
        .i32(drawn.seq(), keys, d, dv)
        .i32((long) drawn.seq() * d, d, (long) keys * d, d, (long) keys * dv, dv)
        .i32(maskHead, keys, 1)
        .i32(from == 0 ? 1 : 0, drawn.op.causal() ? 1 : 0, drawn.op.window())
        .i32(drawn.op.offset().value() - from)
        .f32(drawn.op.scale())
        .f32(drawn.op.softCap());
  }

  private static Tensor part(Tensor x, int axis, long from, long size) {
    List<Dim> starts = new ArrayList<>(List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.ZERO));
    starts.set(axis, Dim.of(from));
    Shape sizes = x.shape().with(axis, Dim.of(size));
    Movement.Slice slice = new Movement.Slice(starts, sizes.dims(), List.of(1L, 1L, 1L, 1L));
    return OpEvaluator.evaluate(slice, List.of(x)).getFirst();
  }
}
