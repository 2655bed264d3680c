package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.message.Step;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OwnPartsFirstTest {
  private static final int DEPTH = 6;
  private static final int COLUMNS = 5;

  /**
   * Two products of a gathered value; of the first one, a row of constants, a tensor that each
   * device holds and a function follow.
   */
  private static Module module(int devices, long batch, long tokens, Algorithm algorithm) {
    Mesh mesh = Mesh.line("x", devices);
    GraphBuilder graph = new GraphBuilder("gathered");
    Value x = graph.input("x", TensorType.of(ElementType.I32, batch, tokens, DEPTH));
    Value skip = graph.input("skip", TensorType.of(ElementType.I32, batch, tokens, COLUMNS));
    Layout split = Layout.of(mesh, Split.NONE, Split.even(mesh, tokens, "x"), Split.NONE);
    Layout whole = Layout.replicated(mesh, 3);
    Value gathered =
        graph.add(
            new Sync(
                new Resharding(split, whole).kinds(), whole, Optional.of(algorithm), Codec.EXACT),
            x);
    SplittableRandom random = new SplittableRandom(7);
    Value first = product(graph, gathered, random);
    Value bias = graph.constant(integers(TensorType.of(ElementType.I32, COLUMNS), random));
    first = graph.add(new Elementwise.Binary(BinaryFunction.MUL), first, bias);
    first = graph.add(new Elementwise.Binary(BinaryFunction.SUB), skip, first);
    graph.output("first", graph.add(new Elementwise.Unary(UnaryFunction.ABS), first));
    graph.output("second", product(graph, gathered, random));
    return new Module(
        graph.finish(),
        List.of(),
        Optional.of(new Placement(mesh, new TreeMap<>(Map.of("x", split, "skip", whole)))));
  }

  private static Value product(GraphBuilder graph, Value x, SplittableRandom random) {
    Value w = graph.constant(integers(TensorType.of(ElementType.I32, DEPTH, COLUMNS), random));
    return graph.add(new Contraction.MatMul(ElementType.I32), x, w);
  }

  private static Tensor integers(TensorType type, SplittableRandom random) {
    return Tensor.ofLongs(type, random.longs(type.shape().elements(), -9, 9).toArray());
  }

  private static List<String> steps(Program program, int device) {
    List<String> steps = new ArrayList<>();
    for (Node node : program.devices().get(device).graph().nodes()) {
      if (node.op() instanceof Exchange exchange) {
        boolean sends = exchange.steps().stream().anyMatch(step -> step instanceof Step.Send);
        boolean receives = exchange.steps().stream().anyMatch(step -> step instanceof Step.Receive);
        steps.add(sends && receives ? "both" : sends ? "send" : "receive");
      } else if (node.op() instanceof Contraction) {
        steps.add("" + node.result().type().dim(1));
      }
    }
    return steps;
  }

  @Test
  void ownRowsAreComputedBetweenSendsAndReceives() {
    Program program =
        DelayReceives.apply(Localization.of(module(3, 1, 60, new Algorithm.Direct()), 1), 1);
    assertThat(steps(program, 0)).containsExactly("send", "20", "receive", "40", "60");
    assertThat(steps(program, 1)).containsExactly("send", "20", "receive", "20", "20", "60");
    assertThat(steps(program, 2)).containsExactly("send", "20", "receive", "40", "60");
  }

  @Test
  void fewRowsStayTogether() {
    Program program =
        DelayReceives.apply(Localization.of(module(3, 1, 45, new Algorithm.Direct()), 1), 1);
    assertThat(steps(program, 1)).containsExactly("both", "45", "45");
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 33",
    "3, 1, 60",
    "3, 1, 67",
    "4, 1, 130",
    "5, 1, 81",
    "3, 2, 60",
    "2, 1, 31",
    "8, 1, 129"
  })
  void resultsAreThoseOfTheWhole(int devices, long batch, long tokens) {
    SplittableRandom random = new SplittableRandom(tokens);
    for (Algorithm algorithm :
        List.of(new Algorithm.Direct(), new Algorithm.Ring(), new Algorithm.Tree(2))) {
      Module module = module(devices, batch, tokens, algorithm);
      List<Tensor> inputs =
          module.graph().inputs().stream().map(in -> integers(in.type(), random)).toList();
      List<Tensor> expected = Evaluator.run(module.graph(), inputs);
      Program program = DelayReceives.apply(Localization.of(module, 1), 1);
      Map<String, Tensor> found =
          new ProgramEvaluator(program, 1).run(Map.of("x", inputs.get(0), "skip", inputs.get(1)));
      assertThat(found.get("first")).isEqualTo(expected.get(0));
      assertThat(found.get("second")).isEqualTo(expected.get(1));
    }
  }
}
