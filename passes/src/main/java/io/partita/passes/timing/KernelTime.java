package io.partita.passes.timing;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The time of a kernel on a chip, with the transfers of its tiles.
 *
 * @param computeSeconds seconds in which the cores compute
 * @param waits seconds that each channel adds, by name: the transfers of the first and the last
 *     tile, and the excess over computing if the channel is slower
 * @param bytes by channel
 */
public record KernelTime(
    double computeSeconds, SequencedMap<String, Double> waits, SequencedMap<String, Long> bytes) {
  public KernelTime {
    waits = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(waits));
    bytes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(bytes));
  }

  double seconds() {
    return computeSeconds + waits.values().stream().mapToDouble(Double::doubleValue).sum();
  }
}
