package io.partita.passes.schedule;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Origin;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The place of the vector of a collective: that of the operand, if it is the whole vector and has
 * no later use; else that of the result, if it is the whole vector, of which the operand may be a
 * part already; else a separate region.
 *
 * @param result the place of the result; unused if there is none
 */
record ExchangePlaces(Task.Exchange task, Storage result) {
  /** The elements of the kernels of {@code collectives/join.h}. */
  private static final Set<ElementType> JOINED =
      EnumSet.of(
          ElementType.F64,
          ElementType.F32,
          ElementType.F16,
          ElementType.BF16,
          ElementType.I64,
          ElementType.U64,
          ElementType.I32,
          ElementType.I8,
          ElementType.U8);

  /** Whether there are kernels for combining received elements with own ones. */
  static boolean canJoin(List<Communication.Exchange> exchanges, ElementType element) {
    return JOINED.contains(element)
        || exchanges.stream()
            .flatMap(each -> each.steps().stream())
            .noneMatch(each -> each instanceof Step.Receive in && in.combine() != Combine.REPLACE);
  }

  static ExchangePlaces of(
      List<Communication.Exchange> exchanges,
      Origin origin,
      TensorType resultType,
      Optional<Storage> operand,
      boolean operandDies,
      Optional<Storage> destination) {
    Communication.Exchange first = exchanges.getFirst();
    TensorType type = TensorType.of(first.element(), first.elements());
    boolean givesAll = exchanges.stream().allMatch(each -> each.isWhole(each.before()));
    boolean getsAll = exchanges.stream().allMatch(each -> each.isWhole(each.after()));
    boolean isVectorGiven = getsAll && destination.isPresent() && destination.get().isContiguous();
    boolean operandIsVector =
        operand.isPresent()
            && givesAll
            && operandDies
            && operand.get().isContiguous()
            && operand.get().region().kind() == Region.Kind.ACTIVATION
            && (!isVectorGiven || destination.equals(operand));
    // An operand that was written to its place in the vector.
    boolean operandIsPart =
        operand.isPresent()
            && !givesAll
            && isVectorGiven
            && operand.get().region() == destination.get().region();
    Storage vector;
    if (operandIsVector) {
      vector = operand.get();
    } else if (isVectorGiven) {
      vector = destination.get();
    } else {
      vector = Storage.whole(Region.activation(origin, type.bytes()), type);
    }
    boolean isVector = getsAll && (destination.isEmpty() || isVectorGiven);
    Storage result =
        isVector
            ? vector
            : destination.orElseGet(
                () -> Storage.whole(Region.activation(origin, resultType.bytes()), resultType));
    boolean hasResult = !isVector && result.elements() > 0;
    long message = ScheduleStep.Exchange.messageBytes(exchanges);
    Task.Exchange task =
        new Task.Exchange(
            exchanges,
            first.element(),
            operandIsVector || operandIsPart ? Optional.empty() : operand,
            hasResult ? Optional.of(result) : Optional.empty(),
            vector,
            message == 0
                ? Optional.empty()
                : Optional.of(
                    Region.activation(origin.withName(origin.name() + " message"), message)),
            origin);
    return new ExchangePlaces(task, result);
  }
}
