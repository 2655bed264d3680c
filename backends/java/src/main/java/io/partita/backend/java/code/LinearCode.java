package io.partita.backend.java.code;

import io.partita.backend.java.code.Kernel.Variant;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/** Products with weights, and the layers built from them. */
final class LinearCode {
  private LinearCode() {}

  /**
   * {@code y[rows, out] = x[rows, in] weight (+ bias)}.
   *
   * <p>With 16-bit floats, the product is rounded before the bias is added, and the caller rounds
   * the sum.
   *
   * @param bias an array, or {@code null} as text
   */
  static void product(
      StepCode code,
      String x,
      long rows,
      long in,
      Value weight,
      boolean transposed,
      String bias,
      String y) {
    ElementType element = weight.type().element();
    int out =
        Math.toIntExact(
            transposed
                ? weight.type().shape().extent(0)
                : weight.type().shape().fromEnd(0).value());
    boolean isNarrow = element == ElementType.F16 || element == ElementType.BF16;
    if (code.plan.constant(weight) != null && !(isNarrow && !bias.equals("null"))) {
      Variant variant = Kernels.weightsOf(element);
      code.kernels.use(WeightKernels.reader(variant));
      code.body.line(
          code.call(
              MatrixKernels.LINEAR,
              variant,
              x,
              rows,
              in,
              code.panels(weight, transposed) + "L",
              out,
              bias,
              y),
          code.plan.constantName(weight));
      return;
    }
    if (code.plan.constant(weight) != null) {
      product(code, x, rows, in, weight, transposed, "null", y);
    } else {
      multiply(code, x, rows, in, weight, transposed, y);
    }
    if (!bias.equals("null")) {
      code.round(y, rows * out);
      code.body.open(LoopNest.loop("row", rows));
      code.body.open(LoopNest.loop("j", out));
      code.body.line("%s[row * %s + j] += %s[j]".formatted(y, out, bias));
      code.body.close(2);
    }
  }

  /** A product with a computed weight. */
  private static void multiply(
      StepCode code, String x, long rows, long in, Value weight, boolean transposed, String y) {
    Variant variant = Kernels.realOf(weight.type().element());
    long out = weight.type().shape().extent(transposed ? 0 : 1);
    String matrix = code.real(code.node.operands().indexOf(weight));
    if (transposed) {
      String turned = code.scratch.take(code.realStorage(), in * out);
      code.body.line(code.call(MatrixKernels.TRANSPOSE, variant, matrix, 0, out, in, turned));
      matrix = turned;
    }
    code.body.line(
        code.call(
            MatrixKernels.MATMUL, variant, x, 0, in, matrix, 0, out, y, 0, out, rows, in, out));
  }

  static void linear(StepCode code, Structured.Linear linear) {
    Shape x = code.shape(0);
    long in = x.fromEnd(0).value();
    long rows = x.range(0, x.rank() - 1).elements();
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    String input = code.real(0);
    String bias = linear.bias() ? code.real(2) : "null";
    String y = code.realResult();
    product(code, input, rows, in, code.node.operand(1), linear.transposed(), bias, y);
    code.narrow(y);
  }

  static void ffn(StepCode code, Structured.Ffn ffn) {
    Shape x = code.shape(0);
    long in = x.fromEnd(0).value();
    long rows = x.range(0, x.rank() - 1).elements();
    List<Value> operands = code.node.operands();
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    int next = 1;
    String input = code.real(0);
    String gate = null;
    if (ffn.gated()) {
      gate = layer(code, input, rows, in, next, ffn.gateBias());
      next += ffn.gateBias() ? 2 : 1;
    }
    long inner = operands.get(next).type().shape().extent(1);
    String up = layer(code, input, rows, in, next, ffn.upBias());
    next += ffn.upBias() ? 2 : 1;
    ElementType real = code.element(0) == ElementType.F64 ? ElementType.F64 : ElementType.F32;
    String activated = gate == null ? up : gate;
    code.body.open(LoopNest.loop("i", rows * inner));
    code.body.line(
        activated + "[i] = " + code.expressions.unary(ffn.activation(), real, activated + "[i]"));
    code.body.close();
    code.round(activated, rows * inner);
    if (gate != null) {
      code.body.open(LoopNest.loop("i", rows * inner));
      code.body.line("%s[i] *= %s[i]".formatted(up, gate));
      code.body.close();
      code.round(up, rows * inner);
    }
    String bias = ffn.downBias() ? code.real(next + 1) : "null";
    String y = code.realResult();
    product(code, up, rows, inner, operands.get(next), false, bias, y);
    code.narrow(y);
  }

  private static String layer(
      StepCode code, String x, long rows, long in, int weight, boolean hasBias) {
    Value matrix = code.node.operand(weight);
    String bias = hasBias ? code.real(weight + 1) : "null";
    String y = code.scratch.take(code.realStorage(), rows * matrix.type().shape().extent(1));
    product(code, x, rows, in, matrix, false, bias, y);
    code.round(y, rows * matrix.type().shape().extent(1));
    return y;
  }

  /** Copies patches into rows, which are multiplied by the weight as {@code [c ph pw, e]}. */
  static void patchEmbedding(StepCode code, Structured.PatchEmbedding patches) {
    Shape image = code.shape(0);
    Shape weight = code.shape(1);
    long channels = image.extent(1);
    long height = weight.extent(2);
    long width = weight.extent(3);
    long down = image.extent(2) / height;
    long across = image.extent(3) / width;
    long features = channels * height * width;
    long rows = image.extent(0) * down * across;
    String input = code.real(0);
    String bias = patches.bias() ? code.real(2) : "null";
    String y = code.realResult();
    String x = code.scratch.take(code.realStorage(), rows * features);
    code.body.open(LoopNest.loop("patch", rows));
    code.body.line("int row = patch / %s %% %s".formatted(across, down));
    code.body.line("int column = patch %% %s".formatted(across));
    code.body.open(LoopNest.loop("i", channels * height));
    String line =
        "((patch / %s * %s + i / %s) * %s + row * %s + i %% %s) * %s + column * %s"
            .formatted(
                down * across,
                channels,
                height,
                image.extent(2),
                height,
                height,
                image.extent(3),
                width);
    code.body.line(
        "System.arraycopy(%s, %s, %s, patch * %s + i * %s, %s)"
            .formatted(input, line, x, features, width, width));
    code.body.close(2);
    product(code, x, rows, features, code.node.operand(1), true, bias, y);
    code.narrow(y);
  }
}
