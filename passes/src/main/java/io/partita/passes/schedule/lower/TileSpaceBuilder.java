package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Builds a {@link TileSpace}; added elements are referred to by number. */
final class TileSpaceBuilder {
  private final String name;
  private final List<TileSpace.Axis> axes = new ArrayList<>();
  private final List<TileSpace.Operand> operands = new ArrayList<>();
  private final List<TileSpace.Scratch> scratch = new ArrayList<>();
  private final List<KernelCall> calls = new ArrayList<>();

  TileSpaceBuilder(String name) {
    this.name = name;
  }

  /** Adds an axis of results. */
  int axis(String axis, long extent, long granule) {
    return axis(new TileSpace.Axis(axis, extent, Math.min(granule, extent)));
  }

  /** Adds an axis of summation. */
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

  /** Returns the number of the value of an operand. */
  int value(int operand) {
    return operands.get(operand).value();
  }

  /** Adds an integer that the control core reads: element 0 of the value. */
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

  /** Adds a kernel that runs in each tile. */
  void call(String kernel, List<Argument> arguments) {
    call(kernel, arguments, List.of());
  }

  /**
   * @param onLast as in {@link KernelCall}
   */
  void call(String kernel, List<Argument> arguments, List<Integer> onLast) {
    call(kernel, arguments, List.of(), onLast);
  }

  /**
   * @param onFirst as in {@link KernelCall}
   * @param onLast likewise
   */
  void call(String kernel, List<Argument> arguments, List<Integer> onFirst, List<Integer> onLast) {
    calls.add(new KernelCall(KernelTable.get(kernel), arguments, onFirst, onLast));
  }

  TileSpace build() {
    return new TileSpace(name, axes, operands, scratch, calls);
  }

  static TileExpression product(List<TileExpression> factors) {
    return factors.stream().reduce(TileExpression.of(1), TileExpression::times);
  }
}
