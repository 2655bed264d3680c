package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests diagnostics of models that can be read but not imported. */
class BadGraphTest {
  @TempDir Path folder;

  private ImportResult examine(ModelProto.Builder model, ImportOptions options) {
    return new OnnxImporter(options).examine(OnnxModel.read(Models.write(folder, model)));
  }

  private void assertImport(ModelProto.Builder model, ImportOptions options, String message) {
    assertThatThrownBy(() -> examine(model, options).orThrow())
        .isInstanceOf(PartitaException.class)
        .hasMessage(message.strip());
  }

  private void assertImport(GraphProto.Builder graph, String message) {
    assertImport(Models.model(graph), ImportOptions.NONE, message);
  }

  private static NodeProto.Builder node(String operator, List<String> inputs, String... outputs) {
    return Models.node(operator, inputs, outputs);
  }

  @Test
  void everyUnsupportedNodeAtOnce() {
    GraphProto.Builder graph =
        Models.graph()
            .addNode(node("Foo", List.of("x"), "a"))
            .addNode(node("Relu", List.of("a"), "b"))
            .addNode(node("Bar", List.of("b", "x"), "y"));
    ImportResult result = examine(Models.model(graph), ImportOptions.NONE);
    assertThat(result.unsupported())
        .containsExactly(
            new UnsupportedNode(
                "the_Foo",
                "Foo",
                "ai.onnx",
                17,
                List.of("f32[2]"),
                "the operator is not supported: ai.onnx.Foo of f32[2]"),
            new UnsupportedNode(
                "the_Bar",
                "Bar",
                "ai.onnx",
                17,
                List.of("?", "f32[2]"),
                "the operator is not supported: ai.onnx.Bar of ?, f32[2]"));
    assertThat(result.diagnostics().getFirst().toString())
        .isEqualTo(
            """
            error P2001: the operator is not supported
              where:     node "the_Foo" (Foo)
              expected:  a supported operator
              found:     ai.onnx.Foo of f32[2]
              fix:       export the model without it, or as a model-local function\
            """);
  }

  @Test
  void usersOfUnsupportedNodesWithDeclaredTypesAreChecked() {
    GraphProto.Builder graph =
        Models.graph()
            .addNode(node("Foo", List.of("x"), "a"))
            .addNode(node("Add", List.of("a", "x"), "y"))
            .addValueInfo(Models.value("a", Models.FLOAT, 3));
    assertThat(examine(Models.model(graph), ImportOptions.NONE).diagnostics())
        .extracting(diagnostic -> diagnostic.code().id())
        .containsExactly("P2001", "P2005");
  }

  @Test
  void missingOperatorSet() {
    ModelProto.Builder model =
        Models.model(Models.graph().addNode(node("Relu", List.of("x"), "y"))).clearOpsetImport();
    assertImport(
        model,
        ImportOptions.NONE,
        """
        error P2002: this version of the operator is not supported
          where:     node "the_Relu" (Relu)
          expected:  version 1 or later of ai.onnx
          found:     the model doesn't import ai.onnx
          fix:       export the model with a newer opset_version
        """);
  }

  @Test
  void operatorSetsOfTheFuture() {
    ModelProto.Builder model =
        Models.model(Models.graph().addNode(node("Relu", List.of("x"), "y")))
            .clearOpsetImport()
            .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("").setVersion(99));
    assertImport(
        model,
        ImportOptions.NONE,
        """
        error P2016: the operator set is not supported
          where:     the model
          expected:  a version from 1 to 28 of ai.onnx
          found:     version 99
          fix:       export the model with opset_version=28 or lower
        """);
  }

  @Test
  void unsupportedUse() {
    assertImport(
        Models.graph()
            .addNode(node("Constant", List.of(), "c").addAttribute(text("value_string", "a")))
            .addNode(node("Relu", List.of("x"), "y")),
        """
        error P2003: this use of the operator is not supported
          where:     node "the_Constant" (Constant)
          found:     strings
          fix:       remove them from the model
        """);
  }

  @Test
  void unnamedLayout() {
    ModelProto.Builder model =
        Models.model(
            Models.graph()
                .addNode(node("Conv", List.of("x"), "y").setDomain("com.microsoft.nchwc")));
    model.addOpsetImportBuilder().setDomain("com.microsoft.nchwc").setVersion(1);
    assertImport(
        model,
        ImportOptions.NONE,
        """
        error P2003: this use of the operator is not supported
          where:     node "the_Conv" (Conv)
          found:     a layout in blocks of channels for a processor that the file does not name
          fix:       optimise with ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL, or use the model before optimisation
        """);
  }

  private static ai.onnx.proto.OnnxMl.AttributeProto text(String name, String value) {
    return ai.onnx.proto.OnnxMl.AttributeProto.newBuilder()
        .setName(name)
        .setS(com.google.protobuf.ByteString.copyFromUtf8(value))
        .build();
  }

  @Test
  void invalidNode() {
    assertImport(
        Models.graph()
            .addNode(node("Softmax", List.of("x"), "y").addAttribute(Models.integer("axis", 5))),
        """
        error P2004: the node violates its operator's definition
          where:     node "the_Softmax" (Softmax)
          expected:  an axis from -1 to 0
          found:     5
          fix:       check the node, or export it again
        """);
    assertImport(
        Models.graph().addNode(node("Add", List.of("x"), "y")),
        """
        error P2004: the node violates its operator's definition
          where:     node "the_Add" (Add)
          expected:  operand 1
          found:     none
          fix:       check the node, or export it again
        """);
  }

  @Test
  void mismatchedOperands() {
    assertImport(
        Models.graph()
            .addInput(Models.value("z", Models.FLOAT, 3))
            .addNode(node("Add", List.of("x", "z"), "y")),
        """
        error P2005: the operands of the node are incompatible
          where:     node "the_Add" (Add)
          expected:  shapes that broadcast
          found:     [2] and [3]
          fix:       check the node, or export it again
        """);
  }

  @Test
  void overflowingShape() {
    assertImport(
        Models.graph()
            .addInitializer(Models.longs("s", List.of(3L), 1L << 31, 1L << 31, 2L))
            .addNode(node("Expand", List.of("x", "s"), "y")),
        """
        error P2005: the operands of the node are incompatible
          where:     node "the_Expand" (Expand)
          expected:  a result of fewer than 2^60 elements
          found:     f32[2147483648,2147483648,2]
          fix:       check the node, or export it again
        """);
  }

  @Test
  void contradictorySymbols() {
    GraphProto.Builder graph =
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("a", Models.FLOAT, "n", 2))
            .addOutput(Models.value("y", Models.FLOAT, "n", 2))
            .addNode(node("Concat", List.of("a", "a"), "b").addAttribute(Models.integer("axis", 0)))
            .addNode(node("Add", List.of("a", "b"), "y"));
    assertImport(
        graph,
        """
        error P2005: the operands of the node are incompatible
          where:     node "the_Add" (Add)
          expected:  shapes that broadcast
          found:     [n,2] and [2*n,2]
          fix:       bind the dimensions: --dim n=N
        """);
    ImportOptions bound = ImportOptions.NONE.withDim("n", 1);
    assertThat(examine(Models.model(graph), bound).module()).isPresent();
  }

  private static GraphProto.Builder reshapeByInput() {
    return Models.graph()
        .addInput(Models.value("shape", Models.INT64, 1))
        .addNode(node("Reshape", List.of("x", "shape"), "y"));
  }

  @Test
  void shapeOfAnInputValue() {
    assertImport(
        reshapeByInput(),
        """
        error P2006: a value must be known at compile time
          where:     node "the_Reshape" (Reshape)
          expected:  a known value for operand 1 (shape)
          found:     it depends on the value of shape
          fix:       bind it: --bind shape=…
        """);
    Tensor two = Tensor.longs(Shape.of(1), 2);
    ImportResult bound =
        examine(Models.model(reshapeByInput()), ImportOptions.NONE.withValue("shape", two));
    assertThat(bound.module().orElseThrow().graph().inputs()).hasSize(1);
    ImportOptions recorded =
        ImportOptions.NONE.bindShapeInputs(
            input -> input.equals("shape") ? Optional.of(two) : Optional.empty());
    ImportResult found = examine(Models.model(reshapeByInput()), recorded);
    assertThat(found.constantInputs()).containsExactly("shape");
    assertThat(found.module()).isPresent();
  }

  @Test
  void cycle() {
    assertImport(
        Models.graph()
            .addNode(node("Add", List.of("x", "b"), "a"))
            .addNode(node("Relu", List.of("a"), "b"))
            .addNode(node("Neg", List.of("x"), "y")),
        """
        error P2007: the graph has a cycle
          where:     node "the_Relu" (Relu)
          expected:  nodes that don't depend on themselves
          found:     a cycle of 2 nodes: "the_Relu" (Relu) -> "the_Add" (Add)
          fix:       export the model again: ONNX graphs have no cycles
        """);
  }

  @Test
  void duplicateNames() {
    assertImport(
        Models.graph()
            .addNode(node("Relu", List.of("x"), "y"))
            .addNode(node("Neg", List.of("x"), "y")),
        """
        error P2008: a name is used twice
          where:     node "the_Neg" (Neg)
          expected:  a unique name for each output
          found:     "y", also the name of an output of node "the_Relu" (Relu)
          fix:       rename one of them
        """);
    assertImport(
        Models.graph()
            .addInitializer(Models.floats("w", List.of(1L), 1))
            .addInitializer(Models.floats("w", List.of(1L), 1))
            .addNode(node("Add", List.of("x", "w"), "y")),
        """
        error P2008: a name is used twice
          where:     initializer "w"
          expected:  unique initializer names
          found:     two
          fix:       rename one of them
        """);
  }

  @Test
  void undefinedValue() {
    assertImport(
        Models.graph().addNode(node("Add", List.of("x", "nowhere"), "y")),
        """
        error P2009: an undefined value is used
          where:     node "the_Add" (Add)
          expected:  a value of an input, an initializer or a node
          found:     "nowhere"
          fix:       export the model again: a part of it is missing
        """);
  }

  @Test
  void bindingsOfUnknownNames() {
    GraphProto.Builder graph =
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("x", Models.FLOAT, "batch", "seq"))
            .addOutput(Models.value("y", Models.FLOAT, "batch", "seq"))
            .addNode(node("Relu", List.of("x"), "y"));
    assertImport(
        Models.model(graph),
        ImportOptions.NONE.withDim("len", 3),
        """
        error P2010: the model has no such dimension
          where:     --dim len=3
          expected:  a dimension of the model's inputs
          found:     len
          fix:       leave --dim len=3 out; the model's dimensions are batch, seq
        """);
    assertImport(
        Models.model(graph),
        ImportOptions.NONE.withDim("Bach", 3),
        """
        error P2010: the model has no such dimension
          where:     --dim Bach=3
          expected:  a dimension of the model's inputs
          found:     Bach
          fix:       write --dim batch=3 in place of --dim Bach=3; the model's dimensions are batch, seq
        """);
    assertImport(
        Models.model(graph),
        ImportOptions.NONE.withValue("z", Tensor.longs(Shape.of(1), 2)),
        """
        error P2011: the model has no such input
          where:     --bind z
          expected:  an input of the model
          found:     z
          fix:       its inputs are x
        """);
  }

  @Test
  void inputsOfUnsupportedTypes() {
    assertImport(
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("x", Models.FLOAT, -3))
            .addOutput(Models.value("y", Models.FLOAT, 2))
            .addNode(node("Relu", List.of("x"), "y")),
        """
        error P2012: the type of a graph input is not supported
          where:     input "x"
          expected:  extents of 0 or more
          found:     -3
          fix:       name dynamic dimensions instead of giving them negative extents
        """);
    assertImport(
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("x", Models.FLOAT, 1L << 40, 1L << 40))
            .addOutput(Models.value("y", Models.FLOAT, 2))
            .addNode(node("Relu", List.of("x"), "y")),
        """
        error P2012: the type of a graph input is not supported
          where:     input "x"
          expected:  fewer than 2^60 elements
          found:     [1099511627776,1099511627776]
          fix:       bind smaller dimensions
        """);
  }

  @Test
  void mismatchedBindings() {
    assertImport(
        Models.model(reshapeByInput()),
        ImportOptions.NONE.withValue("shape", Tensor.longs(Shape.of(2), 1, 2)),
        """
        error P2013: a bound value doesn't fit its input
          where:     input "shape"
          expected:  a shape that fits [1]
          found:     [2]
          fix:       bind a value of the declared shape
        """);
  }

  private static FunctionProto.Builder function(String name, NodeProto.Builder... body) {
    FunctionProto.Builder function =
        FunctionProto.newBuilder().setDomain("own").setName(name).addInput("a").addOutput("b");
    for (NodeProto.Builder node : body) {
      function.addNode(node);
    }
    return function;
  }

  @Test
  void recursiveFunction() {
    ModelProto.Builder model =
        Models.model(Models.graph().addNode(node("F", List.of("x"), "y").setDomain("own")))
            .addFunctions(function("F", node("F", List.of("a"), "b").setDomain("own")));
    assertImport(
        model,
        ImportOptions.NONE,
        """
        error P2014: a model-local function calls itself
          where:     node "the_F/the_F" (F)
          expected:  functions without recursion, nested at most 64 deep
          found:     own.F -> own.F
          fix:       export the model with its functions inlined
        """);
  }

  /** Functions that each call the next one ten times, which makes 10^12 nodes in a kilobyte. */
  @Tag("thorough")
  @Test
  void exponentialFunctions() {
    ModelProto.Builder model =
        Models.model(Models.graph().addNode(node("F0", List.of("x"), "y").setDomain("own")));
    for (int depth = 0; depth < 12; depth++) {
      NodeProto.Builder[] calls = new NodeProto.Builder[10];
      for (int i = 0; i < calls.length; i++) {
        String from = i == 0 ? "a" : "v" + i;
        String to = i == calls.length - 1 ? "b" : "v" + (i + 1);
        calls[i] =
            node(depth == 11 ? "Relu" : "F" + (depth + 1), List.of(from), to)
                .setDomain(depth == 11 ? "" : "own");
      }
      model.addFunctions(function("F" + depth, calls));
    }
    assertThat(examine(model, ImportOptions.NONE).diagnostics())
        .extracting(diagnostic -> diagnostic.code().id())
        .containsExactly("P2015");
  }

  @Test
  void tooManyDiagnostics() {
    GraphProto.Builder graph = Models.graph();
    for (int i = 0; i < 60; i++) {
      graph.addNode(node("Foo", List.of("x"), i == 0 ? "y" : "y" + i));
    }
    assertThatThrownBy(() -> examine(Models.model(graph), ImportOptions.NONE).orThrow())
        .hasMessageEndingWith(
            """
            note P2017: more diagnostics were omitted
              found:     10 more like these
              fix:       partita inspect lists every unsupported node\
            """);
  }

  @Test
  void nodesInAnyOrder() {
    GraphProto.Builder graph =
        Models.graph()
            .addNode(node("Relu", List.of("a"), "y"))
            .addNode(node("Neg", List.of("x"), "a"));
    assertThat(examine(Models.model(graph), ImportOptions.NONE).module()).isPresent();
  }

  @Tag("thorough")
  @Test
  void chainOfAHundredThousandNodes() {
    GraphProto.Builder graph = Models.graph();
    for (int i = 0; i < 100_000; i++) {
      graph.addNode(
          node("Relu", List.of(i == 0 ? "x" : "v" + i), i == 99_999 ? "y" : "v" + (i + 1)));
    }
    ImportResult result = examine(Models.model(graph), ImportOptions.NONE);
    assertThat(result.module().orElseThrow().graph().nodes()).hasSize(100_000);
  }
}
