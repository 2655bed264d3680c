package io.partita.ir.message;

import io.partita.ir.function.Combine;
import java.util.ArrayList;
import java.util.List;

/**
 * Consecutive sends, or consecutive receives, of which a device starts all before it awaits the
 * first. It awaits and combines them in order, so results don't depend on how steps are divided.
 *
 * @param steps at most {@link #STEPS}; no receive in place shares elements with another step
 */
public record Batch(List<Step> steps) {
  /** A device holds so many messages at once; {@code PARTITA_TOGETHER} of the C runtime. */
  public static final int STEPS = 8;

  /** The bytes of buffers that a batch of several messages may take. */
  private static final long ROOM = 32 << 10;

  /** Buffers begin at multiples of this. */
  private static final long ALIGNMENT = 8;

  public Batch {
    steps = List.copyOf(steps);
  }

  /** Divides the steps of an exchange into batches that are as long as possible. */
  public static List<Batch> of(List<Step> steps) {
    List<Batch> batches = new ArrayList<>();
    Batch last = new Batch(List.of());
    for (Step step : steps) {
      if (!last.takes(step)) {
        batches.add(last);
        last = new Batch(List.of());
      }
      last = last.with(step);
    }
    if (!last.steps.isEmpty()) {
      batches.add(last);
    }
    return batches;
  }

  /** Returns the bytes of buffers that the largest batch needs. */
  public static long roomFor(List<Step> steps) {
    return of(steps).stream().mapToLong(Batch::room).max().orElse(0);
  }

  /** Returns the bytes of the buffers of all messages. */
  public long room() {
    return steps.isEmpty() ? 0 : place(steps.size() - 1) + bytes(steps.getLast());
  }

  /** Returns where the buffer of a message begins, among those of the batch. */
  public long place(int step) {
    return steps.subList(0, step).stream()
        .mapToLong(each -> Math.ceilDiv(bytes(each), ALIGNMENT) * ALIGNMENT)
        .sum();
  }

  /**
   * Returns how many receives from this one on are combined with the same elements, in the same
   * way: a device may read its own elements once for all of them.
   */
  public int joined(int step) {
    int end = step + 1;
    while (end < steps.size() && isJoined(steps.get(step), steps.get(end))) {
      end++;
    }
    return end - step;
  }

  private static boolean isJoined(Step one, Step other) {
    return one instanceof Step.Receive first
        && other instanceof Step.Receive second
        && first.combine() != Combine.REPLACE
        && first.combine() == second.combine()
        && first.slices().equals(second.slices());
  }

  private static long bytes(Step step) {
    return step.isInPlace() ? 0 : step.bytes();
  }

  private Batch with(Step step) {
    List<Step> all = new ArrayList<>(steps);
    all.add(step);
    return new Batch(all);
  }

  private boolean takes(Step step) {
    if (steps.isEmpty()) {
      return true;
    }
    boolean areOfOneKind = steps.getLast() instanceof Step.Send == step instanceof Step.Send;
    return areOfOneKind
        && steps.size() < STEPS
        && with(step).room() <= ROOM
        && (step instanceof Step.Send || steps.stream().noneMatch(each -> disturb(each, step)));
  }

  /** Whether one receive may write elements in place before the other is combined with them. */
  private static boolean disturb(Step one, Step other) {
    return (one.isInPlace() || other.isInPlace())
        && one.slices().stream()
            .anyMatch(slice -> other.slices().stream().anyMatch(slice::overlaps));
  }
}
