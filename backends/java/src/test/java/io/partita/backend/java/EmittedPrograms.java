package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Compiles small programs and compares their results with the reference evaluator. */
final class EmittedPrograms implements AutoCloseable {
  private final ProgramCompiler compiler = ProgramCompiler.forRelease17();

  /** Returns a graph of one operation on inputs of the types. */
  static Graph graph(Op op, List<TensorType> operands) {
    GraphBuilder builder = new GraphBuilder("one operation");
    List<Value> inputs = new ArrayList<>();
    for (TensorType type : operands) {
      inputs.add(builder.input("x" + inputs.size(), type));
    }
    Node node = builder.at("/" + op.mnemonic()).addNode(op, inputs);
    node.results().forEach(result -> builder.output("y" + result.index(), result));
    return builder.finish();
  }

  List<Tensor> run(Graph graph, List<Tensor> inputs) {
    EmittedJava program =
        JavaBackend.emit(new Module(graph), new JavaOptions("emitted", "Program"));
    try (ProgramRunner runner = ProgramRunner.load(compiler, program)) {
      return runner.run(inputs);
    }
  }

  /**
   * Compares integers bit for bit, and floats with a tolerance relative to the largest value or 1.
   */
  void assertAgrees(Graph graph, List<Tensor> inputs, double tolerance) {
    List<Tensor> expected = Evaluator.run(graph, inputs);
    List<Tensor> found = run(graph, inputs);
    assertThat(found).hasSameSizeAs(expected);
    for (int i = 0; i < expected.size(); i++) {
      assertClose(expected.get(i), found.get(i), tolerance, graph.outputs().get(i).name());
    }
  }

  void assertAgrees(Op op, List<Tensor> inputs, double tolerance) {
    assertAgrees(graph(op, inputs.stream().map(Tensor::type).toList()), inputs, tolerance);
  }

  static void assertClose(Tensor expected, Tensor found, double tolerance, String what) {
    assertThat(found.type()).isEqualTo(expected.type());
    if (!expected.element().isFloat()) {
      assertThat(found.longs()).as(what).isEqualTo(expected.longs());
      return;
    }
    for (int i = 0; i < expected.size(); i++) {
      double want = expected.getDouble(i);
      double got = found.getDouble(i);
      boolean same = Double.compare(want, got) == 0 || want == got;
      double allowed = tolerance * Math.max(1, Math.abs(want));
      assertThat(same || Math.abs(want - got) <= allowed)
          .as("%s: element %s is %s, not %s", what, i, got, want)
          .isTrue();
    }
  }

  /** Returns numbers around zero; integers cover a large part of the range of a narrow type. */
  static Tensor random(Random random, TensorType type) {
    int count = (int) type.shape().elements();
    if (type.element().isFloat()) {
      return Tensor.ofDoubles(type, random.doubles(count, -3, 3).toArray());
    }
    long low = type.element().kind() == ElementType.Kind.SIGNED ? -100 : 0;
    return Tensor.ofLongs(type, random.longs(count, low, 200).toArray());
  }

  @Override
  public void close() {
    compiler.close();
  }
}
