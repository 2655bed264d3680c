package io.partita.passes.schedule.place;

import io.partita.ir.target.DmaChannel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The times of one run on a chip, in cycles of its cores.
 *
 * @param tasks the time of each task alone
 * @param rows the tasks that ask for rows of a table in the farther memory, ascending
 * @param fetch the channel from the farther memory to the home memory; none if there's no farther
 *     one
 * @param spill the channel back, which may be the same
 */
public record TransferTimes(
    List<Double> tasks,
    List<Integer> rows,
    Optional<DmaChannel> fetch,
    Optional<DmaChannel> spill) {
  public TransferTimes {
    tasks = List.copyOf(tasks);
    rows = List.copyOf(rows);
  }

  /** The first task from this one on that asks for rows. */
  OptionalInt nextRows(int task) {
    return rows.stream().mapToInt(Integer::intValue).filter(each -> each >= task).findFirst();
  }

  /** Returns the time from the start of one task to the start of another. */
  double cycles(int from, int to) {
    return tasks.subList(from, to).stream().mapToDouble(Double::doubleValue).sum();
  }

  Optional<DmaChannel> channel(boolean isFetch) {
    return isFetch ? fetch : spill;
  }

  /** Returns the time of one transfer on an idle channel. */
  double cycles(boolean isFetch, long bytes) {
    return channel(isFetch).map(channel -> channel.cycles(bytes, 0)).orElse(0.0);
  }

  /** Returns the time of equal transfers to the farther memory, one after the other. */
  double spillCycles(long transfers, long bytes) {
    return transfers * (issueCycles(false) + cycles(false, bytes));
  }

  /** Returns the time that the control core takes to start a transfer. */
  double issueCycles(boolean isFetch) {
    return channel(isFetch).map(DmaChannel::issueCycles).orElse(0.0);
  }
}
