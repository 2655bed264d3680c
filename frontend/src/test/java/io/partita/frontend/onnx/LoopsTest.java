package io.partita.frontend.onnx;

import static io.partita.frontend.onnx.ModelSketch.inner;
import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.subgraph;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.AttributeProto;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests unrolled loops and scans, and sequences in them. */
class LoopsTest {
  private static final TensorType ROW = TensorType.of(ElementType.F32, 2);

  @TempDir Path folder;

  private static ModelSketch sketch() {
    return new ModelSketch(18)
        .initializer("zero", Tensor.longs(Shape.SCALAR, 0))
        .initializer("one", Tensor.longs(Shape.SCALAR, 1))
        .initializer("three", Tensor.longs(Shape.SCALAR, 3))
        .initializer("yes", Tensor.scalar(ElementType.BOOL, 1));
  }

  /** A body that appends {@code x + iteration} to a sequence. */
  private static AttributeProto appending() {
    return subgraph(
        "body",
        List.of("turn", "before", "sequence"),
        List.of("goes_on", "longer"),
        inner("", "Identity", List.of("before"), "goes_on"),
        inner("", "CastLike", List.of("turn", "x"), "number"),
        inner("", "Add", List.of("x", "number"), "row"),
        inner("", "SequenceInsert", List.of("sequence", "row"), "longer"));
  }

  @Test
  void sequencesGrowInLoops() {
    Tensor y =
        sketch()
            .input("x", ROW)
            .node("", "SequenceEmpty", List.of(), "empty")
            .node("", "Loop", List.of("three", "", "empty"), "rows", appending())
            .node("", "ConcatFromSequence", List.of("rows"), "y", integer("axis", 1), newAxis())
            .output("y", TensorType.of(ElementType.F32, 2, 3))
            .run(folder, Tensor.floats(Shape.of(2), 10, 20));
    assertThat(y).isEqualTo(Tensor.floats(Shape.of(2, 3), 10, 11, 12, 20, 21, 22));
  }

  private static AttributeProto newAxis() {
    return integer("new_axis", 1);
  }

  /** Tests a loop without a trip count, whose condition compares the iteration. */
  @Test
  void loopWithACondition() {
    AttributeProto body =
        subgraph(
            "body",
            List.of("turn", "before", "sum"),
            List.of("goes_on", "more", "double"),
            inner("", "Less", List.of("turn", "three"), "goes_on"),
            inner("", "Add", List.of("sum", "x"), "more"),
            inner("", "Add", List.of("more", "more"), "double"));
    Tensor y =
        sketch()
            .input("x", ROW)
            .with(inner("", "Loop", List.of("", "yes", "x"), List.of("sum", "y"), body))
            .output("y", TensorType.of(ElementType.F32, 4, 2))
            .run(folder, Tensor.floats(Shape.of(2), 1, -1));
    assertThat(y).isEqualTo(Tensor.floats(Shape.of(4, 2), 4, -4, 6, -6, 8, -8, 10, -10));
  }

  @Test
  void computedLoopConditionsAreRefused() {
    AttributeProto body =
        subgraph(
            "body",
            List.of("turn", "before", "sum"),
            List.of("goes_on", "more"),
            inner("", "Add", List.of("sum", "sum"), "more"),
            inner("", "ReduceMax", List.of("more"), List.of("largest"), integer("keepdims", 0)),
            inner("", "Cast", List.of("largest"), List.of("goes_on"), integer("to", 9)));
    ModelSketch sketch =
        sketch()
            .input("x", ROW)
            .node("", "Loop", List.of("three", "", "x"), "y", body)
            .output("y", ROW);
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("a loop with a computed number of iterations");
  }

  /** A running sum over columns, from last to first, with results as rows. */
  private Tensor scanned(AttributeProto... attributes) {
    AttributeProto body =
        subgraph(
            "body",
            List.of("sum", "column"),
            List.of("next", "copy"),
            inner("", "Add", List.of("sum", "column"), "next"),
            inner("", "Identity", List.of("next"), "copy"));
    List<AttributeProto> all = new java.util.ArrayList<>(List.of(attributes));
    all.add(body);
    all.add(integer("num_scan_inputs", 1));
    return sketch()
        .input("start", ROW)
        .input("x", TensorType.of(ElementType.F32, 2, 3))
        .with(
            inner(
                "",
                "Scan",
                List.of("start", "x"),
                List.of("last", "y"),
                all.toArray(AttributeProto[]::new)))
        .output("y", TensorType.of(ElementType.F32, 3, 2))
        .run(
            folder,
            Tensor.floats(Shape.of(2), 100, 200),
            Tensor.floats(Shape.of(2, 3), 1, 2, 3, 4, 5, 6));
  }

  @Test
  void scanOverColumns() {
    assertThat(scanned(integers("scan_input_axes", 1)))
        .isEqualTo(Tensor.floats(Shape.of(3, 2), 101, 204, 103, 209, 106, 215));
  }

  @Test
  void reverseScan() {
    assertThat(
            scanned(
                integers("scan_input_axes", -1),
                integers("scan_input_directions", 1),
                integers("scan_output_directions", 1)))
        .isEqualTo(Tensor.floats(Shape.of(3, 2), 106, 215, 105, 211, 103, 206));
  }

  private static AttributeProto integers(String name, long... values) {
    AttributeProto.Builder attribute =
        AttributeProto.newBuilder().setName(name).setType(AttributeProto.AttributeType.INTS);
    for (long value : values) {
      attribute.addInts(value);
    }
    return attribute.build();
  }

  @Test
  void elementsOfASplitTensor() {
    ModelSketch sketch =
        sketch()
            .initializer("two", Tensor.longs(Shape.SCALAR, 2))
            .initializer("last", Tensor.longs(Shape.SCALAR, -1))
            .input("x", TensorType.of(ElementType.F32, 5))
            .node("", "SplitToSequence", List.of("x", "two"), "parts")
            .node("", "SequenceAt", List.of("parts", "last"), "rest")
            .node("", "SequenceErase", List.of("parts", "zero"), "fewer")
            .node("", "SequenceLength", List.of("fewer"), "length")
            .node("", "CastLike", List.of("length", "x"), "number")
            .node("", "Add", List.of("rest", "number"), "y")
            .output("y", TensorType.of(ElementType.F32, 1));
    assertThat(sketch.run(folder, Tensor.floats(Shape.of(5), 1, 2, 3, 4, 5)))
        .isEqualTo(Tensor.floats(Shape.of(1), 7));
  }

  @Test
  void optionalValues() {
    ModelSketch sketch =
        sketch()
            .input("x", ROW)
            .node("", "Optional", List.of("x"), "there")
            .node("", "OptionalHasElement", List.of("there"), "is_there")
            .node("", "OptionalHasElement", List.of(""), "is_missing")
            .node("", "OptionalGetElement", List.of("there"), "same")
            .node("", "Xor", List.of("is_there", "is_missing"), "differ")
            .node("", "CastLike", List.of("differ", "x"), "number")
            .node("", "Add", List.of("same", "number"), "y")
            .output("y", ROW);
    assertThat(sketch.run(folder, Tensor.floats(Shape.of(2), 1, 2)))
        .isEqualTo(Tensor.floats(Shape.of(2), 2, 3));
  }

  @Test
  void sequencesInsteadOfTensorsAreRefused() {
    ModelSketch sketch =
        sketch()
            .input("x", ROW)
            .node("", "SequenceConstruct", List.of("x", "x"), "both")
            .node("", "Add", List.of("both", "x"), "y")
            .output("y", ROW);
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("P2004")
        .hasMessageContaining("a tensor as operand 0")
        .hasMessageContaining("a sequence of 2 tensors");
  }

  @Test
  void sequenceOutputsAreRefused() {
    ModelSketch sketch =
        sketch()
            .input("x", ROW)
            .node("", "SequenceConstruct", List.of("x", "x"), "y")
            .output("y", ROW);
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("make each element an output");
  }
}
