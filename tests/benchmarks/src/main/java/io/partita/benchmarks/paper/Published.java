package io.partita.benchmarks.paper;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What the paper's text states of a block: S. Bochem et al., DATE 2025, sections V-B and V-C. Its
 * figures have no numbers, so other bars and points can't be compared.
 *
 * @param speedup over one chip
 */
record Published(
    Workload workload,
    int chips,
    OptionalDouble milliseconds,
    OptionalDouble millijoules,
    OptionalDouble speedup) {
  private static final OptionalDouble NONE = OptionalDouble.empty();

  /**
   * On one chip, time and energy follow from the speedups of 26.1 and 4.7 and the energy-delay
   * product, 27.2 times that of eight chips.
   */
  static final List<Published> ALL =
      List.of(
          new Published(
              Workload.AUTOREGRESSIVE,
              1,
              OptionalDouble.of(0.54 * 26.1),
              OptionalDouble.of(0.64 * 27.2 / 26.1),
              OptionalDouble.of(1)),
          new Published(
              Workload.AUTOREGRESSIVE,
              8,
              OptionalDouble.of(0.54),
              OptionalDouble.of(0.64),
              OptionalDouble.of(26.1)),
          new Published(Workload.PROMPT, 8, NONE, NONE, OptionalDouble.of(9.9)),
          new Published(
              Workload.MOBILEBERT, 1, OptionalDouble.of(38.8 * 4.7), NONE, OptionalDouble.of(1)),
          new Published(
              Workload.MOBILEBERT, 4, OptionalDouble.of(38.8), NONE, OptionalDouble.of(4.7)),
          new Published(Workload.AUTOREGRESSIVE_64, 64, NONE, NONE, OptionalDouble.of(60.1)));

  static Optional<Published> of(Workload workload, int chips) {
    return ALL.stream()
        .filter(each -> each.workload == workload && each.chips == chips)
        .findFirst();
  }

  static List<Published> of(Workload workload) {
    return ALL.stream().filter(each -> each.workload == workload).toList();
  }
}
