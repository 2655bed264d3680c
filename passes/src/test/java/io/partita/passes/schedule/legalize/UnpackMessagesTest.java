package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Movement;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that messages have whole bytes per element. */
class UnpackMessagesTest {
  private static final Mesh MESH = Mesh.line("chips", 2);

  /** Rows of three elements, split over two devices and reversed on each. */
  private static Graph graph(ElementType element) {
    GraphBuilder builder = new GraphBuilder("messages");
    Value x = builder.input("x", TensorType.of(element, 6, 3));
    List<Dim> sizes = List.of(Dim.of(6), Dim.of(3));
    Movement.Slice backwards =
        new Movement.Slice(List.of(Dim.of(5), Dim.of(2)), sizes, List.of(-1L, -1L));
    builder.output("y", builder.add(backwards, x));
    return builder.finish();
  }

  private static Program program(Graph graph) {
    Value x = graph.inputs().getFirst();
    Layout split = Layout.replicated(MESH, 2).with(0, Split.even(MESH, 6, 1, List.of("chips")));
    return Localization.of(
        SyncInsertion.insert(LayoutPropagation.run(graph, MESH, Map.of(x, split)), List.of()), 1);
  }

  private static List<Exchange> exchanges(Program program) {
    return program.devices().stream()
        .map(Module::graph)
        .flatMap(each -> each.nodes().stream())
        .filter(node -> node.op() instanceof Exchange)
        .map(node -> (Exchange) node.op())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({"I4, I8", "U4, U8"})
  void fourBitElementsAreSentAsBytes(ElementType nibble, ElementType wide) {
    Graph graph = graph(nibble);
    Program legal = Legalization.legalize(program(graph), Long.MAX_VALUE, false);
    assertThat(exchanges(legal)).isNotEmpty().allSatisfy(each -> isOf(each, wide));
    long[] values = LongStream.range(0, 18).map(i -> i % 16 + nibble.minimum()).toArray();
    Tensor x = Tensor.ofLongs(graph.inputs().getFirst().type(), values);
    assertThat(new ProgramEvaluator(legal, 1).run(Map.of("x", x)).get("y"))
        .isEqualTo(Evaluator.run(graph, List.of(x)).getFirst());
  }

  private static void isOf(Exchange exchange, ElementType element) {
    assertThat(exchange.element()).isEqualTo(element);
    assertThat(exchange.steps())
        .isNotEmpty()
        .allMatch(step -> step.bytes() == step.slices().getFirst().size());
  }

  @Test
  void bytesAreSentUnchanged() {
    Program program = program(graph(ElementType.I8));
    Program legal = Legalization.legalize(program, Long.MAX_VALUE, false);
    assertThat(exchanges(legal)).isNotEmpty().isEqualTo(exchanges(program));
  }
}
