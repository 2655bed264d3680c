package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * Forms of calls that take another path through their kernel, so that a target may have figures of
 * their own for them: {@code copy_32_lines} beside {@code copy_32}.
 */
public enum CallForm {
  /** Whatever has no form of its own. */
  USUAL(""),
  /** A copy from lines of contiguous elements to such lines. */
  LINES("_lines"),
  /** A function of two operands, one of which has a single element for each line. */
  SPREAD("_spread"),
  /** A requantization by the same multiplier and addend everywhere. */
  ONE_SCALE("_one_scale"),
  /** A requantization with multipliers that are contiguous along a line: one for each column. */
  BY_COLUMNS("_by_columns"),
  /** A product of bytes whose sums aren't over whole words. */
  ODD("_odd"),
  /** A product of two rows of bytes over whole words. */
  TWO_ROWS("_two_rows"),
  /** A product of three rows of bytes over whole words. */
  THREE_ROWS("_three_rows");

  private static final long WORD = Integer.BYTES;

  private final String suffix;

  CallForm(String suffix) {
    this.suffix = suffix;
  }

  /** Returns the name that a target gives the figures of a kernel in this form. */
  public String figures(Kernel kernel) {
    return kernel.name() + suffix;
  }

  /** Returns the form of a call, which is the same in all tiles. */
  public static CallForm of(KernelCall call) {
    return switch (call.kernel().struct().name()) {
      case "copy" -> step(call, "x_strides", 1) && step(call, "out_strides", 1) ? LINES : USUAL;
      case "binary" ->
          step(call, "left_strides", 1) && step(call, "right_strides", 1) ? USUAL : SPREAD;
      case "requantize" -> requantization(call);
      default -> isOfBytes(call.kernel()) ? product(call.work()) : USUAL;
    };
  }

  private static CallForm requantization(KernelCall call) {
    if (isOne(call, "multiplier_strides") && isOne(call, "addend_strides")) {
      return ONE_SCALE;
    }
    return step(call, "multiplier_strides", 1) ? BY_COLUMNS : USUAL;
  }

  /**
   * Returns the form of a product of bytes, whose kernels take four products at a time, and more
   * rows than three in blocks of four.
   *
   * @param work {@code batch, rows, columns, depth}
   */
  private static CallForm product(List<TileExpression> work) {
    if (work.getLast() instanceof TileExpression.Literal(long depth) && depth % WORD != 0) {
      return ODD;
    }
    return is(work.get(1), 2) ? TWO_ROWS : is(work.get(1), 3) ? THREE_ROWS : USUAL;
  }

  /** Whether the step along a line is known to be this one. */
  private static boolean step(KernelCall call, String field, long step) {
    return CallFields.find(call.arguments(), field).orElse(null) instanceof Value.Integers(var all)
        && is(all.getLast(), step);
  }

  /** Whether the strides of an operand are known to be 0, so that it has one element. */
  private static boolean isOne(KernelCall call, String strides) {
    return CallFields.find(call.arguments(), strides).orElse(null)
            instanceof Value.Integers(var all)
        && all.stream().allMatch(each -> is(each, 0));
  }

  private static boolean is(TileExpression expression, long value) {
    return expression instanceof TileExpression.Literal(long own) && own == value;
  }

  private static boolean isOfBytes(Kernel kernel) {
    List<ElementType> elements = kernel.elements();
    return kernel.struct().sharing().equals(KernelStruct.BLOCKS)
        && elements.size() > 1
        && elements.subList(0, 2).stream().allMatch(each -> each.bits() == Byte.SIZE);
  }
}
