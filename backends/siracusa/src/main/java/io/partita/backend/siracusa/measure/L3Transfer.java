package io.partita.backend.siracusa.measure;

import java.util.List;

/**
 * A transfer of L3, as the simulated hardware saw it.
 *
 * @param start in cycles of the chip's program
 * @param address in L3
 * @param isRead whether from L3 to L2
 */
public record L3Transfer(long start, long end, long address, long bytes, boolean isRead) {

  /** Cycles of transfers within a span of time. */
  static long busy(List<L3Transfer> transfers, long from, long to) {
    return transfers.stream()
        .mapToLong(each -> Math.max(0, Math.min(each.end, to) - Math.max(each.start, from)))
        .sum();
  }
}
