package io.partita.backend.java.code;

import io.partita.backend.java.code.Kernel.Variant;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Place;
import io.partita.backend.java.plan.Step;
import io.partita.backend.java.plan.Storage;
import io.partita.backend.java.plan.WeightsPlan;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The context for printing one step: its operands as Java, and the destination of its lines. */
final class StepCode {
  final ModulePlan plan;
  final Kernels kernels;
  final Scratch scratch;

  /** The destination of lines; {@link #nextPart} begins another one. */
  Body body;

  private final List<Body> parts = new ArrayList<>();
  final Node node;
  final Expressions expressions;

  StepCode(ModulePlan plan, Kernels kernels, Scratch scratch, Step step) {
    this.plan = plan;
    this.kernels = kernels;
    this.scratch = scratch;
    nextPart();
    this.node = step.node();
    this.expressions = new Expressions(kernels);
    scratch.nextStep();
  }

  /** Allows the following lines to go into another method. */
  void nextPart() {
    body = new Body();
    parts.add(body);
  }

  /** The step's lines, in independent parts. */
  List<Body> parts() {
    return parts;
  }

  TensorType type(int operand) {
    return node.operand(operand).type();
  }

  Shape shape(int operand) {
    return type(operand).shape();
  }

  ElementType element(int operand) {
    return type(operand).element();
  }

  TensorType resultType() {
    return node.results().getFirst().type();
  }

  static int count(Shape shape) {
    return Math.toIntExact(shape.elements());
  }

  int extent(int operand, int axis) {
    return Math.toIntExact(shape(operand).extent(axis));
  }

  /** The array of a value; a shared buffer under the value's own name. */
  String array(Value value) {
    Optional<Place> buffer = plan.place(value).filter(place -> place.kind() == Place.Kind.BUFFER);
    if (buffer.isEmpty()) {
      return plan.field(value);
    }
    String primitive = Storage.of(value.type().element()).primitive();
    String declaration =
        "%s[] %s = %s".formatted(primitive, buffer.get().local(), buffer.get().field());
    body.needs(declaration);
    return buffer.get().local();
  }

  /** The array of an operand. */
  String array(int operand) {
    return array(node.operand(operand));
  }

  /** The array of a result. */
  String result(int index) {
    return array(node.results().get(index));
  }

  String result() {
    return result(0);
  }

  /** The data of a constant operand, or null. */
  Tensor constant(int operand) {
    return plan.constant(node.operand(operand));
  }

  /** An element of a value as a carrier; a scalar constant becomes a literal. */
  Term load(Value value, String index) {
    ElementType element = value.type().element();
    Tensor literal = plan.literal(value);
    if (literal != null) {
      return Elements.literalTerm(element, literal);
    }
    return Elements.loadTerm(kernels, element, array(value), index);
  }

  String load(int operand, String index) {
    return load(node.operand(operand), index).text();
  }

  /** Writes an element of the first result. */
  void store(String index, String value) {
    String stored = Elements.store(kernels, resultType().element(), value);
    body.line(result() + "[" + index + "] = " + stored);
  }

  String call(Kernel kernel, Object... arguments) {
    return call(kernel, Variant.PLAIN, arguments);
  }

  String call(Kernel kernel, Variant variant, Object... arguments) {
    StringBuilder text = new StringBuilder(kernels.use(kernel, variant)).append('(');
    for (int i = 0; i < arguments.length; i++) {
      text.append(i == 0 ? "" : ", ").append(arguments[i]);
    }
    return text.append(')').toString();
  }

  /** The array of a float operand as float or double; 16-bit floats are widened first. */
  String real(int operand) {
    return real(element(operand), array(operand), count(shape(operand)));
  }

  private String real(ElementType element, String array, int count) {
    return switch (element) {
      case F32, F64 -> array;
      case F16, BF16 -> {
        String wide = scratch.take(Storage.FLOATS, count);
        Kernel kernel =
            element == ElementType.F16 ? MatrixKernels.WIDEN_HALVES : MatrixKernels.WIDEN_BFLOATS;
        body.line(call(kernel, array, count, wide));
        yield wide;
      }
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
          throw new IllegalArgumentException(element.text());
    };
  }

  /** The array that float code writes instead of the first result's; see {@link #narrow}. */
  String realResult() {
    ElementType element = resultType().element();
    return element == ElementType.F32 || element == ElementType.F64
        ? result()
        : scratch.take(Storage.FLOATS, count(resultType().shape()));
  }

  /** Rounds {@code array} into the first result, if it is a different array. */
  void narrow(String array) {
    ElementType element = resultType().element();
    if (element == ElementType.F16 || element == ElementType.BF16) {
      Kernel kernel =
          element == ElementType.F16 ? MatrixKernels.NARROW_HALVES : MatrixKernels.NARROW_BFLOATS;
      body.line(call(kernel, array, count(resultType().shape()), result()));
    }
  }

  /** Rounds values for the first result as if they had been stored in its type. */
  void round(String array, long count) {
    ElementType element = resultType().element();
    if (element == ElementType.F16 || element == ElementType.BF16) {
      Kernel kernel =
          element == ElementType.F16 ? MatrixKernels.ROUND_HALVES : MatrixKernels.ROUND_BFLOATS;
      body.line(call(kernel, array, count));
    }
  }

  Variant realVariant() {
    return Kernels.realOf(resultType().element());
  }

  Storage realStorage() {
    return resultType().element() == ElementType.F64 ? Storage.DOUBLES : Storage.FLOATS;
  }

  /** The start of a constant matrix in panels in the weights file, in elements. */
  long panels(Value weight, boolean transposed) {
    int columns =
        Math.toIntExact(
            transposed
                ? weight.type().shape().extent(0)
                : weight.type().shape().fromEnd(0).value());
    WeightsPlan.Entry entry =
        plan.weights()
            .panels(plan.constant(weight), transposed, columns, plan.constantName(weight));
    return entry.position() / Storage.of(weight.type().element()).bytes();
  }

  /** The start of a constant in the weights file, in elements. */
  long rows(Value constant) {
    WeightsPlan.Entry entry =
        plan.weights().rowMajor(plan.constant(constant), plan.constantName(constant));
    return entry.position() / Storage.of(constant.type().element()).bytes();
  }
}
