package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.number;
import static io.partita.frontend.onnx.ModelSketch.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.AttributeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests cells of one or two features against recurrences computed step by step. */
class RecurrentOperatorsTest {
  private static final int STEPS = 3;

  @TempDir Path folder;

  /** An operator on x, weights of one, recurrences of a half, and no bias. */
  private ModelSketch sketch(
      String operator, int gates, List<String> more, AttributeProto... attributes) {
    List<String> operands = new java.util.ArrayList<>(List.of("x", "w", "r"));
    operands.addAll(more);
    return new ModelSketch(14)
        .input("x", TensorType.of(ElementType.F32, STEPS, 1, 1))
        .initializer("w", Tensor.filled(TensorType.of(ElementType.F32, 1, gates, 1), 1))
        .initializer("r", Tensor.filled(TensorType.of(ElementType.F32, 1, gates, 1), 0.5))
        .initializer("lengths", Tensor.ofLongs(TensorType.of(ElementType.I32, 1), new long[] {2}))
        .initializer("start", Tensor.filled(TensorType.of(ElementType.F32, 1, 1, 1), 0.25))
        .node("", operator, operands, "y", attributes)
        .output("y", TensorType.of(ElementType.F32, STEPS, 1, 1, 1));
  }

  private void assertSteps(ModelSketch sketch, double... expected) {
    Tensor y = sketch.run(folder, Tensor.floats(Shape.of(STEPS, 1, 1), 1, -2, 3));
    assertThat(y.type()).isEqualTo(TensorType.of(ElementType.F32, STEPS, 1, 1, 1));
    for (int i = 0; i < expected.length; i++) {
      assertThat(y.getDouble(i)).isCloseTo(expected[i], within(1e-6));
    }
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  @Test
  void simpleCell() {
    double first = Math.tanh(1);
    double second = Math.tanh(-2 + first / 2);
    double third = Math.tanh(3 + second / 2);
    assertSteps(sketch("RNN", 1, List.of()), first, second, third);
  }

  @Test
  void reverseFromAState() {
    double last = Math.tanh(3 + 0.125);
    double middle = Math.tanh(-2 + last / 2);
    assertSteps(
        sketch("RNN", 1, List.of("", "", "start"), text("direction", "reverse")),
        Math.tanh(1 + middle / 2),
        middle,
        last);
  }

  /**
   * Tests that outputs after the end of a sequence are zero, and that reverse directions begin at
   * its end.
   */
  @Test
  void shorterSequence() {
    double first = Math.tanh(1);
    assertSteps(sketch("RNN", 1, List.of("", "lengths")), first, Math.tanh(-2 + first / 2), 0);
    double last = Math.tanh(-2);
    assertSteps(
        sketch("RNN", 1, List.of("", "lengths"), text("direction", "reverse")),
        Math.tanh(1 + last / 2),
        last,
        0);
  }

  @Test
  void gatesOfAGru() {
    double z = sigmoid(1 + 0.125);
    double before = Math.tanh(1 + z * 0.25 / 2);
    double first = (1 - z) * before + z * 0.25;
    assertSteps(sketch("GRU", 3, List.of("", "", "start")), first);
    assertSteps(
        sketch("GRU", 3, List.of("", "", "start"), integer("linear_before_reset", 1)), first);
  }

  @Test
  void gatesOfAnLstm() {
    double gate = sigmoid(1 + 0.125);
    double cell = gate * 0.25 + gate * Math.tanh(1 + 0.125);
    double first = gate * Math.tanh(cell);
    assertSteps(sketch("LSTM", 4, List.of("", "", "start", "start")), first);
  }

  @Test
  void clippedLstm() {
    double gate = sigmoid(0.5);
    double cell = gate * Math.tanh(0.5);
    assertSteps(sketch("LSTM", 4, List.of(), number("clip", 0.5)), gate * Math.tanh(cell));
  }

  @Test
  void noSteps() {
    ModelSketch sketch =
        new ModelSketch(14)
            .input("x", TensorType.of(ElementType.F32, 0, 2, 1))
            .initializer("w", Tensor.filled(TensorType.of(ElementType.F32, 1, 1, 1), 1))
            .node("", "RNN", List.of("x", "w", "w"), "y")
            .output("y", TensorType.of(ElementType.F32, 0, 1, 2, 1));
    assertThat(sketch.imported(folder).outputs().getFirst().value().type())
        .isEqualTo(TensorType.of(ElementType.F32, 0, 1, 2, 1));
  }

  @Test
  void tooManySteps() {
    ModelSketch sketch =
        new ModelSketch(14)
            .input("x", TensorType.of(ElementType.F32, 5000, 1, 1))
            .initializer("w", Tensor.filled(TensorType.of(ElementType.F32, 1, 1, 1), 1))
            .node("", "RNN", List.of("x", "w", "w"), "y")
            .output("y", TensorType.of(ElementType.F32, 5000, 1, 1, 1));
    assertThatThrownBy(() -> sketch.imported(folder))
        .hasMessageContaining("a recurrence of 5000 steps, more than 4096");
  }

  /**
   * Integer weights have the inputs first, and a scale and zero point of each column; operands are
   * rounded to 8 bits, which is all that differs from an LSTM on the real weights.
   */
  @Test
  void lstmWithIntegerWeights() {
    long[] w = {40, -20, 10, 60, -30, 50, 20, -10};
    long[] zeros = {0, 2, 0, -4};
    double[] scales = {0.02, 0.01, 0.03, 0.025};
    double[] real = new double[8];
    for (int gate = 0; gate < 4; gate++) {
      for (int in = 0; in < 2; in++) {
        real[gate * 2 + in] = (w[in * 4 + gate] - zeros[gate]) * scales[gate];
      }
    }
    TensorType scaleType = TensorType.of(ElementType.F32, 1, 4);
    TensorType zeroType = TensorType.of(ElementType.I8, 1, 4);
    TensorType result = TensorType.of(ElementType.F32, STEPS, 1, 1, 1);
    ModelSketch integers =
        lstmInputs()
            .importing(OperatorRegistry.MICROSOFT)
            .initializer("w", Tensor.ofLongs(TensorType.of(ElementType.I8, 1, 2, 4), w))
            .initializer(
                "r",
                Tensor.ofLongs(TensorType.of(ElementType.I8, 1, 1, 4), new long[] {50, 25, 20, 10}))
            .initializer("scale", Tensor.ofDoubles(scaleType, scales))
            .initializer("zero", Tensor.ofLongs(zeroType, zeros))
            .initializer("r_scale", Tensor.filled(TensorType.of(ElementType.F32, 1), 0.01))
            .initializer("r_zero", Tensor.filled(TensorType.of(ElementType.I8, 1), 0))
            .node(
                OperatorRegistry.MICROSOFT,
                "DynamicQuantizeLSTM",
                List.of("x", "w", "r", "", "", "", "", "", "scale", "zero", "r_scale", "r_zero"),
                "y",
                integer("hidden_size", 1))
            .output("y", result);
    ModelSketch reals =
        lstmInputs()
            .initializer("w", Tensor.ofDoubles(TensorType.of(ElementType.F32, 1, 4, 2), real))
            .initializer(
                "r",
                Tensor.ofDoubles(
                    TensorType.of(ElementType.F32, 1, 4, 1), new double[] {0.5, 0.25, 0.2, 0.1}))
            .node("", "LSTM", List.of("x", "w", "r"), "y", integer("hidden_size", 1))
            .output("y", result);
    Tensor x = Tensor.floats(Shape.of(STEPS, 1, 2), 1, -0.5f, 0.25f, 2, -1, 0.75f);
    Tensor expected = reals.run(folder, x);
    Tensor y = integers.run(folder, x);
    assertThat(y.type()).isEqualTo(result);
    for (int i = 0; i < STEPS; i++) {
      assertThat(y.getDouble(i)).isCloseTo(expected.getDouble(i), within(0.01));
    }
    assertThat(y).isNotEqualTo(expected);
  }

  private static ModelSketch lstmInputs() {
    return new ModelSketch(14).input("x", TensorType.of(ElementType.F32, STEPS, 1, 2));
  }
}
