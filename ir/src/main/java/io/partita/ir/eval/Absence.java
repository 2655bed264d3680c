package io.partita.ir.eval;

import io.partita.ir.mesh.Exit;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * The meaning of absent values, which are null: an operation that reads one is skipped. A fork, a
 * settle by priority and a select by a scalar read only the operand that they choose.
 */
public final class Absence {
  private Absence() {}

  /**
   * Returns the operands with which a device computes an operation: absent ones that it doesn't
   * read are zeros.
   *
   * @param operands the operands that the device holds, with null for absent ones
   * @param place the coordinate of the device on the axis of a variation; otherwise unused
   * @param type the type of an operand by its index
   * @return empty if the device skips the operation
   */
  public static Optional<List<Tensor>> present(
      Op op, List<Tensor> operands, int place, IntFunction<TensorType> type) {
    if (op instanceof Communication.Gate && operands.get(1) != null) {
      return operands.getFirst() != null && operands.get(1).getBoolean(0)
          ? Optional.of(operands)
          : Optional.empty();
    }
    List<Tensor> present = new ArrayList<>(operands);
    for (int i = 0; i < present.size(); i++) {
      if (present.get(i) == null) {
        if (isRead(op, operands, place, i)) {
          return Optional.empty();
        }
        present.set(i, Tensor.filled(type.apply(i), 0));
      }
    }
    return Optional.of(present);
  }

  /**
   * Whether an operation reads an operand.
   *
   * @param operands the operands by which it chooses; others may be null
   * @param place the coordinate of the device on the axis of a variation; otherwise unused
   */
  public static boolean isRead(Op op, List<Tensor> operands, int place, int operand) {
    return switch (op) {
      case Communication.Fork fork ->
          operand == 2
              || operands.get(2) == null
              || operands.get(2).getBoolean(place) == (operand == 0);
      case Communication.Settle(var axis, Exit.Priority(int places)) ->
          operand == 1 || operands.get(1) == null || first(operands.get(1), places) == place;
      case Elementwise.Select select ->
          operand == 0
              || operands.get(0) == null
              || operands.get(0).size() != 1
              || operands.get(0).getBoolean(0) == (operand == 1);
      default -> true;
    };
  }

  private static int first(Tensor accepted, int places) {
    for (int place = 0; place < places; place++) {
      if (accepted.getBoolean(place)) {
        return place;
      }
    }
    return places - 1;
  }
}
