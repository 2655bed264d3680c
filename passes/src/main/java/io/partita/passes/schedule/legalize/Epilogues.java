package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.type.ElementType;
import java.util.Optional;

/**
 * Elementwise functions that can follow a product in its loop, in place on each finished tile, and
 * the conversion of 32-bit sums to floats, after which they are functions of floats.
 */
public final class Epilogues {
  private Epilogues() {}

  /**
   * Returns the kernel of an activation, or of a function of the sums and another operand.
   *
   * @return the kernel; empty if there is none that can run in place
   */
  public static Optional<Kernel> kernel(Node node) {
    String suffix = "_" + node.operand(0).type().element();
    return switch (node.op()) {
      case Elementwise.Cast(var to)
          when to == ElementType.F32 && node.operand(0).type().element() == ElementType.I32 ->
          KernelTable.find("cast_i32_f32").filter(Kernel::isEpilogue);
      case Elementwise.Unary(var function) ->
          KernelTable.find(function.text() + suffix).filter(Kernel::isEpilogue);
      case Elementwise.Binary(var function) ->
          KernelTable.find(function.text() + suffix).filter(Kernel::isEpilogue);
      case null, default -> Optional.empty();
    };
  }

  /**
   * Whether it computes each element of its result from that of {@code sums} at the same position.
   */
  static boolean isEpilogue(Node node, Value sums) {
    return kernel(node).isPresent()
        && (node.result().type().equals(sums.type()) || node.op() instanceof Elementwise.Cast)
        && sums.type().rank() > 0
        && sums.type().rank() <= KernelStruct.AXES
        && node.operands().stream()
            .allMatch(operand -> operand.type().element() == sums.type().element());
  }
}
