package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.IntegerProducts.transposed;
import static io.partita.frontend.onnx.operator.QuantizedValues.scale;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.IntegerProducts.Factor;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Matrix products and convolutions of com.microsoft with fused operations. */
final class MicrosoftProducts {
  private MicrosoftProducts() {}

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "FusedMatMul", 1, MicrosoftProducts::fusedMatMul);
    registry.add(domain, "TransposeMatMul", 1, MicrosoftProducts::fusedMatMul);
    registry.add(domain, "FusedGemm", 1, MicrosoftProducts::fusedGemm);
    registry.add(domain, "FusedConv", 1, MicrosoftProducts::fusedConv);
    registry.add(domain, "DynamicQuantizeMatMul", 1, MicrosoftProducts::dynamicQuantizeMatMul);
    registry.add(domain, "MatMulIntegerToFloat", 1, MicrosoftProducts::matMulIntegerToFloat);
  }

  private static void fusedMatMul(NodeScope node) {
    Value left = arranged(node, node.input(0), "transA", "transBatchA");
    Value right = arranged(node, node.input(1), "transB", "transBatchB");
    Value product = node.add(new Contraction.MatMul(left.type().element()), left, right);
    node.output(0, scaled(node, product, node.number("alpha", 1)));
  }

  private static Value scaled(NodeScope node, Value x, double factor) {
    return factor == 1 ? x : new Arithmetic(node).mul(x, node.scalarLike(x, factor));
  }

  /**
   * Transposes {@code [m, batch…, k]} to {@code [batch…, m, k]} if {@code batched}, then the last
   * dimensions if {@code transposed}.
   */
  private static Value arranged(NodeScope node, Value x, String transpose, String batch) {
    int rank = x.type().rank();
    if (rank < 2) {
      throw node.unsupported("FusedMatMul of vectors", "export MatMul instead");
    }
    Value moved = x;
    if (node.flag(batch, false)) {
      List<Integer> permutation = new ArrayList<>();
      for (int axis = 1; axis < rank - 1; axis++) {
        permutation.add(axis);
      }
      permutation.add(0);
      permutation.add(rank - 1);
      moved = node.add(new Movement.Transpose(permutation), x);
    }
    return node.flag(transpose, false) ? transposed(node, moved) : moved;
  }

  private static void fusedGemm(NodeScope node) {
    Value left = node.flag("transA", false) ? transposed(node, node.input(0)) : node.input(0);
    Value right = node.flag("transB", false) ? transposed(node, node.input(1)) : node.input(1);
    Value product = node.add(new Contraction.MatMul(left.type().element()), left, right);
    Value sum = scaled(node, product, node.number("alpha", 1));
    if (node.has(2)) {
      Value addend = scaled(node, node.input(2), node.number("beta", 1));
      sum = new Arithmetic(node).add(sum, addend);
    }
    List<Double> parameters =
        node.hasAttribute("activation_alpha")
            ? List.of(node.number("activation_alpha"), node.number("activation_beta", 0))
            : List.of();
    node.output(0, activated(node, sum, parameters));
  }

  private static void fusedConv(NodeScope node) {
    Value x = node.input(0);
    Value weight = node.input(1);
    Window window = IntegerProducts.window(node, x.type().shape(), weight.type().shape());
    List<Value> operands = new ArrayList<>(List.of(x, weight));
    node.optionalInput(2).ifPresent(operands::add);
    Value sum =
        node.add(
            new Contraction.Convolution(
                window, node.integer("group", 1), node.has(2), x.type().element()),
            operands);
    if (node.has(3)) {
      sum = new Arithmetic(node).add(sum, node.input(3));
    }
    List<Double> parameters =
        node.hasAttribute("activation_params") ? node.numbers("activation_params") : List.of();
    node.output(0, activated(node, sum, parameters));
  }

  /** Applies the function of the attribute {@code activation}. */
  private static Value activated(NodeScope node, Value x, List<Double> parameters) {
    Arithmetic of = new Arithmetic(node);
    String activation = node.text("activation", "");
    return switch (activation) {
      case "" -> x;
      case "Relu" -> node.add(new Elementwise.Unary(UnaryFunction.RELU), x);
      case "Sigmoid" -> node.add(new Elementwise.Unary(UnaryFunction.SIGMOID), x);
      case "Tanh" -> node.add(new Elementwise.Unary(UnaryFunction.TANH), x);
      case "LeakyRelu" -> leakyRelu(node, x, parameters.isEmpty() ? 0.01f : parameters.getFirst());
      case "Clip" -> {
        if (parameters.size() != 2) {
          throw node.invalid("two parameters of Clip", parameters.toString());
        }
        Value low = of.max(x, node.scalarLike(x, parameters.getFirst()));
        yield of.min(low, node.scalarLike(x, parameters.getLast()));
      }
      case String other ->
          throw node.unsupported("the fused activation " + other, "export without fusion");
    };
  }

  static Value leakyRelu(NodeScope node, Value x, double slope) {
    Arithmetic of = new Arithmetic(node);
    Value zero = node.scalarLike(x, 0);
    Value low = of.min(x, zero);
    Value high = of.max(x, zero);
    return of.add(high, of.mul(low, node.scalarLike(x, slope)));
  }

  private static void dynamicQuantizeMatMul(NodeScope node) {
    QuantizedValues.Dynamic x = QuantizedValues.Dynamic.of(node, node.input(0));
    Value sum =
        IntegerProducts.matMul(
            node, new Factor(x.q(), Optional.of(x.zeroPoint())), Factor.of(node, 1, 3));
    node.output(0, toFloat(node, sum, x.scale(), scale(node, 2, false), 4));
  }

  private static void matMulIntegerToFloat(NodeScope node) {
    Value sum = IntegerProducts.matMul(node, Factor.of(node, 0, 4), Factor.of(node, 1, 5));
    Value left = IntegerProducts.rowwise(node, scale(node, 2, false));
    node.output(0, toFloat(node, sum, left, scale(node, 3, false), 6));
  }

  private static Value toFloat(
      NodeScope node, Value sum, Value leftScale, Value rightScale, int bias) {
    Value factor = new Arithmetic(node).mul(leftScale, rightScale);
    ElementType real = factor.type().element();
    Value product = new Arithmetic(node).mul(new Arithmetic(node).cast(sum, real), factor);
    return node.has(bias) ? new Arithmetic(node).add(product, node.input(bias)) : product;
  }
}
