package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Matrix products and convolutions. */
final class ContractionOperators {
  private ContractionOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("MatMul", ContractionOperators::matMul);
    registry.add("Gemm", ContractionOperators::gemm);
    registry.add("Einsum", node -> EinsumEquation.convert(node));
    registry.add("Conv", ContractionOperators::convolution);
    registry.add("ConvTranspose", ContractionOperators::transposedConvolution);
    registry.add("CausalConvWithState", ContractionOperators::causalConvolution);
  }

  private static void matMul(NodeScope node) {
    node.output(0, matMul(node, node.input(0), node.input(1), node.type(0).element()));
  }

  /** Imports a NumPy product: a vector on the left is a row, one on the right a column. */
  static Value matMul(NodeScope node, Value left, Value right, ElementType result) {
    Arithmetic of = new Arithmetic(node);
    Value a = left.type().rank() == 1 ? row(of, left) : left;
    Value b = right.type().rank() == 1 ? of.padRank(right, 2) : right;
    Value product = node.add(new Contraction.MatMul(result), a, b);
    Shape shape = product.type().shape();
    if (right.type().rank() == 1) {
      shape = shape.without(shape.rank() - 1);
    }
    if (left.type().rank() == 1) {
      shape = shape.without(shape.rank() - (right.type().rank() == 1 ? 1 : 2));
    }
    return of.reshape(product, shape);
  }

  private static Value row(Arithmetic of, Value vector) {
    return of.reshape(vector, Shape.of(Dim.ONE, vector.type().dim(0)));
  }

  /** Imports alpha A B + beta C, with optional transposes of A and B. */
  private static void gemm(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    double alpha = node.number("alpha", 1);
    double beta = node.number("beta", 1);
    boolean transposeB = node.flag("transB", false);
    for (int i = 0; i < 2; i++) {
      if (node.shape(i).rank() < 2) {
        throw node.invalid("matrices", node.shape(i).toString());
      }
    }
    // Exporters that fuse MatMul and Add write Gemm for batches of matrices too.
    Value a =
        node.flag("transA", false)
            ? IntegerProducts.transposed(node, node.input(0))
            : node.input(0);
    Value b = node.input(1);
    ElementType element = a.type().element();
    Dim columns = b.type().shape().fromEnd(transposeB ? 1 : 0);
    Value c = node.optionalInput(2).map(bias -> of.mul(bias, beta)).orElse(null);
    boolean vector = c == null || isRow(c.type().shape(), columns);
    if (element.isFloat() && alpha == 1 && vector && b.type().rank() == 2) {
      List<Value> operands = new ArrayList<>(List.of(a, b));
      if (c != null) {
        operands.add(of.reshape(c, Shape.of(columns)));
      }
      node.output(0, node.add(new Structured.Linear(transposeB, c != null), operands));
      return;
    }
    Value right = transposeB ? IntegerProducts.transposed(node, b) : b;
    Value product = of.mul(node.add(new Contraction.MatMul(element), a, right), alpha);
    node.output(0, c == null ? product : of.add(product, c));
  }

  private static boolean isRow(Shape shape, Dim columns) {
    return shape.equals(Shape.of(columns)) || shape.equals(Shape.of(Dim.ONE, columns));
  }

  private static List<Long> kernel(NodeScope node) {
    Shape weight = node.shape(1);
    if (weight.rank() < 3 || !weight.range(2, weight.rank()).isStatic()) {
      throw node.invalid("a weight [filters, channels, kernel…]", weight.toString());
    }
    return weight.range(2, weight.rank()).dims().stream().map(Dim::value).toList();
  }

  private static void convolution(NodeScope node) {
    Window window = WindowAttributes.of(node, kernel(node)).over(node, node.shape(0));
    long groups = node.integer("group", 1);
    List<Value> operands = new ArrayList<>(List.of(node.input(0), node.input(1)));
    node.optionalInput(2).ifPresent(operands::add);
    node.output(
        0,
        node.add(
            new Contraction.Convolution(window, groups, node.has(2), node.type(0).element()),
            operands));
  }

  private static void transposedConvolution(NodeScope node) {
    WindowAttributes attributes = WindowAttributes.of(node, kernel(node));
    int rank = attributes.rank();
    List<Long> extra = node.integers("output_padding", Collections.nCopies(rank, 0L));
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      long stride = attributes.strides().get(axis);
      if (node.hasAttribute("output_shape") || attributes.isSame()) {
        Dim extent = node.shape(0).dim(axis + 2);
        if (!extent.isStatic()) {
          throw node.unsupported(
              "automatic padding of an extent " + extent, "bind the dimensions with --dim");
        }
        List<Long> wanted = node.integers("output_shape", List.of());
        // Some exporters also write the batch and channel extents.
        int skipped = wanted.size() - rank;
        long output =
            wanted.isEmpty() ? extent.value() * stride : wanted.get(axis + Math.max(0, skipped));
        long total =
            stride * (extent.value() - 1) + extra.get(axis) + attributes.reach(axis) - output;
        long less = Math.floorDiv(total, 2);
        boolean upper = attributes.autoPad().equals("SAME_UPPER");
        low.add(upper ? less : total - less);
        high.add((upper ? total - less : less) - extra.get(axis));
      } else {
        boolean explicit = attributes.autoPad().equals("NOTSET");
        low.add(explicit ? attributes.pads().get(axis) : 0);
        high.add((explicit ? attributes.pads().get(axis + rank) : 0) - extra.get(axis));
      }
    }
    Window window =
        new Window(attributes.kernel(), attributes.strides(), attributes.dilations(), low, high);
    List<Value> operands = new ArrayList<>(List.of(node.input(0), node.input(1)));
    node.optionalInput(2).ifPresent(operands::add);
    node.output(
        0,
        node.add(
            new Contraction.TransposedConvolution(window, node.integer("group", 1), node.has(2)),
            operands));
  }

  /**
   * Imports a causal depthwise convolution of {@code [n, c, length]} over the last k elements.
   * Elements before the first are from a state {@code [n, c, k-1]} or zero; the last k-1 elements
   * are the next state.
   */
  private static void causalConvolution(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    long kernel = kernel(node).getFirst();
    Shape shape = x.type().shape();
    if (shape.rank() != 3 || !shape.dim(1).isStatic()) {
      throw node.invalid("an operand [batch, channels, length]", shape.toString());
    }
    Shape past = shape.with(2, Dim.of(kernel - 1));
    Value state = node.optionalInput(3).orElseGet(() -> of.filled(node.scalarLike(x, 0), past));
    Value all = kernel == 1 ? x : of.concat(2, state, x);
    List<Long> one = List.of(1L);
    List<Long> zero = List.of(0L);
    Window window = new Window(List.of(kernel), one, one, zero, zero);
    List<Value> operands = new ArrayList<>(List.of(all, node.input(1)));
    node.optionalInput(2).ifPresent(operands::add);
    Value y =
        node.add(
            new Contraction.Convolution(
                window, shape.dim(1).value(), node.has(2), x.type().element()),
            operands);
    node.output(
        0,
        switch (node.text("activation", "none")) {
          case "none" -> y;
          case "silu", "swish" -> of.unary(io.partita.ir.function.UnaryFunction.SILU, y);
          case String other -> throw node.invalid("activation none, silu or swish", other);
        });
    node.output(1, of.slice(all, 2, shape.dim(2), past.dim(2)));
  }
}
