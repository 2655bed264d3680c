package io.partita.ir.op;

import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Conversions between real numbers and their quantized integers. */
public sealed interface Quantized extends Op {
  /**
   * {@code saturate(round(x / scale) + zeroPoint)}, half to even; NaN gives the least number of the
   * result's type, as in ONNX Runtime. Operands x, scale and zero point (of the result's type).
   * Scale and zero point are scalars; or vectors along {@code axis}; or, with a {@code block} > 0,
   * of x's shape with the axis' extent divided by the block, rounded up.
   */
  record Quantize(int axis, long block, ElementType to) implements Quantized {
    @Override
    public String mnemonic() {
      return "quantize";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.integer("block", block);
      attributes.word("to", to.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType x = operands.getFirst();
      Require.that(to.isInteger(), "an integer type", to);
      Require.that(x.element().isFloat() || x.element() == ElementType.I32, "a numeric operand", x);
      Require.element(operands.get(2), to, "a zero point");
      requireParameters(x, operands.get(1), operands.get(2), axis, block);
      return List.of(x.with(to));
    }
  }

  /**
   * {@code (q - zeroPoint) scale} in the float type {@code to}; operands as of {@link Quantize}.
   */
  record Dequantize(int axis, long block, ElementType to) implements Quantized {
    @Override
    public String mnemonic() {
      return "dequantize";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.integer("block", block);
      attributes.word("to", to.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType q = operands.getFirst();
      Require.that(to.isFloat(), "a float type", to);
      Require.that(q.element().isInteger(), "an integer operand", q);
      Require.element(operands.get(2), q.element(), "a zero point");
      requireParameters(q, operands.get(1), operands.get(2), axis, block);
      return List.of(q.with(to));
    }
  }

  private static void requireParameters(
      TensorType x, TensorType scale, TensorType zeroPoint, int axis, long block) {
    Require.that(scale.element().isFloat(), "a floating-point scale", scale);
    Require.that(
        scale.shape().equals(zeroPoint.shape()),
        "a scale and a zero point of equal shape",
        scale + " and " + zeroPoint);
    if (scale.rank() == 0) {
      return;
    }
    Require.axis(axis, x.rank());
    if (block == 0) {
      Require.that(
          scale.shape().equals(Shape.of(x.dim(axis))), "a scale [" + x.dim(axis) + "]", scale);
    } else {
      Require.that(block > 0 && x.dim(axis).isStatic(), "a block over a static axis", x);
      Shape shape = x.shape().with(axis, Dim.of(Math.ceilDiv(x.dim(axis).value(), block)));
      Require.that(scale.shape().equals(shape), "a scale " + shape, scale);
    }
  }
}
