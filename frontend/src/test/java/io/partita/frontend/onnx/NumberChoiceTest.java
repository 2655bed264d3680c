package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests numbers that an import chooses. */
class NumberChoiceTest {
  @TempDir Path folder;

  private ImportResult examine(GraphProto.Builder graph, ImportOptions options) {
    return new OnnxImporter(options)
        .examine(OnnxModel.read(Models.write(folder, Models.model(graph))));
  }

  private ImportResult examine(GraphProto.Builder graph) {
    return examine(graph, ImportOptions.NONE.choosingNumbers());
  }

  private static NodeProto.Builder node(String operator, List<String> inputs, String... outputs) {
    return Models.node(operator, inputs, outputs);
  }

  /** A model with {@code positions} patches of 4 by 4, or any number of them if it is 0. */
  private static GraphProto.Builder patches(int positions) {
    float[] table = new float[Math.max(1, positions)];
    GraphProto.Builder graph =
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("image", Models.FLOAT, "batch", "channels", "height", "width"))
            .addInitializer(Models.floats("w", List.of(1L, 1L, 4L, 4L), new float[16]))
            .addInitializer(Models.longs("shape", List.of(3L), 0L, 1L, -1L))
            .addInitializer(Models.floats("p", List.of(1L, 1L, (long) table.length), table));
    return graph
        .addNode(node("Conv", List.of("image", "w"), "conv").addAttribute(strides(4, 4)))
        .addNode(node("Reshape", List.of("conv", "shape"), "flat"))
        .addNode(node("Add", List.of("flat", "p"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "b", 1, "n"));
  }

  private static AttributeProto strides(long height, long width) {
    return AttributeProto.newBuilder()
        .setName("strides")
        .setType(AttributeProto.AttributeType.INTS)
        .addAllInts(List.of(height, width))
        .build();
  }

  private static List<String> chosen(ImportResult result) {
    return result.choices().stream().map(Choice::option).toList();
  }

  @Test
  void imagesHaveACommonSize() {
    ImportResult result = examine(patches(1));
    assertThat(chosen(result)).containsExactly("--dim height=224", "--dim width=224");
    assertThat(result.orThrow().graph().inputs().getFirst().type().shape().toString())
        .isEqualTo("[batch,1,224,224]");
  }

  @Test
  void imagesFitThePositions() {
    assertThat(chosen(examine(patches(64)))).containsExactly("--dim height=32", "--dim width=32");
    assertThat(chosen(examine(patches(81)))).containsExactly("--dim height=36", "--dim width=36");
  }

  /** Further conditions on the numbers. */
  @Test
  void sizesThatAreRefusedAreNotChosen() {
    ImportOptions below =
        ImportOptions.NONE.choosingNumbers(
            graph -> !graph.inputs().getFirst().type().dim(2).isAtLeast(300));
    assertThat(chosen(examine(patches(1), below)))
        .containsExactly("--dim height=224", "--dim width=224");
    ImportOptions above =
        ImportOptions.NONE.choosingNumbers(
            graph -> graph.inputs().getFirst().type().dim(2).isAtLeast(300));
    assertThat(chosen(examine(patches(1), above)))
        .containsExactly("--dim height=384", "--dim width=384");
    ImportOptions none = ImportOptions.NONE.choosingNumbers(graph -> false);
    assertThat(chosen(examine(patches(1), none)))
        .containsExactly("--dim height=224", "--dim width=224");
  }

  /**
   * A number padded with as many zeros as there are rows of 8 elements in all sequences, and as
   * many weights; padding needs static dimensions.
   */
  private static GraphProto.Builder padded(int weights) {
    return GraphProto.newBuilder()
        .setName("g")
        .addInput(Models.value("x", Models.FLOAT, "batch", "seq"))
        .addInitializer(Models.longs("shape", List.of(2L), -1L, 8L))
        .addInitializer(Models.longs("zero", List.of(1L), 0L))
        .addInitializer(Models.longs("one", List.of(1L), 1L))
        .addInitializer(Models.floats("c", List.of(1L), new float[1]))
        .addInitializer(Models.floats("w", List.of((long) weights), new float[weights]))
        .addNode(node("Reshape", List.of("x", "shape"), "cut"))
        .addNode(node("Shape", List.of("cut"), "sizes"))
        .addNode(node("Slice", List.of("sizes", "zero", "one"), "rows"))
        .addNode(
            node("Concat", List.of("zero", "rows"), "pads").addAttribute(Models.integer("axis", 0)))
        .addNode(node("Pad", List.of("c", "pads"), "line"))
        .addNode(node("Add", List.of("line", "w"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "n"));
  }

  /** A model like Nystromformer, whose length matters only for a static batch. */
  @Tag("thorough")
  @Test
  void lengthsFitWithABatch() {
    assertThat(chosen(examine(padded(9)))).containsExactly("--dim seq=64", "--dim batch=1");
    ImportResult none = examine(padded(5000));
    assertThat(none.module()).isEmpty();
    assertThat(none.choices().getFirst().reason())
        .isEqualTo("found by trials, because no common size fits the model");
  }

  @Test
  void givenNumbersHavePriority() {
    ImportOptions options =
        ImportOptions.NONE.choosingNumbers().withDim("height", 8).withDim("width", 16);
    ImportResult result = examine(patches(8), options);
    assertThat(result.module()).isPresent();
    assertThat(result.choices()).isEmpty();
  }

  @Test
  void nothingIsChosenIfNoSizeFits() {
    ImportOptions options = ImportOptions.NONE.choosingNumbers().withDim("height", 8);
    ImportResult result = examine(patches(7), options.withDim("width", 8));
    assertThat(result.module()).isEmpty();
    assertThat(result.diagnostics().getFirst().where()).isEqualTo("node \"the_Add\" (Add)");
  }

  @Test
  void nothingIsChosenUnlessAsked() {
    ImportResult result = examine(patches(1), ImportOptions.NONE);
    assertThat(result.diagnostics().getFirst().expected()).isEqualTo("a static spatial extent");
  }

  private static GraphProto.Builder branch(String operator, String input, String output) {
    return GraphProto.newBuilder()
        .setName(output)
        .addNode(
            operator.equals("Concat")
                ? node(operator, List.of("x", input), output)
                    .addAttribute(Models.integer("axis", 0))
                : node(operator, List.of(input), output))
        .addOutput(Models.value(output, Models.FLOAT, "n"));
  }

  /** Tests decoders without a past and with one. */
  private static GraphProto.Builder merged(boolean pastIsThen) {
    GraphProto past = branch("Concat", "past", "joined").build();
    GraphProto none = branch("Relu", "x", "alone").build();
    return GraphProto.newBuilder()
        .setName("g")
        .addInput(Models.value("x", Models.FLOAT, "n"))
        .addInput(Models.value("past", Models.FLOAT, "m"))
        .addInput(Models.value("use_cache", TensorProto.DataType.BOOL.getNumber(), 1))
        .addNode(
            node("If", List.of("use_cache"), "y")
                .addAttribute(Models.graph("then_branch", pastIsThen ? past : none))
                .addAttribute(Models.graph("else_branch", pastIsThen ? none : past)))
        .addOutput(Models.value("y", Models.FLOAT, "all"));
  }

  @Test
  void theBranchWithMoreInputsIsTaken() {
    assertThat(chosen(examine(merged(true)))).containsExactly("--bind use_cache=1");
    assertThat(chosen(examine(merged(false)))).containsExactly("--bind use_cache=0");
  }

  @Test
  void theRemedyForAConditionIsTheSame() {
    assertThat(examine(merged(false), ImportOptions.NONE).diagnostics().getFirst().remedy())
        .isEqualTo("add --bind use_cache=0, which selects the branch that uses more inputs");
  }
}
