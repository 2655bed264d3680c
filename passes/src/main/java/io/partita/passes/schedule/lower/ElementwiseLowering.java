package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.Argument.integer;
import static io.partita.ir.schedule.Argument.integers;
import static io.partita.ir.schedule.Argument.pointer;

import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.schedule.Argument;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import io.partita.passes.timing.KernelClasses;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code unary.h}, {@code binary.h} and {@code cast.h}. */
final class ElementwiseLowering {
  /** Cores take parts of so many elements. Functions of one element have to do with less memory. */
  private static final long PART = 8;

  private static final Set<ElementType> ARITHMETIC =
      EnumSet.of(ElementType.I8, ElementType.U8, ElementType.I32, ElementType.I64, ElementType.U64);
  private static final Set<ElementType> SIGNS =
      EnumSet.of(
          ElementType.I8,
          ElementType.I32,
          ElementType.I64,
          ElementType.U64,
          ElementType.F32,
          ElementType.F64);
  private static final Set<ElementType> CAST =
      EnumSet.of(
          ElementType.I8,
          ElementType.U8,
          ElementType.I16,
          ElementType.U16,
          ElementType.I32,
          ElementType.U32,
          ElementType.I64,
          ElementType.U64,
          ElementType.F32,
          ElementType.F64,
          ElementType.BOOL);

  private ElementwiseLowering() {}

  private static boolean isFloat(ElementType element) {
    return element == ElementType.F32 || element == ElementType.F64;
  }

  private static boolean isHalf(ElementType element, ElementType other) {
    return (element == ElementType.F16 || element == ElementType.BF16) && isFloat(other);
  }

  static Optional<TileSpace> lower(
      Elementwise op, List<TensorView> operands, List<TensorView> results) {
    TensorView out = results.getFirst();
    ElementType element = operands.getFirst().element();
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) ->
          exists(function, element)
              ? Optional.of(
                  line(
                      function.text() + "_" + element,
                      "unary",
                      KernelClasses.of(function),
                      operands.getFirst(),
                      out))
              : Optional.empty();
      case Elementwise.Cast(ElementType to)
          when element.bits() < Byte.SIZE || to.bits() < Byte.SIZE ->
          nibbles(operands.getFirst(), out);
      case Elementwise.Cast(ElementType to) ->
          CAST.contains(element) && CAST.contains(to) || isHalf(element, to) || isHalf(to, element)
              ? Optional.of(
                  line(
                      "cast_" + element + "_" + to,
                      "cast",
                      KernelClass.ELEMENTWISE,
                      operands.getFirst(),
                      out))
              : Optional.empty();
      case Elementwise.Binary(BinaryFunction function) ->
          exists(function, element) && operands.get(1).element() == element
              ? Optional.of(
                  broadcasting(
                      function.text() + "_" + element,
                      "binary",
                      List.of("left", "right"),
                      KernelClasses.of(function),
                      operands,
                      out))
              : Optional.empty();
      case Elementwise.Select select ->
          out.element().bits() < 8
              ? Optional.empty()
              : Optional.of(
                  broadcasting(
                      "select_" + out.element().bits(),
                      "select",
                      List.of("condition", "then", "otherwise"),
                      KernelClass.ELEMENTWISE,
                      operands,
                      out));
    };
  }

  private static boolean exists(UnaryFunction function, ElementType element) {
    return switch (function) {
      case ABS, NEG, SIGN, RELU -> SIGNS.contains(element);
      case BIT_NOT -> SIGNS.contains(element) && !element.isFloat();
      case NOT -> element == ElementType.BOOL;
      case CEIL,
          FLOOR,
          ROUND,
          SQRT,
          RECIPROCAL,
          EXP,
          LOG,
          IS_NAN,
          IS_POSITIVE_INFINITY,
          IS_NEGATIVE_INFINITY ->
          isFloat(element);
      case SIN,
          COS,
          TAN,
          ASIN,
          ACOS,
          ATAN,
          SINH,
          COSH,
          TANH,
          ASINH,
          ACOSH,
          ATANH,
          ERF,
          SIGMOID,
          SOFTPLUS,
          GELU,
          GELU_TANH,
          SILU,
          HARD_SWISH,
          QUICK_GELU ->
          element == ElementType.F32;
    };
  }

  static boolean exists(BinaryFunction function, ElementType element) {
    boolean isInteger = ARITHMETIC.contains(element);
    return switch (function) {
      case ADD, SUB, MUL, DIV, MIN, MAX, MOD, REMAINDER -> isInteger || isFloat(element);
      case POW -> isFloat(element) || isInteger && element.bits() >= Integer.SIZE;
      case BIT_AND, BIT_OR, BIT_XOR, SHIFT_LEFT, SHIFT_RIGHT -> isInteger;
      case AND, OR, XOR -> element == ElementType.BOOL;
      case EQUAL -> isInteger || isFloat(element) || element == ElementType.BOOL;
      case LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> isInteger || isFloat(element);
    };
  }

  /** Two elements in each byte of one of them, as of a tensor of bytes. */
  private static Optional<TileSpace> nibbles(TensorView x, TensorView out) {
    ElementType nibble = x.element().bits() < Byte.SIZE ? x.element() : out.element();
    ElementType wide = nibble.kind() == ElementType.Kind.SIGNED ? ElementType.I8 : ElementType.U8;
    boolean hasKernel = x.element() == wide || out.element() == wide;
    if (!hasKernel || !isLine(x) || !isLine(out)) {
      return Optional.empty();
    }
    String function = "cast_" + x.element() + "_" + out.element();
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    long elements = x.elements();
    int pairs = space.axis("pairs", Math.ceilDiv(elements, 2), PART / 2);
    TileExpression first = TileExpression.start(pairs).times(2);
    TileExpression count =
        TileExpression.size(pairs).times(2).minimum(TileExpression.of(elements).minus(first));
    List<BoxDimension> packed = List.of(BoxDimension.along(pairs, Math.ceilDiv(elements, 2), 1));
    List<BoxDimension> apart = List.of(new BoxDimension(first, count, elements, 1));
    boolean isPacked = x.element() == nibble;
    int in = space.load("x", 0, isPacked ? ElementType.U8 : wide, isPacked ? packed : apart);
    int result = space.store("out", 1, isPacked ? wide : ElementType.U8, isPacked ? apart : packed);
    space.call(
        function,
        "cast",
        "unary",
        List.of(pointer("x", in), pointer("out", result), integer("count", count)),
        KernelClass.ELEMENTWISE,
        wide,
        TileSpaceBuilder.elements(count, 1));
    return Optional.of(space.build());
  }

  /** Whether elements follow each other without gaps. */
  private static boolean isLine(TensorView view) {
    TileGrid grid = TileGrid.of(view.shape(), List.of(view.strides()), List.of());
    return grid.rank() == 0 || grid.rank() == 1 && grid.strides().getFirst().getFirst() == 1;
  }

  /** A function of the elements at one place, whose tiles are both without gaps. */
  private static TileSpace line(
      String function, String header, KernelClass kernel, TensorView x, TensorView out) {
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    TileGrid grid = TileGrid.of(out.shape(), List.of(x.strides(), out.strides()), List.of());
    List<Integer> axes = grid.axes(space, "i", 1, grid.rank());
    int in = space.load("x", 0, x.element(), grid.repeated(0, axes));
    int result = space.store("out", 1, out.element(), grid.repeated(1, axes));
    space.call(
        function,
        header,
        "unary",
        List.of(
            pointer("x", in), pointer("out", result), integer("count", TileGrid.elements(axes))),
        kernel,
        x.element(),
        TileSpaceBuilder.elements(TileGrid.elements(axes), 1));
    return space.build();
  }

  private static TileSpace broadcasting(
      String function,
      String struct,
      List<String> names,
      KernelClass kernel,
      List<TensorView> operands,
      TensorView out) {
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    List<List<Long>> strides = new ArrayList<>();
    operands.forEach(each -> strides.add(TileGrid.broadcast(each, out.shape())));
    strides.add(out.strides());
    TileGrid grid = TileGrid.of(out.shape(), strides, List.of());
    List<Integer> axes = grid.axes(space, "i", PART, TileGrid.KERNEL_AXES);
    List<Argument> pointers = new ArrayList<>();
    List<Argument> steps = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      pointers.add(
          pointer(name, space.load(name, i, operands.get(i).element(), grid.box(i, axes))));
      steps.add(integers(name + "_strides", TileGrid.six(grid.tileStrides(i, axes), 0)));
    }
    int result = names.size();
    pointers.add(pointer("out", space.store("out", result, out.element(), grid.box(result, axes))));
    pointers.add(integers("extents", TileGrid.six(TileGrid.sizes(axes), 1)));
    pointers.addAll(steps);
    space.call(
        function,
        "binary",
        struct,
        pointers,
        kernel,
        operands.getLast().element(),
        TileSpaceBuilder.walk(TileGrid.sizes(axes)));
    return space.build();
  }
}
