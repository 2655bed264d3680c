package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowsBehindWorkTest {
  private final GraphBuilder graph = new GraphBuilder("rows");
  private final Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 8));

  private Value rows() {
    Value index = graph.input("index", TensorType.of(ElementType.I64, 1));
    Value table = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 100, 8), 1));
    return graph.at("rows").add(new Movement.Gather(0), table, index);
  }

  private Value view(Value rows) {
    return graph.at("view").add(new Movement.Reshape(Shape.of(1, 8)), rows);
  }

  private Value product(String name, Value left) {
    Value weight = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 8, 8), 1));
    return graph.at(name).add(new Structured.Linear(false, false), left, weight);
  }

  private Value sum(Value left, Value right) {
    return graph.at("sum").add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private List<String> order() {
    return RowsBehindWork.order(Groups.of(graph.finish(), true)).stream()
        .map(group -> group.first().name())
        .toList();
  }

  @Test
  void rowsArriveDuringTheSecondProduct() {
    Value rows = rows();
    graph.output("y", sum(product("third", product("second", product("first", x))), rows));
    assertThat(order()).startsWith("first", "rows", "second");
  }

  @Test
  void viewsOfRowsStayBehindThem() {
    Value view = view(rows());
    graph.output("y", sum(product("third", product("second", product("first", x))), view));
    assertThat(order()).startsWith("first", "rows", "view", "second");
  }

  @Test
  void rowsThatAreReadSoonComeFirst() {
    Value rows = rows();
    graph.output("y", sum(product("first", x), rows));
    assertThat(order()).startsWith("rows");
  }

  @Test
  void noneIsMovedPastCommunication() {
    Value rows = rows();
    Value runs = graph.input("runs", TensorType.of(ElementType.BOOL));
    Value first = product("first", x);
    Value gated = graph.at("gate").add(new Communication.Gate(), first, runs);
    graph.output("y", sum(product("third", product("second", gated)), rows));
    assertThat(order()).startsWith("rows", "first", "gate");
  }
}
