package io.partita.ir.message;

import io.partita.ir.function.Combine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a device does for an exchange, in order: it starts messages and awaits them, so that they
 * are on their way while it works. Results are those of the steps one after the other. Receives are
 * posted as early as nothing in between uses what they write, and a send is awaited when something
 * would write what it reads, or at the end of the exchange. Others may wait for what a device
 * sends, so a send comes before the posts for later messages, which are posted where the device
 * waits for the first message after a send; after the first send, what is combined next begins to
 * be loaded.
 *
 * <p>That adds no cycle of waiting devices: all actions are in the order of the steps, except that
 * posts, which wait only for earlier sends of the same device, are earlier.
 *
 * @param list the actions
 * @param places where the buffer of each step's message begins; 0 without a buffer
 * @param room the bytes of all buffers
 */
public record Actions(List<Action> list, List<Long> places, long room) {
  /** The most messages that are combined in one pass; {@code PARTITA_JOINED} of the C runtime. */
  public static final int JOINED = 8;

  /**
   * The most sends that haven't ended, and the most receives that have been posted; {@code
   * PARTITA_UNDER_WAY} of the C runtime.
   */
  public static final int UNDER_WAY = 16;

  /**
   * The most bytes of own elements that are combined at a time; {@code TILE} of exchange_joins.c.
   */
  public static final int TILE = 2048;

  /**
   * The bytes that an exchange preloads at its beginning, unless it {@link #preloadsAtOnce}; {@code
   * MANY} of exchange.c.
   */
  public static final int PRELOADED = 16 << 10;

  public Actions {
    list = List.copyOf(list);
    places = List.copyOf(places);
  }

  public static Actions of(List<Step> steps) {
    return new ActionPlanner(steps).plan();
  }

  /**
   * Returns the last action, if it combines messages with all elements that the device is to have:
   * it may store them in the result rather than in the vector, since nothing is sent afterwards.
   *
   * @param after these elements
   */
  public Optional<Action.Finish> resulting(List<Slice> after) {
    return !list.isEmpty()
            && list.getLast() instanceof Action.Finish finish
            && finish.message().combine() != Combine.REPLACE
            && after.size() == 1
            && finish.message().slices().equals(after)
        ? Optional.of(finish)
        : Optional.empty();
  }

  /** Returns the number of actions before the first one that may wait for a received message. */
  public int beginning() {
    int end = 0;
    while (end < list.size()
        && (list.get(end) instanceof Action.Post || list.get(end) instanceof Action.Send)) {
      end++;
    }
    return end;
  }

  /**
   * Returns the number of actions before the first one that needs the operand in the vector, if it
   * isn't there from the beginning: messages of its elements can be sent from where it is. It is
   * there before the device awaits a message.
   *
   * @param before the elements of the operand
   */
  public int keeping(List<Slice> before) {
    int end = 0;
    while (end < beginning() && isWithoutVector(list.get(end), before)) {
      end++;
    }
    return end;
  }

  private static boolean isWithoutVector(Action action, List<Slice> before) {
    List<Slice> slices = action.message().slices();
    return action instanceof Action.Send
        ? slices.size() == 1 && before.stream().anyMatch(own -> own.contains(slices.getFirst()))
        : !action.message().isInPlace()
            || before.stream().noneMatch(own -> slices.stream().anyMatch(own::overlaps));
  }

  /**
   * Returns the number of actions up to the last one that copies or combines elements; those after
   * it only start and await messages.
   */
  public int copying() {
    int end = list.size();
    while (end > 0
        && (list.get(end - 1) instanceof Action.Post || list.get(end - 1).message().isInPlace())) {
      end--;
    }
    return end;
  }

  /**
   * Whether the device starts all preloads when it has begun the exchange: it neither copies nor
   * combines elements afterwards, for which other transfers had better leave room.
   *
   * @param hasResult whether the elements are stored in a result at the end
   */
  public boolean preloadsAtOnce(boolean hasResult) {
    return !hasResult && copying() <= beginning();
  }

  /**
   * Steps that are done together: a send, a receive, or receives that are combined with the same
   * elements in the same way, so that a device may read its own elements once for all of them.
   *
   * @param first the index of the first step
   */
  record Unit(int first, List<Step> steps) {
    /** The bytes of buffers of joined messages. */
    static final long ROOM = 64 << 10;

    /** Buffers begin at multiples of this. */
    private static final long ALIGNMENT = 8;

    static List<Unit> of(List<Step> steps) {
      List<Unit> units = new ArrayList<>();
      for (int step = 0; step < steps.size(); ) {
        int end = step + 1;
        while (end < steps.size() && isJoined(steps.subList(step, end), steps.get(end))) {
          end++;
        }
        units.add(new Unit(step, steps.subList(step, end)));
        step = end;
      }
      return units;
    }

    private static boolean isJoined(List<Step> before, Step step) {
      return before.getFirst() instanceof Step.Receive first
          && step instanceof Step.Receive second
          && first.combine() != Combine.REPLACE
          && first.combine() == second.combine()
          && first.slices().equals(second.slices())
          && before.stream().noneMatch(each -> each.peer() == step.peer())
          && before.size() < JOINED
          && (before.size() + 1) * aligned(step) <= ROOM;
    }

    private static long aligned(Step step) {
      return Math.ceilDiv(step.bytes(), ALIGNMENT) * ALIGNMENT;
    }

    Step step() {
      return steps.getFirst();
    }

    boolean isSend() {
      return step() instanceof Step.Send;
    }

    boolean isInPlace() {
      return step().isInPlace();
    }

    /** The messages of a unit that is received. */
    List<Step.Receive> receives() {
      return steps.stream().map(Step.Receive.class::cast).toList();
    }

    /** The bytes of the buffers of all its messages. */
    long room() {
      return isInPlace() ? 0 : steps.size() * aligned(step());
    }

    /** Returns where the buffer of a message begins among those of the unit. */
    long place(int message) {
      return isInPlace() ? 0 : message * aligned(step());
    }

    boolean overlaps(Unit other) {
      return step().slices().stream()
          .anyMatch(slice -> other.step().slices().stream().anyMatch(slice::overlaps));
    }
  }
}
