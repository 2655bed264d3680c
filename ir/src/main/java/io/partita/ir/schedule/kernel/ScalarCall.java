package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.type.ElementType;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A sum or product of two integers, as of positions and lengths, which is the only call of a loop:
 * a control core computes it in less time than it takes to start others.
 *
 * @param function {@code add} or {@code mul}, which wrap
 * @param left the number of the operand
 */
public record ScalarCall(String function, ElementType element, int left, int right, int out) {
  private static final Set<String> FUNCTIONS = Set.of("add", "mul");
  private static final Set<ElementType> ELEMENTS = EnumSet.of(ElementType.I32, ElementType.I64);

  /** Returns the call of a loop; empty if there are others, or more than one element. */
  public static Optional<ScalarCall> of(List<KernelCall> calls) {
    if (calls.size() != 1) {
      return Optional.empty();
    }
    KernelCall call = calls.getFirst();
    ElementType element = call.kernel().elements().getFirst();
    boolean isOne =
        CallFields.find(call.arguments(), "extents")
            .filter(
                extents ->
                    extents instanceof Value.Integers(var all)
                        && all.stream().allMatch(TileExpression.of(1)::equals))
            .isPresent();
    Optional<Integer> left = operand(call, "left");
    Optional<Integer> right = operand(call, "right");
    Optional<Integer> out = operand(call, "out");
    return isOne
            && FUNCTIONS.contains(call.kernel().family())
            && ELEMENTS.contains(element)
            && left.isPresent()
            && right.isPresent()
            && out.isPresent()
        ? Optional.of(
            new ScalarCall(call.kernel().family(), element, left.get(), right.get(), out.get()))
        : Optional.empty();
  }

  private static Optional<Integer> operand(KernelCall call, String field) {
    return CallFields.find(call.arguments(), field)
        .filter(Value.OperandPointer.class::isInstance)
        .map(Value.OperandPointer.class::cast)
        .filter(pointer -> pointer.offset().equals(TileExpression.of(0)))
        .map(Value.OperandPointer::operand);
  }
}
