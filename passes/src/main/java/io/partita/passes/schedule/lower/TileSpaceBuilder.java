package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.Argument;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.KernelCall;
import io.partita.ir.schedule.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Puts a {@link TileSpace} together; what is added is known by its number from then on. */
final class TileSpaceBuilder {
  private final String name;
  private final List<TileSpace.Axis> axes = new ArrayList<>();
  private final List<TileSpace.Operand> operands = new ArrayList<>();
  private final List<TileSpace.Scratch> scratch = new ArrayList<>();
  private final List<KernelCall> calls = new ArrayList<>();

  TileSpaceBuilder(String name) {
    this.name = name;
  }

  /** An axis of which each tile is one part of a result. */
  int axis(String axis, long extent, long granule) {
    return axis(new TileSpace.Axis(axis, extent, Math.min(granule, extent)));
  }

  /** An axis that results are summed over. */
  int reduction(String axis, long extent, long granule) {
    return axis(
        new TileSpace.Axis(axis, extent, Math.min(granule, extent), true, Optional.empty()));
  }

  int axis(TileSpace.Axis axis) {
    axes.add(axis);
    return axes.size() - 1;
  }

  /**
   * @param value as in {@link TileSpace.Operand}
   */
  int load(String operand, int value, ElementType element, List<BoxDimension> box) {
    return add(new TileSpace.Operand(operand, value, element, Direction.LOAD, box));
  }

  int store(String operand, int value, ElementType element, List<BoxDimension> box) {
    return add(new TileSpace.Operand(operand, value, element, Direction.STORE, box));
  }

  /** An integer that the control core reads: element 0 of the value. */
  int scalar(String operand, int value, ElementType element) {
    return add(
        new TileSpace.Operand(
            operand, value, element, Direction.SCALAR, List.of(BoxDimension.whole(1, 1))));
  }

  private int add(TileSpace.Operand operand) {
    operands.add(operand);
    return operands.size() - 1;
  }

  int scratch(String memory, TileExpression bytes) {
    scratch.add(new TileSpace.Scratch(memory, bytes));
    return scratch.size() - 1;
  }

  /** A kernel that runs in each tile. */
  void call(
      String function,
      String header,
      String struct,
      List<Argument> arguments,
      KernelClass kernel,
      ElementType element,
      List<TileExpression> work) {
    call(function, header, struct, arguments, List.of(), kernel, element, work);
  }

  void call(
      String function,
      String header,
      String struct,
      List<Argument> arguments,
      List<Integer> onLast,
      KernelClass kernel,
      ElementType element,
      List<TileExpression> work) {
    calls.add(
        new KernelCall(
            "partita_" + function,
            "kernels/" + header + ".h",
            "partita_" + struct,
            arguments,
            onLast,
            kernel,
            element,
            work));
  }

  TileSpace build() {
    return new TileSpace(name, axes, operands, scratch, calls);
  }

  static TileExpression one() {
    return TileExpression.of(1);
  }

  /** {@code passes} over so many elements. */
  static List<TileExpression> elements(TileExpression count, long passes) {
    return List.of(one(), one(), count, TileExpression.of(passes));
  }

  /** {@code passes} over so many lines, each of which one core takes. */
  static List<TileExpression> lines(TileExpression count, TileExpression size, long passes) {
    return List.of(one(), count, size, TileExpression.of(passes));
  }

  /** Once over elements that are walked through line by line, cores sharing them evenly. */
  static List<TileExpression> walk(List<TileExpression> extents) {
    int last = extents.size() - 1;
    return extents.isEmpty()
        ? elements(one(), 1)
        : lines(product(extents.subList(0, last)), extents.get(last), 1);
  }

  static TileExpression product(List<TileExpression> factors) {
    return factors.stream().reduce(one(), TileExpression::times);
  }
}
