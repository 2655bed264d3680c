package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LayoutInferenceTest {
  private static final Mesh MESH = Mesh.of(new MeshAxis("x", 3), new MeshAxis("y", 2));

  private final GraphBuilder builder = new GraphBuilder("main");

  private Value input(String name, long... extents) {
    return builder.input(name, TensorType.of(ElementType.F32, extents));
  }

  private Value add(Value left, Value right) {
    return builder.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private static Layout rows(long extent) {
    return Layout.of(MESH, Split.even(MESH, extent, "x"), Split.NONE);
  }

  private static Layout columns(long extent) {
    return Layout.of(MESH, Split.NONE, Split.even(MESH, extent, "x"));
  }

  private Module module(Map<String, Layout> inputs) {
    return new Module(builder.finish(), List.of(), Optional.of(new Placement(MESH, inputs)));
  }

  @Test
  void productsOverSplitIndicesArePartial() {
    Value x = input("x", 4, 6);
    Value w = input("w", 6, 6);
    Value product = builder.add(new Structured.Linear(false, false), x, w);
    Value bias = builder.constant(Tensor.filled(TensorType.of(ElementType.F32, 6), 1));
    Value once =
        builder.add(
            new Communication.Reshard(
                Layout.replicated(MESH, 1).withPartial("x", ReductionKind.SUM)),
            bias);
    Value sum = add(product, once);
    Value whole =
        builder.add(
            Communication.Relayout.of(
                Layout.replicated(MESH, 2).withPartial("x", ReductionKind.SUM),
                Layout.replicated(MESH, 2)),
            sum);
    Value activated = builder.add(new Elementwise.Unary(UnaryFunction.EXP), whole);
    builder.output("y", activated);
    LayoutInference found = LayoutInference.of(module(Map.of("x", columns(6), "w", rows(6))));
    assertThat(found.layout(product)).hasToString("[*,*] partial(sum: x)");
    assertThat(found.layout(bias)).hasToString("[*]");
    assertThat(found.layout(sum)).hasToString("[*,*] partial(sum: x)");
    assertThat(found.layout(activated)).hasToString("[*,*]");
    assertThat(found.nodes()).hasSize(4).doesNotContainKey(whole.definition());
  }

  @Test
  void splitsPassThroughReshapesAndGroupsOfHeads() {
    Value q = input("q", 5, 24);
    Value heads = builder.add(new Movement.Reshape(Shape.of(1, 5, 6, 4)), q);
    Value queries = builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads);
    Value k = input("k", 1, 3, 5, 4);
    Value mixed =
        builder.add(
            new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, false), queries, k, k);
    builder.output("y", mixed);
    Split both = Split.even(MESH, 24, 4, List.of("x", "y"));
    Layout kv = Layout.replicated(MESH, 4).with(1, Split.even(MESH, 3, "x"));
    LayoutInference found =
        LayoutInference.of(module(Map.of("q", Layout.of(MESH, Split.NONE, both), "k", kv)));
    assertThat(found.layout(queries)).hasToString("[*,*{x,y},*,*]");
    assertThat(found.layout(mixed)).hasToString("[*,*{x,y},*,*]");
  }

  @Test
  void operandsWithOtherLayoutsAreDiagnosed() {
    builder.at("residual");
    builder.output("y", add(input("a", 4, 6), input("b", 4, 6)));
    Module module = module(Map.of("a", columns(6)));
    assertThatThrownBy(() -> LayoutInference.of(module))
        .hasMessage(
            """
            error P3409: an operation can't take an operand with this layout
              where:     node 0: add "residual"
              expected:  operand 1 "b" as f32[4,6{x}]
              found:     f32[4,6]
              fix:       add a sync of the operand to [*,*{x}]""");
  }

  @Test
  void allErrorsAreReportedOnce() {
    builder.at("soft");
    Value x = input("x", 4, 6);
    Value soft = builder.add(new Reduction.Softmax(1, false), x);
    builder.at("after");
    Value after = builder.add(new Elementwise.Unary(UnaryFunction.EXP), soft);
    builder.at("scaled");
    Value w = input("w", 6, 6);
    Value product = builder.add(new Structured.Linear(false, false), x, w);
    builder.output("y", builder.add(new Elementwise.Unary(UnaryFunction.EXP), product));
    builder.output("z", after);
    Module module = module(Map.of("x", columns(6), "w", rows(6)));
    assertThatThrownBy(() -> LayoutInference.of(module))
        .hasMessage(
            """
            error P3409: an operation can't take an operand with this layout
              where:     node 0: softmax "soft"
              expected:  operand 0 "x" as f32[4,6]
              found:     f32[4,6{x}]
              fix:       add a sync of the operand to [*,*]
            error P3409: an operation can't take an operand with this layout
              where:     node 3: exp "scaled"
              expected:  operand 0 "scaled" as f32[4,6]
              found:     f32[4,6] partial(sum: x)
              fix:       add a sync of the operand to [*,*]""");
  }

  @Test
  void impossibleSyncsAreDiagnosed() {
    builder.at("undo");
    Value x = input("x", 4, 6);
    builder.output("y", builder.add(new Communication.Reshard(Layout.replicated(MESH, 2)), x));
    builder.at("widen");
    builder.output("z", builder.add(new Communication.Reshard(columns(7)), x));
    builder.at("elsewhere");
    Layout other = Layout.replicated(Mesh.line("x", 3), 2);
    builder.output("w", builder.add(new Communication.Reshard(other), x));
    Layout varying = Layout.replicated(MESH, 2).withVarying(List.of("y"));
    Module module = module(Map.of("x", varying));
    assertThatThrownBy(() -> LayoutInference.of(module))
        .hasMessage(
            """
            error P3408: a layout can't be changed to another one
              where:     node 0: reshard "undo"
              expected:  a layout that f32[4,6] varying(y) can change to
              found:     f32[4,6]
              fix:       end the variation over y by settle
            error P3403: a layout doesn't fit the type
              where:     node 1: reshard "widen", dimension 1
              expected:  extent 7
              found:     f32[4,6]
            error P3401: a mesh is invalid
              where:     node 2: reshard "elsewhere"
              expected:  a layout on mesh(x=3, y=2)
              found:     mesh(x=3)""");
  }

  @Test
  void openDimensionsAreDiagnosed() {
    Value x = builder.input("x", new TensorType(ElementType.F32, Shape.of(Dim.symbol("seq"))));
    builder.output("y", builder.add(new Elementwise.Unary(UnaryFunction.EXP), x));
    Module module = module(Map.of());
    assertThatThrownBy(() -> LayoutInference.of(module))
        .hasMessage(
            """
            error P3407: a dimension must be a number before it is split over devices
              where:     input x
              expected:  numbers
              found:     f32[seq]
              fix:       bind the symbol: --dim seq=N""");
  }
}
