package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.type.ElementType;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Elementwise functions that can follow another computation in its loop, on each finished tile, and
 * conversions: of 32-bit sums to floats, after which they are functions of floats, of integers by
 * requantization, and of bytes to wider integers.
 */
public final class Epilogues {
  private static final Set<ElementType> BYTES = EnumSet.of(ElementType.I8, ElementType.U8);

  private Epilogues() {}

  /**
   * Returns the kernel of a function of the values before it and possibly of other operands.
   *
   * @return the kernel; empty if there is none, or if the result has the same bits as the operand
   */
  public static Optional<Kernel> kernel(Node node) {
    ElementType element = node.operand(0).type().element();
    return switch (node.op()) {
      case Elementwise.Cast(var to) when isConversion(element, to) ->
          KernelTable.find("cast_" + element + "_" + to);
      case Elementwise.Unary(var function) ->
          KernelTable.find(function.text() + "_" + element).filter(Kernel::isEpilogue);
      case Elementwise.Binary(var function) ->
          KernelTable.find(function.text() + "_" + element).filter(Kernel::isEpilogue);
      case Requantize requantize ->
          KernelTable.find("requantize_" + element + "_" + requantize.to());
      case null, default -> Optional.empty();
    };
  }

  private static boolean isConversion(ElementType from, ElementType to) {
    boolean isOfSums = from == ElementType.I32 && to == ElementType.F32;
    boolean isOfBytes = BYTES.contains(from) && to == ElementType.I32;
    return isOfSums || isOfBytes;
  }

  /** Whether the bits of integers only get another type. */
  static boolean isView(Node node) {
    return node.op() instanceof Elementwise.Cast(var to)
        && BYTES.contains(to)
        && BYTES.contains(node.operand(0).type().element());
  }

  /** Whether it can be the first of several functions in a loop, on the tiles of its operands. */
  static boolean isHead(Node node) {
    boolean isFunction =
        switch (node.op()) {
          case Elementwise.Unary unary -> true;
          case Elementwise.Binary binary -> true;
          case Elementwise.Cast(var to) -> to == ElementType.F32;
          case Requantize requantize -> true;
          case null, default -> false;
        };
    return isFunction && kernel(node).isPresent() || isOfRows(node);
  }

  private static boolean isOfRows(Node node) {
    return node.op() instanceof IntegerNetwork.IntegerNorm
        || node.op() instanceof IntegerNetwork.IntegerSoftmax
        || node.op() instanceof IntegerNetwork.PowerSoftmax;
  }

  /**
   * Whether it computes each element of its result from that of {@code values} at the same
   * position.
   */
  static boolean isEpilogue(Node node, Value values) {
    ElementType element = values.type().element();
    boolean isRequantized = node.op() instanceof Requantize;
    boolean fits =
        node.op() instanceof Elementwise.Cast
            || (isRequantized
                ? node.operand(0) == values
                    && node.operands().stream()
                        .skip(1)
                        .allMatch(operand -> operand.type().element() == ElementType.I32)
                : node.result().type().element() == element
                    && node.operands().stream()
                        .allMatch(operand -> operand.type().element() == element));
    return (kernel(node).isPresent() || isView(node))
        && fits
        && node.result().type().shape().equals(values.type().shape())
        && values.type().rank() > 0
        && values.type().rank() <= KernelStruct.AXES;
  }
}
