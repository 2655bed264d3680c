package io.partita.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The figures of a run that a page shows: those of all chips, and of the steps those of the slowest
 * chip. All steps of all chips would be most of the page.
 */
final class ShownRun {
  private static final Set<String> RUN = Set.of("port", "clock", "measured", "predicted", "chips");
  private static final Set<String> CHIP = Set.of("chip", "measured", "predicted");
  private static final Set<String> STEP = Set.of("step", "kind", "call", "node");
  private static final List<String> SIDES = List.of("measured", "predicted");
  private static final String STEPS = "steps";
  private static final String CYCLES = "cycles";

  private ShownRun() {}

  /**
   * Returns the shown part of what {@code run --json} prints.
   *
   * @throws IllegalArgumentException if it isn't that
   */
  static Map<String, Object> of(Map<?, ?> run) {
    List<Map<?, ?>> chips = maps(run, "chips");
    Optional<Map<?, ?>> slowest =
        chips.stream()
            .filter(chip -> chip.containsKey(STEPS))
            .max(Comparator.comparingDouble(chip -> cycles(chip, "measured").doubleValue()));
    List<Object> shownChips = new ArrayList<>();
    for (Map<?, ?> chip : chips) {
      Map<String, Object> fields = compared(chip, CHIP);
      if (slowest.isPresent() && chip == slowest.get()) {
        fields.put(STEPS, maps(chip, STEPS).stream().map(ShownRun::step).toList());
      }
      shownChips.add(fields);
    }
    Map<String, Object> shown = compared(run, RUN);
    shown.put("chips", shownChips);
    return shown;
  }

  private static Map<String, Object> step(Map<?, ?> step) {
    Map<String, Object> fields = kept(step, STEP);
    for (String side : SIDES) {
      fields.put(side, Map.of(CYCLES, cycles(step, side)));
    }
    return fields;
  }

  /** The fields of a run or chip, which has figures of both sides. */
  private static Map<String, Object> compared(Map<?, ?> fields, Set<String> names) {
    SIDES.forEach(side -> cycles(fields, side));
    return kept(fields, names);
  }

  private static Number cycles(Map<?, ?> part, String side) {
    if (part.get(side) instanceof Map<?, ?> figures
        && figures.get(CYCLES) instanceof Number count) {
      return count;
    }
    throw new IllegalArgumentException("no " + side + " cycles");
  }

  private static List<Map<?, ?>> maps(Map<?, ?> fields, String name) {
    List<Map<?, ?>> maps = new ArrayList<>();
    for (Object each : fields.get(name) instanceof List<?> list ? list : List.of()) {
      if (!(each instanceof Map<?, ?> map)) {
        throw new IllegalArgumentException(name + " of another form");
      }
      maps.add(map);
    }
    return maps;
  }

  private static Map<String, Object> kept(Map<?, ?> fields, Set<String> names) {
    Map<String, Object> kept = new LinkedHashMap<>();
    fields.forEach(
        (name, value) -> {
          if (names.contains(name.toString())) {
            kept.put(name.toString(), value);
          }
        });
    return kept;
  }
}
