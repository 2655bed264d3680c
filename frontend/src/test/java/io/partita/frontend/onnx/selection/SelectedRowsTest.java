package io.partita.frontend.onnx.selection;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests rows that a mask selects, with masks of no, some and all rows. */
class SelectedRowsTest {
  private static final int TOKENS = 4;

  @TempDir Path folder;

  private static AttributeProto permutation() {
    return AttributeProto.newBuilder().setName("perm").addInts(1).addInts(0).build();
  }

  private static Tensor mask(Shape shape, long... values) {
    return Tensor.ofLongs(new TensorType(ElementType.BOOL, shape), values);
  }

  /** Two slots per token, as in a mixture of experts: a token is in a mask once. */
  private static ModelSketch expert(String operator, AttributeProto... how) {
    return new ModelSketch(18)
        .input("x", TensorType.of(ElementType.F32, TOKENS, 2))
        .input("mask", TensorType.of(ElementType.BOOL, 2, TOKENS))
        .input("weights", TensorType.of(ElementType.F32, TOKENS, 2))
        .initializer("zero", Tensor.longs(Shape.SCALAR, 0))
        .initializer("one", Tensor.longs(Shape.SCALAR, 1))
        .initializer("columns", Tensor.longs(Shape.of(1), 1))
        .initializer("two", Tensor.longs(Shape.SCALAR, 2))
        .initializer("flat", Tensor.longs(Shape.of(1), -1))
        .initializer("matrix", Tensor.floats(Shape.of(2, 2), 1, 2, 3, 4))
        .node("", "NonZero", List.of("mask"), "found")
        .node("", "Gather", List.of("found", "zero"), "slot")
        .node("", "Gather", List.of("found", "one"), "token")
        .node("", "Gather", List.of("x", "token"), "rows")
        .node("", "MatMul", List.of("rows", "matrix"), "product")
        .node("", "Mul", List.of("token", "two"), "first")
        .node("", "Add", List.of("first", "slot"), "place")
        .node("", "Reshape", List.of("weights", "flat"), "all_weights")
        .node("", "Gather", List.of("all_weights", "place"), "weight")
        .node("", "Unsqueeze", List.of("weight", "columns"), "column")
        .node("", "Mul", List.of("product", "column"), "updates")
        .node("", "Unsqueeze", List.of("token", "columns"), "index")
        .node("", "Shape", List.of("updates"), "extents")
        .node("", "Expand", List.of("index", "extents"), "indices")
        .node(
            "",
            operator,
            operator.equals("ScatterND")
                ? List.of("x", "index", "updates")
                : List.of("x", "indices", "updates"),
            "y",
            how)
        .output("y", TensorType.of(ElementType.F32, TOKENS, 2));
  }

  @ParameterizedTest
  @CsvSource({"ScatterElements,add", "ScatterND,add", "ScatterElements,none", "ScatterND,mul"})
  void rowsOfExpertsReturnToTheirTokens(String operator, String reduction) {
    ModelSketch sketch =
        operator.equals("ScatterND")
            ? expert(operator, text("reduction", reduction))
            : expert(operator, integer("axis", 0), text("reduction", reduction));
    assertThat(sketch.imported(folder).nodes())
        .noneMatch(node -> node.op() instanceof Movement.Gather)
        .noneMatch(node -> node.op() instanceof Movement.ScatterElements)
        .noneMatch(node -> node.op() instanceof Movement.ScatterNd);
    Tensor x = Tensor.floats(Shape.of(TOKENS, 2), 1, 0, 0, 1, 2, 0, 1, 1);
    Tensor weights = Tensor.floats(Shape.of(TOKENS, 2), 10, 100, 10, 100, 10, 100, 10, 100);
    long[][] masks = {{0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    for (long[] chosen : masks) {
      Tensor y = sketch.run(folder, x, mask(Shape.of(2, TOKENS), chosen), weights);
      for (int token = 0; token < TOKENS; token++) {
        double a = x.getDouble(2 * token);
        double b = x.getDouble(2 * token + 1);
        double[] expected = {a, b};
        for (int slot = 0; slot < 2; slot++) {
          if (chosen[slot * TOKENS + token] == 1) {
            double weight = slot == 0 ? 10 : 100;
            expected[0] = joined(reduction, expected[0], weight * (a + 3 * b));
            expected[1] = joined(reduction, expected[1], weight * (2 * a + 4 * b));
          }
        }
        assertThat(y.getDouble(2 * token)).isEqualTo(expected[0]);
        assertThat(y.getDouble(2 * token + 1)).isEqualTo(expected[1]);
      }
    }
  }

  private static double joined(String reduction, double before, double row) {
    return switch (reduction) {
      case "add" -> before + row;
      case "mul" -> before * row;
      default -> row;
    };
  }

  /** Tests computed positions: unselected rows are dropped. */
  @Test
  void rowsAtOtherPositions() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, TOKENS, 1))
            .input("mask", TensorType.of(ElementType.BOOL, TOKENS))
            .initializer("data", Tensor.filled(TensorType.of(ElementType.F32, 3, 1), 0))
            .initializer("three", Tensor.longs(Shape.SCALAR, 3))
            .initializer("flat", Tensor.longs(Shape.of(1), -1))
            .initializer("columns", Tensor.longs(Shape.of(1), 1))
            .node("", "NonZero", List.of("mask"), "found")
            .node("", "Reshape", List.of("found", "flat"), "token")
            .node("", "Gather", List.of("x", "token"), "rows")
            .node("", "Mod", List.of("token", "three"), "place")
            .node("", "Unsqueeze", List.of("place", "columns"), "index")
            .node(
                "",
                "ScatterElements",
                List.of("data", "index", "rows"),
                "y",
                text("reduction", "add"))
            .output("y", TensorType.of(ElementType.F32, 3, 1));
    Tensor x = Tensor.floats(Shape.of(TOKENS, 1), 1, 2, 4, 8);
    assertThat(sketch.run(folder, x, mask(Shape.of(TOKENS), 1, 0, 1, 1)).floats())
        .containsExactly(9, 0, 4);
    assertThat(sketch.run(folder, x, mask(Shape.of(TOKENS), 0, 0, 0, 0)).floats())
        .containsExactly(0, 0, 0);
  }

  /** Computes {@code x[mask] = x[mask] + 1} and the number of rows. */
  @Test
  void gathersElementsAndCountsThem() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, 2, 2))
            .input("mask", TensorType.of(ElementType.BOOL, 2, 2))
            .initializer("one", Tensor.longs(Shape.of(1), 1))
            .node("", "NonZero", List.of("mask"), "found")
            .node("", "Transpose", List.of("found"), "tuples", permutation())
            .node("", "GatherND", List.of("x", "tuples"), "rows")
            .node("", "Shape", List.of("rows"), "count")
            .node("", "Cast", List.of("count"), "number", integer("to", 1))
            .node("", "Add", List.of("rows", "number"), "more")
            .node("", "ScatterND", List.of("x", "tuples", "more"), "y")
            .output("y", TensorType.of(ElementType.F32, 2, 2));
    Tensor x = Tensor.floats(Shape.of(2, 2), 1, 2, 3, 4);
    assertThat(sketch.run(folder, x, mask(Shape.of(2, 2), 1, 0, 1, 1)).floats())
        .containsExactly(4, 2, 6, 7);
  }

  @Test
  void sumOfRows() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, TOKENS, 2))
            .input("mask", TensorType.of(ElementType.BOOL, TOKENS))
            .initializer("axes", Tensor.longs(Shape.of(1), 0))
            .node("", "Compress", List.of("x", "mask"), "rows", integer("axis", 0))
            .node("", "ReduceSum", List.of("rows", "axes"), "y", integer("keepdims", 0))
            .output("y", TensorType.of(ElementType.F32, 2));
    Tensor x = Tensor.floats(Shape.of(TOKENS, 2), 1, 10, 2, 20, 4, 40, 8, 80);
    assertThat(sketch.run(folder, x, mask(Shape.of(TOKENS), 0, 1, 0, 1)).floats())
        .containsExactly(10, 100);
  }

  @Test
  void knownMasksGiveKnownCoordinates() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, 3))
            .initializer("mask", Tensor.longs(Shape.of(3), 5, 0, -1))
            .initializer("flat", Tensor.longs(Shape.of(1), -1))
            .node("", "NonZero", List.of("mask"), "found")
            .node("", "Reshape", List.of("found", "flat"), "places")
            .node("", "Gather", List.of("x", "places"), "y")
            .output("y", TensorType.of(ElementType.F32, 2));
    assertThat(sketch.run(folder, Tensor.floats(Shape.of(3), 1, 2, 3)).floats())
        .containsExactly(1, 3);
  }

  @Test
  void dataDependentOutputExtentsAreRefused() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, 3))
            .node("", "NonZero", List.of("x"), "y")
            .output("y", TensorType.of(ElementType.I64, 1, 2));
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("output \"y\"")
        .hasMessageContaining("depends on data through a NonZero");
  }

  @Test
  void rowsInAnotherOrder() {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("x", TensorType.of(ElementType.F32, 3, 2))
            .input("mask", TensorType.of(ElementType.BOOL, 3))
            .initializer("zero", Tensor.longs(Shape.SCALAR, 0))
            .node("", "Compress", List.of("x", "mask"), "rows", integer("axis", 0))
            .node("", "Gather", List.of("rows", "zero"), "y")
            .output("y", TensorType.of(ElementType.F32, 2));
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("node \"Gather\" (gather)")
        .hasMessageContaining("a subset of the rows by index");
  }

  /** A traced loop over selected experts, with the result of the last one. */
  private static ModelSketch hitExperts(long... sizes) {
    ModelSketch sketch =
        new ModelSketch(18)
            .input("hits", TensorType.of(ElementType.F32, 3))
            .initializer("sizes", Tensor.longs(Shape.of(sizes.length), sizes))
            .initializer("flat", Tensor.longs(Shape.of(1), -1))
            .node("", "NonZero", List.of("hits"), "found")
            .node("", "Transpose", List.of("found"), "experts", permutation());
    List<String> parts = IntStream.range(0, sizes.length).mapToObj(i -> "part" + i).toList();
    NodeProto split =
        NodeProto.newBuilder()
            .setOpType("Split")
            .setName("split")
            .addAllInput(List.of("experts", "sizes"))
            .addAllOutput(parts)
            .build();
    return sketch
        .with(split)
        .node("", "Gather", List.of("hits", parts.getLast()), "last")
        .node("", "Reshape", List.of("last", "flat"), "y")
        .output("y", TensorType.of(ElementType.F32, 1));
  }

  @Test
  void countsOfAllElementsSelectAll() {
    assertThat(hitExperts(1, 1, 1).run(folder, Tensor.floats(Shape.of(3), 4, 5, 6)).floats())
        .containsExactly(6);
  }

  @Test
  void tracedCountsAreRefused() {
    assertThatThrownBy(() -> hitExperts(1, 1).imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("\"split\" (Split)")
        .hasMessageContaining("only if a NonZero finds exactly 2 of 3 elements")
        .hasMessageContaining("export the model again");
  }
}
