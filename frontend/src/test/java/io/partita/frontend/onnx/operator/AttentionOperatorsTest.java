package io.partita.frontend.onnx.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AttentionOperatorsTest {
  private static final TensorType ONE = TensorType.of(ElementType.F32, 1, 1, 1, 1);
  private static final TensorType TWO = TensorType.of(ElementType.F32, 1, 1, 2, 1);

  @TempDir Path folder;

  /** One query that prefers neither of two keys, whose values are 1 and 3. */
  private double attended(int opset) {
    return new ModelSketch(opset)
        .input("q", ONE)
        .input("k", TWO)
        .input("v", TWO)
        .initializer(
            "mask", Tensor.ofDoubles(TensorType.of(ElementType.BOOL, 1, 1), new double[] {1}))
        .node("", "Attention", List.of("q", "k", "v", "mask"), "y")
        .output("y", ONE)
        .run(
            folder,
            Tensor.floats(Shape.of(1, 1, 1, 1), 0),
            Tensor.floats(Shape.of(1, 1, 2, 1), 5, 7),
            Tensor.floats(Shape.of(1, 1, 2, 1), 1, 3))
        .getDouble(0);
  }

  /** Since version 24, a mask may be shorter than the keys, and the missing part hides keys. */
  @Test
  void maskOfOneKeyHidesOthers() {
    assertThat(attended(24)).isEqualTo(1);
  }

  /** Version 23 says only that masks broadcast. */
  @Test
  void maskOfOneKeyBroadcasts() {
    assertThat(attended(23)).isEqualTo(2);
  }
}
