package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Quantized;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests what devices exchange around a norm of which each computes some tokens or columns. */
class NormStrategyTest {
  private static final int TOKENS = 8;
  private static final int FEATURES = 16;

  private final SplittableRandom random = new SplittableRandom(7);
  private final GraphBuilder graph = new GraphBuilder("network");

  /**
   * Tests that a product of few bytes gathers them: each of four devices then receives {@code 8 * 8
   * * 3 / 4} of them and {@code 8 * 16 * 4 * 3 / 16} bytes of its tokens' sums, in place of {@code
   * 8 * 16 * 4 * 3 / 4} bytes of terms.
   */
  @Test
  void aProductOfFewBytesGathersThem() {
    assertThat(exchanges(8, "tensor=4,norm=tokens"))
        .containsExactly(SyncKind.ALL_GATHER, SyncKind.ALL_GATHER, SyncKind.ALL_TO_ALL);
  }

  @Test
  void aProductOfManyBytesScattersItsSums() {
    assertThat(exchanges(32, "tensor=4,norm=tokens"))
        .containsExactly(SyncKind.ALL_GATHER, SyncKind.REDUCE_SCATTER);
  }

  /** Two devices would each receive 160 bytes in two exchanges, in place of 256 in one. */
  @Test
  void anotherExchangeMustHalveTheBytes() {
    assertThat(exchanges(8, "tensor=2,norm=tokens"))
        .containsExactly(SyncKind.ALL_GATHER, SyncKind.REDUCE_SCATTER);
  }

  /** The operand of the second product, and the result with what is added to it. */
  @Test
  void columnsTakeNoSums() {
    assertThat(exchanges(32, "tensor=4,norm=columns"))
        .containsExactly(SyncKind.ALL_GATHER, SyncKind.ALL_GATHER);
  }

  /** Returns the exchanges of a network of bytes, whose result must be the same on devices. */
  private List<SyncKind> exchanges(int hidden, String strategy) {
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, TOKENS, FEATURES));
    Value first = scaled(product(quantized(x, 0.02f), FEATURES, hidden), hidden);
    Value second = scaled(product(quantized(first, 0.3f), hidden, FEATURES), FEATURES);
    graph.output("y", graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, second));
    Module module = new Module(graph.finish());
    Module sharded = new ShardPass(Strategy.parse(strategy)).run(module);
    float[] values = new float[TOKENS * FEATURES];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-2, 2);
    }
    List<Tensor> inputs = List.of(Tensor.floats(Shape.of(1, TOKENS, FEATURES), values));
    assertThat(MeshEvaluator.run(sharded, inputs)).isEqualTo(Evaluator.run(module.graph(), inputs));
    return sharded.graph().nodes().stream()
        .filter(node -> node.op() instanceof Sync)
        .flatMap(node -> ((Sync) node.op()).kinds().values().stream())
        .toList();
  }

  private Value quantized(Value value, float scale) {
    return graph.add(
        new Quantized.Quantize(0, 0, ElementType.I8),
        value,
        graph.constant(Tensor.scalar(ElementType.F32, scale)),
        graph.constant(Tensor.scalar(ElementType.I8, 0)));
  }

  /** A product with a weight of random bytes, and a bias. */
  private Value product(Value bytes, int inner, int columns) {
    Value weight = graph.constant(integers(ElementType.I8, -128, 128, new long[] {inner, columns}));
    Value bias = graph.constant(integers(ElementType.I32, -999, 999, new long[] {columns}));
    Value sums = graph.add(new Contraction.MatMul(ElementType.I32), bytes, weight);
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), sums, bias);
  }

  private Value scaled(Value sums, int columns) {
    float[] scales = new float[columns];
    for (int i = 0; i < columns; i++) {
      scales[i] = (float) random.nextDouble(1e-3, 2e-3);
    }
    return graph.add(
        new Elementwise.Binary(BinaryFunction.MUL),
        graph.add(new Elementwise.Cast(ElementType.F32), sums),
        graph.constant(Tensor.floats(Shape.of(columns), scales)));
  }

  private Tensor integers(ElementType element, int low, int high, long[] extents) {
    TensorType type = TensorType.of(element, extents);
    long[] values = new long[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(low, high);
    }
    return Tensor.ofLongs(type, values);
  }
}
