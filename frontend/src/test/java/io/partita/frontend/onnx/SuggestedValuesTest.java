package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the suggestions for inputs that determine shapes can be imported. */
class SuggestedValuesTest {
  private static final int WHOLE = TensorProto.DataType.INT64.getNumber();

  @TempDir Path folder;

  private static GraphProto.Builder shaped(String operator, int rank) {
    return GraphProto.newBuilder()
        .setName("g")
        .addInput(Models.value("x", Models.FLOAT, 2, 3))
        .addInput(Models.value("shape", WHOLE, rank))
        .addNode(Models.node(operator, List.of("x", "shape"), "y"))
        .addOutput(Models.value("y", Models.FLOAT, "a", "b"));
  }

  private ImportResult examine(GraphProto.Builder graph, ImportOptions options) {
    Path file = Models.write(folder, Models.model(graph));
    return new OnnxImporter(options.choosingNumbers()).examine(OnnxModel.read(file));
  }

  private String remedy(GraphProto.Builder graph) {
    return examine(graph, ImportOptions.NONE).diagnostics().getFirst().remedy();
  }

  @Test
  void repetitionsAreOne() {
    assertThat(remedy(shaped("Tile", 2))).isEqualTo("add --bind shape=1,1, or other values");
  }

  @Test
  void oneExtentOfAShapeIsDerived() {
    assertThat(remedy(shaped("Reshape", 3))).isEqualTo("add --bind shape=-1,1,1, or other values");
    ImportOptions bound =
        ImportOptions.NONE.withValue("shape", Tensor.longs(Shape.of(3), -1, 1, 1));
    assertThat(examine(shaped("Reshape", 3), bound).module()).isPresent();
  }

  @Test
  void suggestionsFit() {
    GraphProto.Builder graph = shaped("Reshape", 2);
    graph
        .addInitializer(Models.floats("w", List.of(7L, 7L), new float[49]))
        .addNode(Models.node("MatMul", List.of("y", "w"), "z"))
        .addOutput(Models.value("z", Models.FLOAT, "a", 7));
    assertThat(remedy(graph)).isEqualTo("bind it: --bind shape=…");
  }
}
