package io.partita.backend.siracusa;

import io.partita.ir.arbitrary.NearTies;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Operations with sizes of small transformers. */
final class ChosenOperations {
  private final SplittableRandom random;
  private final List<OperationCase> cases = new ArrayList<>();

  /**
   * @param seed of the data
   */
  ChosenOperations(long seed) {
    random = new SplittableRandom(seed);
  }

  List<OperationCase> all() {
    products();
    elementwise();
    lines();
    movements();
    attentions();
    scatters();
    longLines();
    nearestCentroids();
    nibbleProducts();
    return cases;
  }

  /** Attention of bytes to thousands of keys, of which some are valid, or all. */
  static List<OperationCase> longCaches() {
    ChosenOperations operations = new ChosenOperations(8192);
    operations.integerAttention(1, 4, 2, 1, 2048, 64, 1501);
    operations.integerAttention(1, 2, 1, 1, 8192, 32, 8192);
    operations.integerAttention(1, 2, 2, 5, 2051, 64, 0);
    return operations.cases;
  }

  private Tensor floats(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-1, 1);
    }
    return Tensor.of(type, values);
  }

  private Tensor integers(ElementType element, long low, long high, long... extents) {
    TensorType type = TensorType.of(element, extents);
    long[] values = new long[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextLong(low, high + 1);
    }
    return Tensor.ofLongs(type, values);
  }

  private void add(Op op, Tensor... operands) {
    cases.add(new OperationCase(op, List.of(operands)));
  }

  /** Makes all operands except the first constants. */
  private void addWeighted(Op op, Tensor... operands) {
    cases.add(new OperationCase(op, List.of(operands), 1));
  }

  private void products() {
    for (boolean transposed : new boolean[] {false, true}) {
      Structured.Linear linear = new Structured.Linear(transposed, true);
      for (long rows : new long[] {1, 7}) {
        Tensor weight = transposed ? floats(54, 70) : floats(70, 54);
        addWeighted(linear, floats(1, rows, 70), weight, floats(54));
        add(new Structured.Linear(transposed, false), floats(3, rows, 70), weight);
      }
    }
    Contraction.MatMul product = new Contraction.MatMul(ElementType.F32);
    add(product, floats(2, 3, 9, 20), floats(2, 3, 20, 13));
    add(product, floats(2, 3, 9, 20), floats(3, 20, 13));
    add(product, floats(2, 3, 9, 20), floats(2, 1, 20, 13));
    add(product, floats(3, 9, 20), floats(2, 3, 20, 13));
    add(product, floats(9, 20), floats(2, 3, 20, 13));
    add(product, floats(2, 1, 9, 20), floats(2, 3, 20, 13));
    add(product, floats(2, 3, 1, 20), floats(3, 20, 5));
  }

  private void elementwise() {
    Elementwise.Binary sum = new Elementwise.Binary(BinaryFunction.ADD);
    add(sum, floats(12, 100), floats(12, 100));
    add(sum, floats(12, 100), floats(100));
    add(sum, floats(12, 100), floats(12, 1));
    add(sum, floats(3, 1, 50), floats(20, 1));
    add(sum, floats(3, 20, 50), floats());
    add(sum, integers(ElementType.I8, -99, 99, 700), integers(ElementType.I8, -99, 99, 1));
    add(
        new Elementwise.Select(),
        integers(ElementType.BOOL, 0, 1, 7, 1, 33),
        floats(40, 1),
        floats(7, 40, 33));
    add(new Elementwise.Unary(UnaryFunction.GELU), floats(5, 333));
    add(new Elementwise.Unary(UnaryFunction.SILU), floats(1999));
    add(new Elementwise.Cast(ElementType.I8), integers(ElementType.I32, -300, 300, 901));
    add(new Elementwise.Cast(ElementType.F32), integers(ElementType.I64, -300, 300, 3, 301));
  }

  private void lines() {
    add(new Reduction.Softmax(2, false), floats(4, 9, 100));
    add(new Reduction.Softmax(1, true), floats(4, 9, 100));
    add(new Reduction.Reduce(ReductionKind.SUM, List.of(1), true), floats(4, 9, 100));
    add(new Reduction.Reduce(ReductionKind.MEAN, List.of(0, 2), false), floats(4, 90, 30));
    add(new Reduction.ArgReduce(true, 2, false, false), floats(5, 4, 200));
    add(new Reduction.TopK(5, 0, true), floats(30, 50));
    add(
        new Structured.Norm(Structured.NormKind.LAYER, 2, 1e-5, true, true),
        floats(2, 9, 100),
        floats(100),
        floats(100));
    addWeighted(
        new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false),
        floats(1, 3, 96),
        floats(96));
  }

  private void movements() {
    add(new Movement.Transpose(List.of(1, 0)), floats(70, 50));
    add(new Movement.Transpose(List.of(2, 0, 1)), integers(ElementType.I8, -9, 9, 7, 11, 30));
    add(
        new Movement.Slice(
            List.of(Dim.of(1), Dim.of(40)), List.of(Dim.of(3), Dim.of(13)), List.of(2L, -3L)),
        floats(9, 41));
    add(
        new Movement.Slice(
            List.of(Dim.of(8), Dim.of(0)), List.of(Dim.of(9), Dim.of(21)), List.of(-1L, 2L)),
        floats(9, 41));
    add(
        new Movement.Pad(Movement.PadMode.CONSTANT, List.of(2L, 30L), List.of(0L, 5L)),
        floats(9, 41),
        floats());
    add(
        new Movement.Pad(Movement.PadMode.CONSTANT, List.of(-2L, 30L), List.of(40L, -5L)),
        floats(9, 41),
        floats());
    add(new Movement.Concat(1), floats(5, 10, 7), floats(5, 3, 7), floats(5, 30, 7));
    add(new Movement.Concat(0), floats(100), floats(200));
    add(new Movement.Gather(0), floats(13, 60), integers(ElementType.I64, -13, 12, 9));
    add(new Movement.Gather(1), floats(13, 60), integers(ElementType.I32, -60, 59, 2, 3));
    add(new Movement.Gather(1), floats(13, 60, 5), integers(ElementType.I64, -2, -2));
    addWeighted(new Movement.Broadcast(Shape.of(4, 60, 30)), floats(60, 1));
    for (boolean circular : new boolean[] {false, true}) {
      add(
          new Structured.CacheUpdate(2, circular),
          floats(1, 3, 40, 12),
          floats(1, 3, 5, 12),
          integers(ElementType.I64, circular ? 38 : 29, circular ? 38 : 29, 1));
    }
  }

  private void nearestCentroids() {
    for (int groups : new int[] {1, 4}) {
      NearTies drawn = new NearTies(groups, 2, 7, groups, 9, 301);
      add(new Contraction.NearestCentroid(groups), drawn.vectors(), drawn.centroids());
    }
  }

  /** Tests products of tokens of several sentences with matrices of several panels and groups. */
  private void nibbleProducts() {
    Contraction.NibbleMatMul product = new Contraction.NibbleMatMul();
    for (long rows : new long[] {1, 7}) {
      for (long group : new long[] {8, 64}) {
        addWeighted(
            product,
            integers(rows == 1 ? ElementType.I8 : ElementType.U8, 0, 127, 2, rows, 5 * group),
            integers(ElementType.U8, 0, 255, 3, 5, NibblePanels.bytes(group)),
            floats(3, 5, NibblePanels.COLUMNS));
      }
    }
  }

  /** Tests lines that are computed in parts because of small memories. */
  private void longLines() {
    for (boolean logarithm : new boolean[] {false, true}) {
      add(new Reduction.Softmax(1, logarithm), floats(2, 1403));
      add(new Reduction.Softmax(1, logarithm), floats(1, 503, 3));
    }
    add(
        new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
        floats(2, 3, 401),
        floats(3, 401),
        floats(3, 1));
    add(
        new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
        floats(2, 1403),
        floats(1403));
    for (ReductionKind kind : ReductionKind.values()) {
      add(new Reduction.Reduce(kind, List.of(0, 2), false), floats(40, 5, 53));
      add(new Reduction.Reduce(kind, List.of(1), true), integers(ElementType.I32, -9, 9, 2, 903));
    }
    for (boolean largest : new boolean[] {false, true}) {
      add(
          new Reduction.ArgReduce(largest, 1, false, largest),
          integers(ElementType.I32, -3, 3, 2, 1403));
      add(new Reduction.TopK(7, 1, largest), integers(ElementType.I16, -50, 50, 2, 1403));
      add(
          new Reduction.Cumulative(false, 1, largest, largest),
          integers(ElementType.I64, -50, 50, 2, 703));
    }
    add(new Movement.Gather(1), floats(2, 903, 3), integers(ElementType.I64, -903, 902, 7, 3));
    add(
        new Movement.GatherElements(1),
        floats(2, 1403),
        integers(ElementType.I32, -1403, 1402, 2, 40));
  }

  private void scatters() {
    add(
        new Movement.GatherElements(1),
        floats(2, 30, 9),
        integers(ElementType.I64, -30, 29, 2, 41, 9));
    add(
        new Movement.GatherElements(2),
        integers(ElementType.I8, -9, 9, 3, 4, 25),
        integers(ElementType.I32, 0, 24, 2, 4, 60));
    for (Combine reduction : Combine.values()) {
      add(
          new Movement.ScatterElements(1, reduction),
          floats(3, 30, 9),
          integers(ElementType.I64, -30, 29, 3, 41, 9),
          floats(3, 41, 9));
      add(
          new Movement.ScatterElements(0, reduction),
          integers(ElementType.I64, -9, 9, 30, 11),
          integers(ElementType.I32, 0, 29, 12, 7),
          integers(ElementType.I64, -9, 9, 12, 7));
      add(
          new Movement.ScatterNd(reduction),
          floats(7, 11, 6),
          integers(ElementType.I64, -7, 6, 5, 8, 2),
          floats(5, 8, 6));
      add(
          new Movement.ScatterNd(reduction),
          integers(ElementType.I16, -9, 9, 50, 9),
          integers(ElementType.I32, -50, 49, 20, 1),
          integers(ElementType.I16, -9, 9, 20, 9));
    }
  }

  private void attentions() {
    for (boolean interleaved : new boolean[] {false, true}) {
      add(
          new Structured.RotaryEmbedding(interleaved),
          floats(2, 3, 20, 16),
          floats(1, 20, 8),
          floats(1, 20, 8));
    }
    attention(1, 6, 2, 1, 40, 29, false, true);
    attention(1, 6, 2, 1, 40, 40, false, true);
    attention(1, 6, 2, 1, 40, 1, false, true);
    attention(1, 1, 1, 1, 100, 77, false, true);
    attention(1, 4, 4, 9, 40, 30, true, true);
    attention(2, 4, 2, 17, 25, 0, true, false);
    attention(1, 4, 2, 25, 25, 0, false, false);
    masked(2, 4, 2, 7, 30, TensorType.of(ElementType.BOOL, 2, 1, 7, 30));
    masked(2, 4, 2, 7, 30, TensorType.of(ElementType.F32, 2, 4, 7, 30));
    masked(2, 4, 1, 7, 30, TensorType.of(ElementType.F32, 4, 1, 30));
    masked(1, 4, 4, 7, 30, TensorType.of(ElementType.BOOL, 7, 30));
    integerAttention(1, 4, 2, 1, 129, 16, 126);
    integerAttention(1, 8, 8, 1, 40, 64, 0);
    integerAttention(2, 4, 2, 9, 21, 20, 0);
    integerAttention(2, 2, 1, 5, 31, 16, 28);
    streamedAttentions();
  }

  /** Those whose keys and values don't fit small L1. */
  private void streamedAttentions() {
    integerAttention(1, 4, 2, 1, 245, 12, 245);
    integerAttention(1, 4, 2, 1, 245, 12, 2);
    integerAttention(1, 6, 2, 3, 230, 13, 0);
    integerAttention(1, 2, 1, 33, 77, 16, 60);
    integerAttention(2, 2, 2, 5, 120, 15, 0);
  }

  private void integerAttention(
      long batch, long heads, long kvHeads, long seq, long keys, long size, long valid) {
    boolean hasLength = valid > 0;
    Structured.Attention attention =
        new Structured.Attention(
            0.001, 0, true, Dim.of(keys - seq), 0, !hasLength, hasLength, 0.25);
    if (hasLength) {
      attention = attention.withOffset(Dim.ZERO);
    }
    List<Tensor> operands =
        new ArrayList<>(
            List.of(
                integers(ElementType.I8, -128, 127, batch, heads, seq, size),
                integers(ElementType.I8, -128, 127, batch, kvHeads, keys, size),
                integers(ElementType.I8, -128, 127, batch, kvHeads, keys, size)));
    operands.add(
        hasLength ? integers(ElementType.I64, valid, valid, batch) : floats(batch, 1, seq, keys));
    cases.add(new OperationCase(attention, operands));
  }

  private void attention(
      long batch,
      long heads,
      long kvHeads,
      long seq,
      long keys,
      long valid,
      boolean causal,
      boolean hasLength) {
    Structured.Attention attention =
        new Structured.Attention(0.25, 0, causal, Dim.of(0), causal ? 9 : 0, false, hasLength);
    List<Tensor> operands =
        new ArrayList<>(
            List.of(
                floats(batch, heads, seq, 16),
                floats(batch, kvHeads, keys, 16),
                floats(batch, kvHeads, keys, 16)));
    if (hasLength) {
      operands.add(integers(ElementType.I64, valid, valid, batch));
    }
    cases.add(new OperationCase(attention, operands));
  }

  private void masked(long batch, long heads, long kvHeads, long seq, long keys, TensorType mask) {
    Structured.Attention attention =
        new Structured.Attention(0.25, 3, false, Dim.of(0), 0, true, false);
    long[] extents = mask.shape().extents();
    add(
        attention,
        floats(batch, heads, seq, 12),
        floats(batch, kvHeads, keys, 12),
        floats(batch, kvHeads, keys, 10),
        mask.element() == ElementType.BOOL
            ? integers(ElementType.BOOL, 0, 1, extents)
            : floats(extents));
  }
}
