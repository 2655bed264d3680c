package io.partita.passes.schedule.place;

import io.partita.ir.target.DmaChannel;
import java.util.List;
import java.util.Optional;

/**
 * How long a chip takes, in cycles of its cores.
 *
 * @param tasks each alone
 * @param fetch what moves bytes from L3 to L2; none if there's no L3
 * @param spill what moves them back, which may be the same
 */
public record TransferTimes(
    List<Double> tasks, Optional<DmaChannel> fetch, Optional<DmaChannel> spill) {
  public TransferTimes {
    tasks = List.copyOf(tasks);
  }

  Optional<DmaChannel> channel(boolean isFetch) {
    return isFetch ? fetch : spill;
  }

  /** One transfer, alone. */
  double cycles(boolean isFetch, long bytes) {
    return channel(isFetch).map(channel -> channel.cycles(bytes, 0)).orElse(0.0);
  }

  /** What the control core takes to start it. */
  double issueCycles(boolean isFetch) {
    return channel(isFetch).map(DmaChannel::issueCycles).orElse(0.0);
  }
}
