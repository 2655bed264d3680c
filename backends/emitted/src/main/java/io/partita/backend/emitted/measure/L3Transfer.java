package io.partita.backend.emitted.measure;

import java.util.List;

/**
 * A transfer with L3, as recorded by the simulated hardware.
 *
 * @param start the start in cycles of the chip's program
 * @param address the address in L3
 * @param isRead whether from L3 to L2
 */
public record L3Transfer(long start, long end, long address, long bytes, boolean isRead) {

  /** The cycles of transfers within an interval. */
  static long busy(List<L3Transfer> transfers, long from, long to) {
    return transfers.stream()
        .mapToLong(each -> Math.max(0, Math.min(each.end, to) - Math.max(each.start, from)))
        .sum();
  }
}
