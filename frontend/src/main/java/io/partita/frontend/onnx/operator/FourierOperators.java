package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Discrete Fourier transforms as products with matrices of cosines and sines. The last dimension of
 * operands and results has the real and the imaginary part, or only the real part.
 */
final class FourierOperators {
  /** The largest number of matrix elements, that of 4,096 complex points. */
  private static final long MAX_ELEMENTS = 1L << 26;

  /**
   * @param length the length of the transform
   * @param inputs the number of input points
   * @param outputs the number of output points
   * @param isInverse whether it is the inverse transform, divided by the length
   * @param mirrors whether points after the given ones are their conjugates
   */
  private record Transform(
      Dim length, Dim inputs, Dim outputs, boolean isInverse, boolean mirrors) {}

  private FourierOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add(OperatorRegistry.ONNX, "DFT", 17, FourierOperators::transform);
    registry.add(OperatorRegistry.ONNX, "STFT", 17, FourierOperators::shortTime);
  }

  private static void transform(NodeScope node) {
    Value x = node.input(0);
    int rank = x.type().rank();
    long given =
        node.opset() < 20 ? node.integer("axis", 1) : node.has(2) ? node.integerOperand(2) : -2;
    int axis = node.axis(given, rank);
    if (axis == rank - 1) {
      throw node.invalid("an axis other than the last", Long.toString(given));
    }
    boolean isOneSided = node.flag("onesided", false);
    boolean isInverse = node.flag("inverse", false);
    boolean mirrors = isOneSided && isInverse;
    Dim extent = x.type().dim(axis);
    Dim length =
        node.has(1)
            ? node.dims(1).getFirst()
            : mirrors ? extent.plus(Dim.of(-1)).times(Dim.of(2)) : extent;
    Dim half = isOneSided ? half(node, length) : length;
    Transform transform =
        new Transform(length, mirrors ? half : length, mirrors ? length : half, isInverse, mirrors);
    node.output(0, apply(node, fitted(node, x, axis, transform.inputs()), axis, transform));
  }

  /** Returns the number of points up to the middle: {@code ⌊length/2⌋ + 1}. */
  private static Dim half(NodeScope node, Dim length) {
    if (length.isStatic()) {
      return Dim.of(length.value() / 2 + 1);
    }
    Dim exact = length.dividedExactlyBy(Dim.of(2));
    if (exact == null) {
      throw node.unsupported("half of the length " + length, "bind its dimensions");
    }
    return exact.plus(Dim.ONE);
  }

  /** Truncates or pads with zeros to {@code size} along an axis. */
  private static Value fitted(NodeScope node, Value x, int axis, Dim size) {
    Dim extent = x.type().dim(axis);
    if (extent.equals(size)) {
      return x;
    }
    Dim more = size.plus(extent.times(Dim.of(-1)));
    if (!more.isStatic() || more.value() < 0) {
      return new Arithmetic(node).slice(x, axis, Dim.ZERO, size);
    }
    List<Long> low = Collections.nCopies(x.type().rank(), 0L);
    List<Long> high = new ArrayList<>(low);
    high.set(axis, more.value());
    return node.add(
        new Movement.Pad(Movement.PadMode.CONSTANT, low, high), x, node.scalarLike(x, 0));
  }

  private static Value apply(NodeScope node, Value x, int axis, Transform transform) {
    Arithmetic of = new Arithmetic(node);
    int last = x.type().rank() - 1;
    long parts = x.type().shape().extent(last);
    if (parts != 1 && parts != 2) {
      throw node.invalid("a last dimension of 1 or 2", x.type().toString());
    }
    List<Integer> order = new ArrayList<>(IntStream.range(0, last).boxed().toList());
    order.remove(Integer.valueOf(axis));
    order.addAll(List.of(axis, last));
    Value moved = node.add(new Movement.Transpose(order), x);
    Shape rows = moved.type().shape().range(0, last - 1);
    Dim columns = transform.inputs().times(Dim.of(parts));
    int results = transform.mirrors() ? 1 : 2;
    Value product =
        node.add(
            new Contraction.MatMul(x.type().element()),
            of.reshape(moved, rows.concat(Shape.of(columns))),
            matrix(node, transform, (int) parts, results, x.type().element()));
    Value split = of.reshape(product, rows.concat(Shape.of(transform.outputs(), Dim.of(results))));
    List<Integer> back = new ArrayList<>();
    for (int i = 0; i < last; i++) {
      back.add(i == axis ? last - 1 : i < axis ? i : i - 1);
    }
    back.add(last);
    return node.add(new Movement.Transpose(back), split);
  }

  /** {@code [inputs parts, outputs results]}. */
  private static Value matrix(
      NodeScope node, Transform transform, int parts, int results, ElementType element) {
    Dim rows = transform.inputs().times(Dim.of(parts));
    Dim columns = transform.outputs().times(Dim.of(results));
    if (!rows.isStatic() || !columns.isStatic()) {
      return computed(node, transform, parts, results, element);
    }
    long size = rows.value() * columns.value();
    if (size > MAX_ELEMENTS) {
      throw node.unsupported(
          "a transform of " + transform.length() + " points", "transform at most 4096 points");
    }
    int length = Math.toIntExact(transform.length().value());
    double[] matrix = new double[(int) size];
    int at = 0;
    for (long i = 0; i < transform.inputs().value(); i++) {
      double weight = weight(transform, i, length);
      for (int part = 0; part < parts; part++) {
        for (long j = 0; j < transform.outputs().value(); j++) {
          double angle = 2 * Math.PI * (i * j % length) / length;
          for (int result = 0; result < results; result++) {
            matrix[at++] = weight * coefficient(transform, part, result, angle);
          }
        }
      }
    }
    return node.constant(
        Tensor.ofDoubles(new TensorType(element, Shape.of(rows, columns)), matrix));
  }

  /** Returns the weight of a point, divided by the length for the inverse. */
  private static double weight(Transform transform, long point, int length) {
    boolean isTwice = transform.mirrors() && point > 0 && 2 * point < length;
    return (isTwice ? 2.0 : 1.0) / (transform.isInverse() ? length : 1);
  }

  /**
   * Returns the coefficient of the real (0) or imaginary (1) part in a part of the result: {@code
   * e^∓ia}.
   */
  private static double coefficient(Transform transform, int part, int result, double angle) {
    double sine = transform.isInverse() ? -Math.sin(angle) : Math.sin(angle);
    return part == result ? Math.cos(angle) : part == 1 ? sine : -sine;
  }

  /** Like {@link #matrix}, as operations for unbound lengths. */
  private static Value computed(
      NodeScope node, Transform transform, int parts, int results, ElementType element) {
    if (transform.mirrors() || transform.isInverse()) {
      throw node.unsupported(
          "an inverse transform of " + transform.length() + " points", "bind its dimensions");
    }
    Arithmetic of = new Arithmetic(node);
    Shape full = Shape.of(transform.inputs(), Dim.ONE, transform.outputs(), Dim.ONE);
    Value rows = of.alongAxis(of.iota(transform.inputs(), ElementType.I64), 0, 4);
    Value columns = of.alongAxis(of.iota(transform.outputs(), ElementType.I64), 2, 4);
    Value length = of.extent(transform.length());
    Value turns = of.binary(BinaryFunction.MOD, of.mul(rows, columns), length);
    Value angle =
        of.div(
            of.mul(of.cast(turns, element), node.constant(Tensor.scalar(element, 2 * Math.PI))),
            of.cast(length, element));
    Value cosine = of.broadcast(of.unary(UnaryFunction.COS, angle), full);
    Value sine = of.broadcast(of.unary(UnaryFunction.SIN, angle), full);
    Value negative = of.unary(UnaryFunction.NEG, sine);
    Value real = of.concat(3, cosine, negative);
    Value matrix = parts == 1 ? real : of.concat(1, real, of.concat(3, sine, cosine));
    Dim height = transform.inputs().times(Dim.of(parts));
    return of.reshape(matrix, Shape.of(height, transform.outputs().times(Dim.of(results))));
  }

  /** Transforms frames of a signal [batch, length, parts], multiplied with a window. */
  private static void shortTime(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value signal = node.input(0);
    long step = node.integerOperand(1);
    if (!node.has(2) && !node.has(3)) {
      throw node.invalid("a window or a frame_length", "neither");
    }
    Dim length = node.has(3) ? node.dims(3).getFirst() : node.type(2).dim(0);
    Dim whole = signal.type().dim(1);
    if (!whole.isStatic() || !length.isStatic()) {
      throw node.unsupported("frames of a signal of " + whole + " points", "bind its dimensions");
    }
    int size = Math.toIntExact(length.value());
    int frames = Math.toIntExact((whole.value() - size) / step + 1);
    if (step < 1 || size < 1 || frames < 1) {
      throw node.invalid("frames of 1 to " + whole + " points", "frames of " + size);
    }
    long[] places = new long[frames * size];
    for (int i = 0; i < places.length; i++) {
      places[i] = i / size * step + i % size;
    }
    Value cut =
        node.add(
            new Movement.Gather(1),
            signal,
            node.constant(Tensor.longs(Shape.of(frames, size), places)));
    Value windowed = node.has(2) ? of.mul(cut, of.alongAxis(node.input(2), 0, 2)) : cut;
    boolean isOneSided = node.flag("onesided", true);
    Dim outputs = isOneSided ? Dim.of(size / 2 + 1) : length;
    Transform transform = new Transform(length, length, outputs, false, false);
    node.output(0, apply(node, windowed, 2, transform));
  }
}
