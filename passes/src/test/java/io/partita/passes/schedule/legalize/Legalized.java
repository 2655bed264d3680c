package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/** A small graph before and after legalization. */
record Legalized(Graph before, Graph after) {
  static Legalized of(Function<GraphBuilder, Value> body) {
    return of(Long.MAX_VALUE, body);
  }

  /**
   * @param workingBytes the size of the working memory
   */
  static Legalized of(long workingBytes, Function<GraphBuilder, Value> body) {
    GraphBuilder builder = new GraphBuilder("test");
    builder.output("y", body.apply(builder));
    Graph graph = builder.finish();
    return new Legalized(
        graph, Legalization.legalize(new Module(graph), workingBytes, false).graph());
  }

  /** Returns the mnemonics of all nodes except constants, in order. */
  List<String> operations() {
    return after.nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .map(node -> node.op().mnemonic())
        .toList();
  }

  /**
   * Asserts that both graphs have equal bits; floats are small integers, so that sums are exact.
   */
  Legalized agrees() {
    Random random = new Random(5);
    List<Tensor> inputs =
        before.inputs().stream().map(input -> numbers(input.type(), random)).toList();
    List<Tensor> found = Evaluator.run(after, inputs);
    assertThat(found).isEqualTo(Evaluator.run(before, inputs));
    return this;
  }

  static Value constant(GraphBuilder graph, ElementType element, long... extents) {
    TensorType type = TensorType.of(element, extents);
    return graph.constant(numbers(type, new Random(type.hashCode())));
  }

  private static Tensor numbers(TensorType type, Random random) {
    double[] values = new double[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(16) - (type.element().minimum() < 0 ? 8 : 0);
    }
    return Tensor.ofDoubles(type, values);
  }
}
