package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * The end of a loop that sums integer products: the 32-bit sums are in the tile of the result, if
 * it is as wide, or else in scratch, and requantized when they are complete.
 *
 * @param operands the operands of the group; multiplier and addend are the last two
 * @param box the part of the result, with one dimension for each of its dimensions
 */
record Requantization(Requantize op, List<TensorView> operands, List<BoxDimension> box) {
  /**
   * Returns the place of the sums: the argument {@code out} of the preceding kernel.
   *
   * @param out the place of the requantized sums
   */
  Argument sums(TileSpaceBuilder space, Argument.Value out) {
    if (op.to() == ElementType.I32) {
      return new Argument("out", out);
    }
    return Argument.scratch(
        "out",
        space.scratch("sums", TileSpaceBuilder.product(sizes()).times(ElementType.I32.bits() / 8)));
  }

  /**
   * @param onLast the axes of summation
   */
  void call(TileSpaceBuilder space, Argument sums, Argument.Value out, List<Integer> onLast) {
    int multiplier = operands.size() - 2;
    int addend = operands.size() - 1;
    space.call(
        "requantize_i32_" + op.to().text(),
        List.of(
            new Argument("x", sums.value()),
            pointer("multiplier", load(space, "multiplier", multiplier)),
            pointer("addend", load(space, "addend", addend)),
            new Argument("out", out),
            integers("extents", TileGrid.six(sizes(), 1)),
            integers("multiplier_strides", strides(multiplier)),
            integers("addend_strides", strides(addend)),
            integer("low", op.low()),
            integer("high", op.high()),
            integer("shift", op.shift())),
        onLast);
  }

  private int load(TileSpaceBuilder space, String name, int operand) {
    TensorView view = operands.get(operand);
    return space.load(name, operand, view.element(), Broadcasts.box(view, box));
  }

  private List<TileExpression> strides(int operand) {
    return TileGrid.six(Broadcasts.strides(operands.get(operand), box), 0);
  }

  private List<TileExpression> sizes() {
    return box.stream().map(BoxDimension::size).toList();
  }
}
