package io.partita.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.IntegerAttention;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Compares prompts and decoding with the definition, bit for bit. */
@ExtendWith(WithKernels.class)
class IntegerAttentionTest {
  private static final int WORD = 4;

  private final Samples samples = new Samples(16);

  /**
   * An attention.
   *
   * @param wide whether rows of queries are further apart than those of keys
   */
  private record Case(Structured.Attention op, List<Tensor> operands, boolean wide) {
    int extent(int operand, int axis) {
      return (int) operands.get(operand).shape().extent(axis);
    }

    int heads() {
      return extent(0, 1);
    }

    int seq() {
      return extent(0, 2);
    }

    int keys() {
      return extent(1, 2);
    }

    int group() {
      return heads() / extent(1, 1);
    }
  }

  private Case draw() {
    int kvHeads = samples.from(1, 3);
    int heads = kvHeads * samples.from(1, 3);
    int seq = samples.one(1, 1, 2, 4, 9);
    int keys = seq + samples.from(0, 40);
    int d = samples.one(1, 4, 7, 16, 32, 33);
    int dv = samples.one(1, 4, 6, 16, 32);
    boolean isMasked = samples.flag();
    Structured.Attention op =
        new Structured.Attention(
            samples.one(0.5, 0.003, 1e-6, 1e-9),
            0,
            samples.flag(),
            Dim.of(samples.from(0, keys)),
            samples.oneIn(3) ? samples.from(1, 9) : 0,
            isMasked,
            false,
            0.25);
    List<Tensor> operands = new ArrayList<>();
    operands.add(bytes(Shape.of(1, heads, seq, d)));
    operands.add(bytes(Shape.of(1, kvHeads, keys, d)));
    operands.add(bytes(Shape.of(1, kvHeads, keys, dv)));
    if (isMasked) {
      Shape shape = Shape.of(1, samples.flag() ? heads : 1, seq, keys);
      operands.add(samples.flag() ? samples.booleans(shape) : hiding(samples.floats(shape, 40)));
    }
    return new Case(op, operands, samples.oneIn(3));
  }

  /** Bytes, some of which are the extremes. */
  private Tensor bytes(Shape shape) {
    long[] all = new long[(int) shape.elements()];
    for (int i = 0; i < all.length; i++) {
      all[i] = samples.oneIn(6) ? samples.one(-128, 127) : samples.from(-128, 127);
    }
    return Tensor.ofLongs(new TensorType(ElementType.I8, shape), all);
  }

  /** Hides some keys, some by the lowest number. */
  private Tensor hiding(Tensor mask) {
    float[] all = mask.floats().clone();
    for (int i = 0; i < all.length; i++) {
      if (samples.oneIn(5)) {
        all[i] = samples.flag() ? Float.NEGATIVE_INFINITY : -Float.MAX_VALUE;
      }
    }
    return Tensor.of(mask.type(), all);
  }

  @Test
  void attends(Kernels kernels) {
    for (int round = 0; round < 80; round++) {
      Case drawn = draw();
      float[] expected = OpEvaluator.evaluate(drawn.op, drawn.operands).getFirst().floats();
      boolean turned = round % 2 == 1;
      String what = drawn + (turned ? ", values turned" : "");
      assertArrayEquals(expected, attention(drawn, turned, kernels::run).floats(), what);
      assertArrayEquals(
          expected, attention(drawn, turned, kernels::contracted).floats(), what + " contracted");
      int tile = WORD * samples.from(1, 4);
      assertArrayEquals(
          expected, streamed(drawn, tile, kernels::run).floats(), what + " by " + tile);
    }
  }

  /** All exponents up to one whose weight is 0, and some beyond; with hidden keys, and without. */
  @Test
  void weighsEachExponent(Kernels kernels) {
    int count = 40_000;
    for (boolean isHidden : List.of(false, true)) {
      long[] scores = LongStream.range(0, count).map(below -> 7 - below).toArray();
      if (isHidden) {
        scores[1] = Integer.MIN_VALUE;
      }
      long[] expected = new long[count];
      Arrays.setAll(expected, below -> IntegerAttention.weight(below, 1));
      expected[1] = isHidden ? 0 : expected[1];
      TensorType type = TensorType.of(ElementType.U8, 1, 1, count);
      KernelCall call =
          new KernelCall("partita_attention_weights_u8")
              .in(Tensor.ofLongs(TensorType.of(ElementType.I32, 1, 1, count), scores))
              .out(type)
              .i32(1, 1, count, count)
              .f32(1);
      assertArrayEquals(expected, kernels.run(call).getFirst().longs());
    }
  }

  private static Tensor attention(
      Case drawn, boolean turned, Function<KernelCall, List<Tensor>> kernels) {
    int row = Math.ceilDiv(drawn.keys(), WORD) * WORD;
    Tensor scores = kernels.apply(scores(drawn, 0, 0)).getFirst();
    Tensor weights = kernels.apply(weights(drawn, scores, row)).getFirst();
    KernelCall values =
        turned
            ? turned(drawn, weights, row, kernels)
            : values(drawn, weights, row, 0, drawn.keys(), null);
    return kernels.apply(values).getFirst();
  }

  /** All scores, from tiles of keys, and then the values in tiles. */
  private static Tensor streamed(Case drawn, int tile, Function<KernelCall, List<Tensor>> kernels) {
    int keys = drawn.keys();
    int row = Math.ceilDiv(keys, WORD) * WORD;
    long[] scores = new long[drawn.heads() * drawn.seq() * keys];
    for (int from = 0; from < keys; from += tile) {
      int count = Math.min(tile, keys - from);
      long[] part = kernels.apply(scores(part(drawn, from, count), from, keys)).getFirst().longs();
      for (int line = 0; line < scores.length; line += keys) {
        System.arraycopy(part, line, scores, line + from, count);
      }
    }
    TensorType type = TensorType.of(ElementType.I32, drawn.heads(), drawn.seq(), keys);
    Tensor weights = kernels.apply(weights(drawn, Tensor.ofLongs(type, scores), row)).getFirst();
    Tensor out = null;
    for (int from = 0; from < keys; from += tile) {
      Case part = part(drawn, from, Math.min(tile, keys - from));
      out = kernels.apply(values(part, weights, row, from, keys, out)).getFirst();
    }
    return out;
  }

  /** Returns the attention to some of the keys. */
  private static Case part(Case drawn, int from, int count) {
    List<Tensor> operands = new ArrayList<>(drawn.operands);
    for (int i = 1; i < operands.size(); i++) {
      operands.set(i, part(operands.get(i), i < 3 ? 2 : 3, from, count));
    }
    return new Case(drawn.op, operands, drawn.wide);
  }

  private static Tensor part(Tensor whole, int axis, int from, int count) {
    long[] sizes = whole.shape().extents();
    long[] starts = new long[sizes.length];
    long[] steps = new long[sizes.length];
    Arrays.fill(steps, 1);
    sizes[axis] = count;
    starts[axis] = from;
    Movement.Slice slice =
        new Movement.Slice(dims(starts), dims(sizes), LongStream.of(steps).boxed().toList());
    return OpEvaluator.evaluate(slice, List.of(whole)).getFirst();
  }

  private static List<Dim> dims(long[] values) {
    return LongStream.of(values).mapToObj(Dim::of).toList();
  }

  private static KernelCall weights(Case drawn, Tensor scores, int row) {
    return new KernelCall("partita_attention_weights_u8")
        .in(scores)
        .out(TensorType.of(ElementType.U8, drawn.heads(), drawn.seq(), row))
        .i32(drawn.heads(), drawn.seq(), drawn.keys(), row)
        .f32(IntegerAttention.unit(drawn.op.scale()));
  }

  private static TensorType out(Case drawn) {
    return TensorType.of(ElementType.F32, 1, drawn.heads(), drawn.seq(), drawn.extent(2, 3));
  }

  /**
   * @param from the first key
   * @param all the number of all keys
   * @param sums those of the keys before; null without any
   */
  private static KernelCall values(
      Case drawn, Tensor weights, int row, int from, int all, Tensor sums) {
    int keys = drawn.keys();
    int dv = drawn.extent(2, 3);
    KernelCall call =
        new KernelCall("partita_attention_values_i8").in(weights).in(drawn.operands.get(2));
    call = sums == null ? call.out(out(drawn)) : call.inOut(sums);
    return call.i32(drawn.heads(), drawn.group(), drawn.seq(), keys, dv, row)
        .i32((long) keys * dv, dv, (long) drawn.seq() * dv, dv)
        .i32(from, from + keys < all ? 1 : 0)
        .f32(drawn.op.valueScale());
  }

  private static KernelCall turned(
      Case drawn, Tensor weights, int row, Function<KernelCall, List<Tensor>> kernels) {
    int kvHeads = drawn.extent(2, 1);
    int keys = drawn.keys();
    int dv = drawn.extent(2, 3);
    int lines = Math.ceilDiv(dv, WORD) * WORD;
    Tensor turned =
        kernels
            .apply(
                new KernelCall("partita_attention_turn_i8")
                    .in(drawn.operands.get(2))
                    .out(TensorType.of(ElementType.I8, kvHeads, lines, row))
                    .i32(kvHeads, keys, dv, lines, row, (long) keys * dv, dv))
            .getFirst();
    return new KernelCall("partita_attention_turned_values_i8")
        .in(withLinesAfter(weights, row))
        .in(turned)
        .out(out(drawn))
        .i32(drawn.heads(), drawn.group(), drawn.seq(), keys, dv, lines, row)
        .i32((long) drawn.seq() * dv, dv)
        .f32(drawn.op.valueScale());
  }

  /** Adds three lines of the largest weight, which results don't depend on. */
  private static Tensor withLinesAfter(Tensor weights, int row) {
    int count = Math.toIntExact(weights.size());
    long[] all = Arrays.copyOf(weights.longs(), count + 3 * row);
    Arrays.fill(all, count, all.length, 255);
    return Tensor.ofLongs(TensorType.of(ElementType.U8, all.length), all);
  }

  /**
   * @param from the first key
   * @param row the distance of lines of scores; 0 if they are adjacent
   */
  private static KernelCall scores(Case drawn, int from, int row) {
    int keys = drawn.keys();
    int d = drawn.extent(0, 3);
    int queryRow = drawn.wide ? d + 3 : d;
    KernelCall call =
        new KernelCall("partita_attention_scores_i8")
            .in(spread(drawn.operands.getFirst(), queryRow))
            .in(drawn.operands.get(1));
    boolean isMasked = drawn.op.mask();
    boolean isChoice = isMasked && drawn.operands.get(3).element() == ElementType.BOOL;
    call = isChoice ? call.in(drawn.operands.get(3)) : call.absent();
    call = isMasked && !isChoice ? call.in(drawn.operands.get(3)) : call.absent();
    long maskHead = isMasked && drawn.extent(3, 1) > 1 ? (long) drawn.seq() * keys : 0;
    TensorType scores =
        TensorType.of(ElementType.I32, drawn.heads(), drawn.seq(), row == 0 ? keys : row);
    return call.out(scores)
        .i32(drawn.heads(), drawn.group(), drawn.seq(), keys, d)
        .i32((long) drawn.seq() * queryRow, queryRow, (long) keys * d, d)
        .i32(maskHead, isMasked ? keys : 0, isMasked ? 1 : 0)
        .i32(drawn.op.causal() ? 1 : 0, drawn.op.window(), drawn.op.offset().value() - from, row)
        .f32(IntegerAttention.inverse(drawn.op.scale()));
  }

  /** Leaves space after each row. */
  private static Tensor spread(Tensor x, int row) {
    int size = (int) x.shape().extent(3);
    long[] given = x.longs();
    long[] all = new long[given.length / size * row];
    for (int i = 0; i < given.length; i++) {
      all[i / size * row + i % size] = given[i];
    }
    return Tensor.ofLongs(TensorType.of(ElementType.I8, all.length), all);
  }
}
