package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenTopKTest {
  @TempDir Path folder;

  /** Sorts all tokens by their selection, like mixtures of experts. */
  @Test
  void sortsAllElementsOfAnUnknownNumber() {
    int whole = TensorProto.DataType.INT64.getNumber();
    GraphProto.Builder model =
        GraphProto.newBuilder()
            .setName("g")
            .addInput(Models.value("x", whole, "tokens"))
            .addNode(Models.node("Shape", List.of("x"), "all"))
            .addNode(Models.node("TopK", List.of("x", "all"), "sorted", "order"))
            .addOutput(Models.value("sorted", whole, "tokens"));
    Path file = Models.write(folder, Models.model(model));
    Graph graph = new OnnxImporter(ImportOptions.NONE).importModel(OnnxModel.read(file)).graph();
    assertThat(graph.outputs().getFirst().value().type())
        .isEqualTo(new TensorType(ElementType.I64, Shape.of(Dim.symbol("tokens"))));
    Graph bound = DimensionBinding.bind(graph, Map.of("tokens", Dim.of(5)));
    assertThat(Evaluator.run(bound, List.of(Tensor.longs(Shape.of(5), 2, 9, 4, -1, 4))).getFirst())
        .isEqualTo(Tensor.longs(Shape.of(5), 9, 4, 4, 2, -1));
  }
}
