package io.partita.backend.java.code;

import io.partita.backend.java.code.Kernel.Variant;
import io.partita.backend.java.plan.Storage;
import io.partita.backend.java.plan.Weights;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Matrix products and sums of products by an equation. */
final class ContractionCode {
  private final StepCode code;
  private final Body body;

  private ContractionCode(StepCode code) {
    this.code = code;
    this.body = code.body;
  }

  static void emit(StepCode code, Contraction contraction) {
    ContractionCode printer = new ContractionCode(code);
    switch (contraction) {
      case Contraction.MatMul matMul -> printer.matMul();
      case Contraction.Einsum einsum -> printer.einsum(einsum);
      case Contraction.Convolution convolution ->
          new WindowCode(code, convolution.window()).convolve(convolution);
      case Contraction.TransposedConvolution convolution ->
          new WindowCode(code, convolution.window()).convolveTransposed(convolution);
      case Contraction.Pool pool -> new WindowCode(code, pool.window()).pool(pool);
      case Contraction.NibbleMatMul product -> NibbleMatMulCode.emit(code);
      case Contraction.NearestCentroid nearest -> NearestCentroidCode.emit(code, nearest);
    }
  }

  private void matMul() {
    Shape left = code.shape(0);
    Shape right = code.shape(1);
    long rows = left.fromEnd(1).value();
    long in = left.fromEnd(0).value();
    long out = right.fromEnd(0).value();
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    long leftRows = left.range(0, left.rank() - 1).elements();
    boolean isFloat = code.element(0).isFloat();
    if (isFloat && code.constant(1) != null && Weights.of(code.node, 1) == Weights.PANELS) {
      String x = code.real(0);
      String y = code.realResult();
      LinearCode.product(code, x, leftRows, in, code.node.operand(1), false, "null", y);
      code.narrow(y);
      return;
    }
    if (!isFloat && code.constant(1) != null && Weights.of(code.node, 1) == Weights.PANELS) {
      multiplyBytes(leftRows, in, out);
      return;
    }
    Shape batch = code.resultType().shape().range(0, code.resultType().rank() - 2);
    LoopNest nest =
        LoopNest.of(
            batch.extents(),
            List.of(
                scaled(left.range(0, left.rank() - 2), batch.rank(), rows * in),
                scaled(right.range(0, right.rank() - 2), batch.rank(), in * out),
                scaled(batch, batch.rank(), rows * out)));
    if (isFloat) {
      multiplyReals(nest, rows, in, out);
    } else {
      multiplyIntegers(nest, rows, in, out);
    }
  }

  private static LoopNest.Access scaled(Shape shape, int rank, long factor) {
    return new LoopNest.Access(
        0,
        ElementwiseCode.broadcastStrides(shape, rank).stream()
            .map(stride -> stride * factor)
            .toList());
  }

  private void multiplyReals(LoopNest nest, long rows, long in, long out) {
    String a = code.real(0);
    String b = code.real(1);
    String y = code.realResult();
    nest.open(body, "i");
    body.line(
        code.call(
            MatrixKernels.MATMUL,
            code.realVariant(),
            a,
            nest.index(0, "i"),
            in,
            b,
            nest.index(1, "i"),
            out,
            y,
            nest.index(2, "i"),
            out,
            rows,
            in,
            out));
    body.close(nest.depth());
    code.narrow(y);
  }

  /** A product with a constant matrix of bytes, by the vector instructions for floats. */
  private void multiplyBytes(long rows, long in, long out) {
    String x = code.scratch.take(Storage.FLOATS, rows * in);
    body.open(LoopNest.loop("i", rows * in));
    body.line(x + "[i] = " + code.load(0, "i"));
    body.close();
    Value weight = code.node.operand(1);
    code.kernels.use(WeightKernels.reader(Variant.BYTE));
    body.line(
        code.call(
            MatrixKernels.INTEGER_LINEAR,
            Variant.BYTE,
            x,
            rows,
            in,
            code.panels(weight, false) + "L",
            out,
            code.result()),
        code.plan.constantName(weight));
  }

  /** Accumulates rows of the right operand, so that the inner loop runs along rows only. */
  private void multiplyIntegers(LoopNest nest, long rows, long in, long out) {
    Accumulator sums = Accumulator.of(code);
    sums.clear();
    nest.open(body, "i");
    body.open(LoopNest.loop("row", rows));
    body.open(LoopNest.loop("k", in));
    String left = plus(nest.index(0, "i"), "row * " + in + " + k");
    body.line(Elements.carrier(code.element(0)) + " x = " + code.load(0, left));
    body.line("int from = " + plus(nest.index(1, "i"), "k * " + out));
    body.line("int to = " + plus(nest.index(2, "i"), "row * " + out));
    body.open(LoopNest.loop("j", out));
    String product = sums.product(code.element(0), "x", code.element(1), code.load(1, "from + j"));
    body.line(sums.array() + "[to + j] += " + product);
    body.close(3 + nest.depth());
    sums.finish();
  }

  static String plus(String left, String right) {
    return left.equals("0") ? right : left + " + " + right;
  }

  /** Loops over the result's indices, then over the summed ones. */
  private void einsum(Contraction.Einsum einsum) {
    ElementType element = code.element(0);
    Shape result = code.resultType().shape();
    List<String> inputs = einsum.inputs();
    String letters =
        (einsum.output() + String.join("", inputs))
            .chars()
            .distinct()
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    if (result.elements() == 0) {
      return;
    }
    int outer = (int) einsum.output().chars().distinct().count();
    body.open("");
    for (int i = 0; i < outer; i++) {
      body.open(LoopNest.loop("i" + i, extent(inputs, letters.charAt(i))));
    }
    String type = einsumCarrier(element);
    body.line(type + " sum = " + (element == ElementType.BOOL ? "false" : "0"));
    for (int i = outer; i < letters.length(); i++) {
      body.open(LoopNest.loop("i" + i, extent(inputs, letters.charAt(i))));
    }
    List<String> factors = new ArrayList<>();
    for (int k = 0; k < inputs.size(); k++) {
      factors.add(code.load(k, index(inputs.get(k), code.shape(k).strides(), letters)));
    }
    body.line(
        element == ElementType.BOOL
            ? "sum |= " + String.join(" & ", factors)
            : "sum += " + String.join(" * ", factors));
    body.close(letters.length() - outer);
    String sum =
        type.equals(Elements.carrier(element)) ? "sum" : "(" + Elements.carrier(element) + ") sum";
    code.store(index(einsum.output(), result.strides(), letters), sum);
    body.close(outer + 1);
  }

  private static String einsumCarrier(ElementType element) {
    return switch (element.kind()) {
      case FLOAT -> "double";
      case BOOLEAN -> "boolean";
      case SIGNED, UNSIGNED -> element.bits() == 64 || element == ElementType.U32 ? "long" : "int";
    };
  }

  private long extent(List<String> inputs, char letter) {
    for (int k = 0; k < inputs.size(); k++) {
      int axis = inputs.get(k).indexOf(letter);
      if (axis >= 0) {
        return code.shape(k).extent(axis);
      }
    }
    throw new IllegalArgumentException("index " + letter);
  }

  private static String index(String indices, long[] strides, String letters) {
    Long[] byLetter = new Long[letters.length()];
    Arrays.fill(byLetter, 0L);
    for (int axis = 0; axis < strides.length; axis++) {
      byLetter[letters.indexOf(indices.charAt(axis))] += strides[axis];
    }
    return LoopNest.index(0, List.of(byLetter), "i");
  }
}
