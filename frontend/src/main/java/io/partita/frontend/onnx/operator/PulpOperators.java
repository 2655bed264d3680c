package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * The operators of quantlib's and Deeploy's networks for the PULP platform. Files have them in any
 * domain. {@code IntegerModel} has made their attributes single integers and typed integer
 * networks.
 */
public final class PulpOperators {
  private static final Set<String> INTEGER =
      Set.of(
          "RequantShift",
          "iSoftmax",
          "ITAMax",
          "ITAPartialMax",
          "iLayerNorm",
          "iRMSNorm",
          "iGELU",
          "iHardswish",
          "iNoNorm",
          "TrueIntegerDiv",
          "IntegerDiv",
          "IntegerMean");

  private PulpOperators() {}

  /** Whether an operator computes on integers, regardless of the declared types. */
  public static boolean isInteger(String operator) {
    return INTEGER.contains(operator);
  }

  static void register(OperatorRegistry registry) {
    registry.addInAnyDomain("RequantShift", PulpOperators::requantShift);
    registry.addInAnyDomain("iSoftmax", PulpOperators::softmax);
    registry.addInAnyDomain("ITAMax", node -> powerSoftmax(node, 0));
    registry.addInAnyDomain(
        "ITAPartialMax", node -> powerSoftmax(node, node.integer("group_width", 16)));
    registry.addInAnyDomain("iLayerNorm", PulpOperators::layerNorm);
    registry.addInAnyDomain("iRMSNorm", PulpOperators::rmsNorm);
    registry.addInAnyDomain("iGELU", PulpOperators::gelu);
    registry.addInAnyDomain("iHardswish", PulpOperators::hardSwish);
    registry.addInAnyDomain("iNoNorm", PulpOperators::noNorm);
    registry.addInAnyDomain("TrueIntegerDiv", PulpOperators::trueIntegerDiv);
    registry.addInAnyDomain("IntegerDiv", PulpOperators::integerDiv);
    registry.addInAnyDomain("IntegerMean", IntegerOperators::mean);
    registry.addInAnyDomain("RMSNorm", PulpOperators::realRmsNorm);
    registry.addInAnyDomain("Swish", PulpOperators::swish);
    registry.addInAnyDomain("SoftmaxCrossEntropyLossGrad", PulpOperators::lossGradient);
  }

  /** Returns operand {@code input}, which must have integers. */
  private static Value integer(NodeScope node, int input) {
    Value value = node.input(input);
    if (!value.type().element().isInteger()) {
      throw node.unsupported(
          node.operator() + " in a network with non-integral values",
          "use only integral weights, and operators that map integers to integers");
    }
    return value;
  }

  private static int shift(NodeScope node, String attribute) {
    long divisor = node.integer(attribute);
    if (Long.bitCount(divisor) != 1 || divisor < 0) {
      throw node.invalid("a power of two as " + attribute, Long.toString(divisor));
    }
    return Long.numberOfTrailingZeros(divisor);
  }

  private static long levels(NodeScope node) {
    long levels = node.integer(node.hasAttribute("n_levels") ? "n_levels" : "n_levels_out");
    if (levels < 2 || levels > 1L << 31) {
      throw node.invalid("from 2 to 2^31 levels", Long.toString(levels));
    }
    return levels;
  }

  private static void requantShift(NodeScope node) {
    Value x = integer(node, 0);
    long levels = levels(node);
    boolean signed = node.flag("signed", true);
    IntegerNetwork.Requantize requantize =
        new IntegerNetwork.Requantize(
            shift(node, "div"),
            signed ? -(levels / 2) : 0,
            signed ? levels / 2 - 1 : levels - 1,
            x.type().element());
    node.output(
        0,
        node.add(
            requantize,
            x,
            parameter(node, integer(node, 1), x),
            parameter(node, integer(node, 2), x)));
  }

  /**
   * Returns a parameter that broadcasts to x by its trailing axes, or else along axis 1, the
   * channels.
   */
  private static Value parameter(NodeScope node, Value parameter, Value x) {
    Shape shape = x.type().shape();
    if (shape.equals(Shape.broadcast(parameter.type().shape(), shape))) {
      return parameter;
    }
    if (shape.rank() < 2 || !parameter.type().shape().size().equals(shape.dim(1))) {
      throw node.invalid("a parameter that broadcasts to " + shape, parameter.type().toString());
    }
    List<Dim> dims = new ArrayList<>(Collections.nCopies(shape.rank() - 1, Dim.ONE));
    dims.set(0, shape.dim(1));
    return new Arithmetic(node).reshape(parameter, new Shape(dims));
  }

  private static void softmax(NodeScope node) {
    node.output(
        0,
        node.add(
            new IntegerNetwork.IntegerSoftmax(
                node.integer("coeffA"),
                node.integer("coeffB"),
                node.integer("coeffC"),
                node.integer("log2"),
                levels(node)),
            integer(node, 0)));
  }

  private static void powerSoftmax(NodeScope node, long group) {
    node.output(
        0, node.add(new IntegerNetwork.PowerSoftmax(levels(node), group), integer(node, 0)));
  }

  private static IntegerNetwork.IntegerNorm norm(NodeScope node, Structured.NormKind kind) {
    long levels = levels(node);
    return new IntegerNetwork.IntegerNorm(kind, shift(node, "D"), -(levels / 2), levels / 2 - 1);
  }

  private static void layerNorm(NodeScope node) {
    node.output(
        0,
        node.add(
            norm(node, Structured.NormKind.LAYER),
            integer(node, 0),
            integer(node, 1),
            integer(node, 2)));
  }

  private static void rmsNorm(NodeScope node) {
    node.output(
        0, node.add(norm(node, Structured.NormKind.RMS), integer(node, 0), integer(node, 1)));
  }

  private static void gelu(NodeScope node) {
    IntegerNetwork.IntegerGelu gelu =
        new IntegerNetwork.IntegerGelu(node.integer("b"), node.integer("one"));
    node.output(0, node.add(gelu, integer(node, 0)));
  }

  /** {@code clamp(x + three, 0, six) one_over_six x}. */
  private static void hardSwish(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = integer(node, 0);
    Value shifted = of.add(x, node.scalarLike(x, node.integer("three")));
    Value low = of.max(shifted, node.scalarLike(x, 0));
    Value gate = of.min(low, node.scalarLike(x, node.integer("six")));
    Value factor = node.scalarLike(x, node.integer("one_over_six"));
    Value scaled = of.mul(gate, factor);
    node.output(0, of.mul(scaled, x));
  }

  /** {@code clamp(((x weight + bias) mul) >> log2(D), …)}: subtracting a half undoes rounding. */
  private static void noNorm(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value product = of.mul(integer(node, 0), integer(node, 1));
    Value x = of.add(product, integer(node, 2));
    long levels = levels(node);
    int shift = shift(node, "D");
    IntegerNetwork.Requantize requantize =
        new IntegerNetwork.Requantize(shift, -(levels / 2), levels / 2 - 1, x.type().element());
    Value multiplier = node.scalarLike(x, node.integer("mul"));
    Value addend = node.scalarLike(x, -((1L << shift) / 2));
    node.output(0, node.add(requantize, x, multiplier, addend));
  }

  /** {@code x ⌊Delta eta / (y eta + eps)⌋}. */
  private static void trueIntegerDiv(NodeScope node) {
    Value x = integer(node, 0);
    long divisor = divisor(node, node.integer("y"));
    long factor = Math.floorDiv(scaling(node), divisor);
    node.output(0, new Arithmetic(node).mul(x, node.scalarLike(x, factor)));
  }

  private static long divisor(NodeScope node, long y) {
    long divisor = Math.addExact(Math.multiplyExact(y, node.integer("eta")), node.integer("eps"));
    if (divisor == 0) {
      throw node.invalid("a divisor y eta + eps other than 0", "0");
    }
    return divisor;
  }

  private static long scaling(NodeScope node) {
    return Math.multiplyExact(node.integer("Delta"), node.integer("eta"));
  }

  /** {@code ⌊a Delta eta / (b eta + eps) + 1/2⌋} in 64 bits. */
  private static void integerDiv(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value a = of.cast(integer(node, 0), ElementType.I64);
    Value b = of.cast(integer(node, 1), ElementType.I64);
    Value numerator = of.mul(a, node.scalarLike(a, scaling(node)));
    Value scaled = of.mul(b, node.scalarLike(b, node.integer("eta")));
    Value divisor = of.add(scaled, node.scalarLike(b, node.integer("eps")));
    Value two = node.constant(Tensor.scalar(ElementType.I64, 2));
    Value twice = of.add(of.mul(numerator, two), divisor);
    Value quotient = IntegerOperators.floorDivide(node, twice, of.mul(divisor, two));
    node.output(0, of.cast(quotient, node.type(0).element()));
  }

  /** Imports the floating-point norm of this family, whose ε has another name and default. */
  private static void realRmsNorm(NodeScope node) {
    Value x = node.input(0);
    double epsilon = node.hasAttribute("eps") ? node.number("eps") : node.number("epsilon", 1e-6);
    int axis = node.axis(node.integer("axis", -1), x.type().rank());
    Structured.Norm norm = new Structured.Norm(Structured.NormKind.RMS, axis, epsilon, true, false);
    node.output(0, node.add(norm, x, node.input(1)));
  }

  private static void swish(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    double alpha = node.number("alpha", 1);
    if (alpha == 1) {
      node.output(0, node.add(new Elementwise.Unary(UnaryFunction.SILU), x));
      return;
    }
    Value scaled = of.mul(x, node.scalarLike(x, alpha));
    Value gate = node.add(new Elementwise.Unary(UnaryFunction.SIGMOID), scaled);
    node.output(0, of.mul(x, gate));
  }

  /**
   * {@code (e^p - one-hot(labels)) / n²} for logarithms of probabilities {@code p [n, classes]}:
   * Deeploy's test data has the gradient of a mean, whose gradient is 1/n.
   */
  private static void lossGradient(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    if (node.inputs() != 2 || node.shape(0).rank() != 2 || node.shape(1).rank() != 1) {
      throw node.unsupported(
          "a training graph's gradient of the loss", "export the model for inference");
    }
    Value logarithms = node.input(0);
    Value probabilities = node.add(new Elementwise.Unary(UnaryFunction.EXP), logarithms);
    Value labels = of.reshape(node.input(1), node.shape(1).insert(1, Dim.ONE));
    Value classes = of.iota(node.shape(0).dim(1), labels.type().element());
    Value hot =
        of.cast(of.binary(BinaryFunction.EQUAL, labels, classes), logarithms.type().element());
    double rows = node.shape(0).dim(0).value();
    node.output(0, of.div(of.sub(probabilities, hot), node.scalarLike(logarithms, rows * rows)));
  }
}
