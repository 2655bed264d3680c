package io.partita.passes.schedule.tile;

import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Link;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetDescription;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How many bytes of weights a chip can copy to its working memory while it does something else.
 *
 * @param chip the chip
 * @param channel from the home memory to the working memory
 * @param cyclesPerReceivedByte of messages, over the fastest link
 */
public record PreloadRoom(ChipKind chip, DmaChannel channel, double cyclesPerReceivedByte) {
  /** A part is a multiple of so many bytes. */
  private static final long PART = 256;

  /** For fewer bytes, starting a transfer takes longer than waiting for it. */
  public static final long LEAST_BYTES = 4096;

  /** The fewest bytes of a weight that is worth a transfer of its own. */
  public static final long LEAST_WEIGHT = 2048;

  /** Returns the room on a chip; empty where each core has a working memory of its own. */
  public static Optional<PreloadRoom> of(TargetDescription target, ChipKind chip) {
    Memory working = chip.working();
    if (working.scope() == Memory.Scope.CORE || chip.home().isEmpty()) {
      return Optional.empty();
    }
    double linkBytesPerSecond =
        target.links().stream()
            .mapToDouble(Link::bytesPerSecond)
            .max()
            .orElse(Double.POSITIVE_INFINITY);
    return chip.channel(chip.home().get().name(), working.name())
        .map(channel -> new PreloadRoom(chip, channel, chip.hertz() / linkBytesPerSecond));
  }

  /** Returns the bytes that can be copied during some cycles; 0 if they are few. */
  public long during(double cycles) {
    double perPart = channel.cycles(PART, 0) - channel.cycles(0, 0);
    long bytes = ((long) ((cycles - channel.cycles(0, 0)) / perPart)) * PART;
    return bytes < LEAST_BYTES ? 0 : bytes;
  }

  /**
   * Returns the bytes that can be copied while a device awaits the messages of an action; none
   * before the first messages, since what the exchange begins with is under way then.
   *
   * @param action the index of an action
   */
  public long during(List<Action> actions, int action) {
    boolean awaited = actions.subList(0, action).stream().anyMatch(Action.Finish.class::isInstance);
    return awaited && actions.get(action) instanceof Action.Finish finish
        ? during(finish.messages().size() * finish.message().bytes() * cyclesPerReceivedByte)
        : 0;
  }

  /**
   * Returns the bytes that can be copied during an exchange: after its beginning, if it copies
   * nothing itself; else those with which it begins, until the first messages have arrived, and
   * those during its other waits.
   */
  public long during(Actions actions, boolean hasResult) {
    if (actions.preloadsAtOnce(hasResult)) {
      double awaiting =
          actions.list().stream()
              .filter(Action.Finish.class::isInstance)
              .mapToDouble(
                  action -> chip.messageCycles() + action.message().bytes() * cyclesPerReceivedByte)
              .sum();
      return Math.max(Actions.PRELOADED, during(chip.exchangeCycles() + awaiting));
    }
    long waiting =
        IntStream.range(0, actions.list().size())
            .mapToLong(action -> during(actions.list(), action))
            .sum();
    return Actions.PRELOADED + waiting;
  }
}
