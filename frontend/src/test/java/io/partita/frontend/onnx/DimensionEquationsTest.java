package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests constraints of declared extents of inputs. */
class DimensionEquationsTest {
  @TempDir Path folder;

  private ImportResult examine(GraphProto.Builder graph, ImportOptions options) {
    return new OnnxImporter(options)
        .examine(OnnxModel.read(Models.write(folder, Models.model(graph))));
  }

  private ImportResult examine(GraphProto.Builder graph) {
    return examine(graph, ImportOptions.NONE);
  }

  private static GraphProto.Builder graph() {
    return GraphProto.newBuilder().setName("g");
  }

  private static GraphProto.Builder floats(GraphProto.Builder graph, String name, Object... dims) {
    return graph.addInput(Models.value(name, Models.FLOAT, dims));
  }

  private static NodeProto.Builder node(String operator, List<String> inputs, String... outputs) {
    return Models.node(operator, inputs, outputs);
  }

  private static GraphProto.Builder sum(Object[] left, Object[] right) {
    GraphProto.Builder graph = floats(floats(graph(), "a", left), "b", right);
    return graph
        .addNode(node("Add", List.of("a", "b"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u", "v"));
  }

  private static Object[] dims(Object... dims) {
    return dims;
  }

  private static Map<String, String> inputs(ImportResult result) {
    Map<String, String> types = new TreeMap<>();
    Graph graph = result.orThrow().graph();
    for (Value input : graph.inputs()) {
      types.put(input.name(), input.type().shape().toString());
    }
    return types;
  }

  private static String derived(ImportResult result) {
    return String.join("; ", result.derived().stream().map(DerivedDimension::equation).toList());
  }

  @Test
  void minusOneIsAnyExtent() {
    GraphProto.Builder graph = floats(graph(), "a", -1, 3);
    graph
        .addNode(node("Relu", List.of("a"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, -1, 3));
    assertThat(inputs(examine(graph))).isEqualTo(Map.of("a", "[a_dim0,3]"));
  }

  @Test
  void laterSymbolsAreEliminated() {
    ImportResult result = examine(sum(dims("n", 4), dims("m", 4)));
    assertThat(inputs(result)).containsEntry("a", "[n,4]").containsEntry("b", "[n,4]");
    assertThat(result.derived())
        .containsExactly(new DerivedDimension("m", Dim.symbol("n"), "node \"the_Add\" (Add)", ""));
  }

  @Test
  void symbolsMayBeNumbers() {
    ImportResult result = examine(sum(dims("n", 4), dims(3, 4)));
    assertThat(derived(result)).isEqualTo("n = 3");
    assertThat(inputs(result)).containsEntry("a", "[3,4]");
  }

  @Test
  void broadcastsAreNotEquations() {
    ImportResult result = examine(sum(dims("n", 4), dims(1, 4)));
    assertThat(result.derived()).isEmpty();
    assertThat(inputs(result)).containsEntry("a", "[n,4]").containsEntry("b", "[1,4]");
  }

  @Test
  void symbolsBoundTo1Broadcast() {
    ImportResult result =
        examine(sum(dims("n", 4), dims(3, 4)), ImportOptions.NONE.withDim("n", 1));
    assertThat(result.derived()).isEmpty();
    assertThat(inputs(result)).containsEntry("a", "[1,4]").containsEntry("b", "[3,4]");
  }

  @Test
  void contradictoryNumbersAreReported() {
    ImportResult result = examine(sum(dims("n", 4), dims("n", 3)));
    assertThat(result.diagnostics())
        .singleElement()
        .extracting(Object::toString)
        .asString()
        .startsWith(
            """
            error P2005: the operands of the node are incompatible
              where:     node "the_Add" (Add)
              expected:  shapes that broadcast
              found:     [n,4] and [n,3]
            """);
  }

  @Test
  void symbolsHaveOneNumber() {
    GraphProto.Builder graph = floats(floats(floats(graph(), "a", "n"), "b", 3), "c", 5);
    graph
        .addNode(node("Add", List.of("a", "b"), "d"))
        .addNode(node("Mul", List.of("a", "c"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u"));
    ImportResult result = examine(graph);
    assertThat(result.diagnostics())
        .singleElement()
        .extracting(Object::toString)
        .asString()
        .contains("node \"the_Mul\" (Mul)", "[3] and [5]");
  }

  @Test
  void negativeExtentsAreRefused() {
    GraphProto.Builder graph = floats(floats(graph(), "a", "n", 2), "b", "n", 2);
    graph
        .addNode(node("Concat", List.of("a", "b"), "c").addAttribute(Models.integer("axis", 0)))
        .addNode(node("Add", List.of("a", "c"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u", "v"));
    ImportResult result = examine(graph);
    assertThat(result.diagnostics())
        .singleElement()
        .extracting(Object::toString)
        .asString()
        .contains("[n,2] and [2*n,2]");
  }

  /** New keys after past ones, and a mask for all of them. */
  private static GraphProto.Builder decoder(String mask, Object fresh) {
    GraphProto.Builder graph =
        floats(floats(floats(graph(), "mask", mask), "past", "past_length"), "x", fresh);
    return graph
        .addNode(
            node("Concat", List.of("past", "x"), "keys").addAttribute(Models.integer("axis", 0)))
        .addNode(node("Add", List.of("mask", "keys"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u"));
  }

  @Test
  void computedExtentsReplaceDeclaredExpressions() {
    ImportResult result = examine(decoder("past_length + 1", "seq"));
    assertThat(inputs(result))
        .containsEntry("mask", "[past_length+seq]")
        .containsEntry("past", "[past_length]")
        .containsEntry("x", "[seq]");
    assertThat(result.derived())
        .containsExactly(
            new DerivedDimension(
                "mask_dim0",
                Dim.symbol("past_length").plus(Dim.symbol("seq")),
                "node \"the_Add\" (Add)",
                "past_length+1"));
  }

  @Test
  void validDeclaredExpressionsStay() {
    ImportResult result = examine(decoder("past_length + 1", 1));
    assertThat(inputs(result)).containsEntry("mask", "[past_length+1]");
    assertThat(result.derived()).isEmpty();
  }

  @Test
  void unrelatedDeclaredExpressionsStay() {
    GraphProto.Builder graph = decoder("past_length + 1", 1);
    floats(floats(graph, "p", "n"), "q", "m");
    graph
        .addNode(node("Mul", List.of("p", "q"), "z"))
        .addOutput(Models.value("z", Models.FLOAT, "w"));
    ImportResult result = examine(graph);
    assertThat(inputs(result)).containsEntry("mask", "[past_length+1]");
    assertThat(derived(result)).endsWith("m = n");
  }

  @Test
  void slicesDetermineInvalidExpressions() {
    GraphProto.Builder graph = decoder("past_length + 1", "seq");
    graph
        .addInitializer(Models.longs("zero", List.of(1L), 0L))
        .addNode(node("Shape", List.of("keys"), "all"))
        .addNode(node("Slice", List.of("mask", "zero", "all"), "cut"))
        .setNode(1, node("Add", List.of("cut", "keys"), "y"));
    assertThat(inputs(examine(graph))).containsEntry("mask", "[past_length+seq]");
  }

  @Test
  void invalidExpressionsOfBoundNumbersAreReplaced() {
    ImportOptions options = ImportOptions.NONE.withDim("past_length", 4).withDim("seq", 3);
    ImportResult result = examine(decoder("past_length + 1", "seq"), options);
    assertThat(inputs(result)).containsEntry("mask", "[7]");
  }

  @Test
  void recordedShapesReplaceInvalidExpressions() {
    ImportOptions options =
        ImportOptions.NONE
            .withShape("mask", Shape.of(7))
            .withShape("past", Shape.of(4))
            .withShape("x", Shape.of(3));
    ImportResult result = examine(decoder("past_length + 1", "seq"), options);
    assertThat(inputs(result)).containsEntry("mask", "[7]").containsEntry("past", "[4]");
  }

  @Test
  void totalsAreSumsOfParts() {
    ImportResult result = examine(decoder("total", "seq"));
    assertThat(derived(result)).isEqualTo("total = past_length+seq");
  }

  @Test
  void innerExtentsOfAProductAreEqual() {
    GraphProto.Builder graph = floats(floats(graph(), "a", 2, "n"), "b", "m", 5);
    graph
        .addNode(node("MatMul", List.of("a", "b"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, 2, 5));
    assertThat(derived(examine(graph))).isEqualTo("m = n");
  }

  @Test
  void channelsAreThoseOfTheWeight() {
    GraphProto.Builder graph = floats(graph(), "image", "batch", "channels", 4, 4);
    graph
        .addInitializer(Models.floats("w", List.of(1L, 3L, 1L, 1L), 1, 2, 3))
        .addNode(node("Conv", List.of("image", "w"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u", 1, 4, 4));
    ImportResult result = examine(graph);
    assertThat(derived(result)).isEqualTo("channels = 3");
    assertThat(inputs(result)).containsEntry("image", "[batch,3,4,4]");
  }

  @Test
  void reshapesKeepTheNumberOfElements() {
    GraphProto.Builder graph = floats(floats(graph(), "a", "n", 6), "b", "m", 6);
    graph
        .addInitializer(Models.longs("last", List.of(1L), 3L))
        .addInitializer(Models.longs("two", List.of(1L), 2L))
        .addNode(
            node("Shape", List.of("b"), "rows")
                .addAttribute(Models.integer("start", 0))
                .addAttribute(Models.integer("end", 1)))
        .addNode(
            node("Concat", List.of("rows", "two", "last"), "shape")
                .addAttribute(Models.integer("axis", 0)))
        .addNode(node("Reshape", List.of("a", "shape"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "u", 2, 3));
    assertThat(derived(examine(graph))).isEqualTo("m = n");
  }

  @Test
  void outputsMayDetermineSymbols() {
    GraphProto.Builder graph =
        floats(floats(floats(graph(), "mask", "total"), "p", "past"), "x", "seq");
    graph
        .addNode(node("Concat", List.of("p", "x"), "keys").addAttribute(Models.integer("axis", 0)))
        .addNode(node("Relu", List.of("mask"), "y"))
        .addOutput(Models.value("keys", Models.FLOAT, "total"))
        .addOutput(Models.value("y", Models.FLOAT, "total"));
    ImportResult result = examine(graph);
    assertThat(result.derived())
        .containsExactly(
            new DerivedDimension(
                "total", Dim.symbol("past").plus(Dim.symbol("seq")), "output \"keys\"", ""));
  }

  @Test
  void evaluationFollowsTheEquations() {
    ImportResult result =
        examine(sum(dims("n", 2), dims("m", 2)), ImportOptions.NONE.withDim("n", 3));
    Tensor ones = Tensor.floats(Shape.of(3, 2), 1, 1, 1, 1, 1, 1);
    Tensor y =
        io.partita.ir.eval.Evaluator.run(result.orThrow().graph(), List.of(ones, ones)).getFirst();
    assertThat(y.type().toString()).isEqualTo("f32[3,2]");
  }
}
