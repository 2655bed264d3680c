package io.partita.passes.timing;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How long a kernel takes on a chip, with its tiles' way to the cores and back.
 *
 * @param computeSeconds that its cores work
 * @param waits seconds that a channel adds, by its name: the first and the last tile's, and where
 *     the channel is slower than the cores, all but what they work meanwhile
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
