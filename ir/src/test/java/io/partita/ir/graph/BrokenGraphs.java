package io.partita.ir.graph;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Invalid graphs, which builders can't create, for the verifier. */
public final class BrokenGraphs {
  private static final TensorType TYPE = TensorType.of(ElementType.F32, 2);
  private static final Elementwise.Unary EXP = new Elementwise.Unary(UnaryFunction.EXP);

  private BrokenGraphs() {}

  private static Graph graph(List<Value> inputs, List<Node> nodes, Value output) {
    return new Graph("broken", inputs, nodes, List.of(new Graph.Output("y", output)));
  }

  public static Graph withTwoInputsOfOneName() {
    Value x = Value.input("x", 0, TYPE);
    return graph(List.of(x, Value.input("x", 1, TYPE)), List.of(), x);
  }

  public static Graph withTwoOutputsOfOneName() {
    Value x = Value.input("x", 0, TYPE);
    Graph.Output output = new Graph.Output("y", x);
    return new Graph("broken", List.of(x), List.of(), List.of(output, output));
  }

  public static Graph inWrongOrder() {
    Value x = Value.input("x", 0, TYPE);
    Node first = new Node(EXP, List.of(x), List.of(TYPE), Origin.named("first"));
    Node second = new Node(EXP, first.results(), List.of(TYPE), Origin.named("second"));
    return graph(List.of(x), List.of(second, first), second.result());
  }

  public static Graph withDanglingOutput() {
    Value x = Value.input("x", 0, TYPE);
    return graph(List.of(x), List.of(), Value.input("elsewhere", 0, TYPE));
  }

  public static Graph withOneNodeTwice() {
    Value x = Value.input("x", 0, TYPE);
    Node node = new Node(EXP, List.of(x), List.of(TYPE), Origin.named("again"));
    return graph(List.of(x), List.of(node, node), node.result());
  }

  public static Graph withWrongResultType() {
    Value x = Value.input("x", 0, TYPE);
    Node node =
        new Node(EXP, List.of(x), List.of(TYPE.with(ElementType.F16)), Origin.named("half"));
    return graph(List.of(x), List.of(node), node.result());
  }

  public static Graph withOperandsThatDoNotFit() {
    Value x = Value.input("x", 0, TYPE);
    Elementwise.Binary add = new Elementwise.Binary(BinaryFunction.ADD);
    Node node = new Node(add, List.of(x), List.of(TYPE), Origin.named("lonely"));
    return graph(List.of(x), List.of(node), node.result());
  }

  public static Graph withNegativeExtent() {
    Value x = Value.input("x", 0, TensorType.of(ElementType.F32, -2));
    return graph(List.of(x), List.of(), x);
  }

  public static Graph withBlankSymbol() {
    Value x = Value.input("x", 0, new TensorType(ElementType.F32, Shape.of(Dim.symbol(" "))));
    return graph(List.of(x), List.of(), x);
  }

  public static Graph withManyViolations(int count) {
    Value x = Value.input("x", 0, TYPE);
    return graph(java.util.Collections.nCopies(count, x), List.of(), x);
  }
}
