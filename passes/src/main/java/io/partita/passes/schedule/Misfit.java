package io.partita.passes.schedule;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.schedule.view.Region;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A memory that is too small for a chip's schedule.
 *
 * @param code the diagnostic for this memory
 * @param device the first device on which it is too small
 * @param held the content at its peak, the largest first
 */
public record Misfit(
    ScheduleCode code, int device, ChipKind chip, Memory memory, MemoryUse use, List<Region> held) {
  private static final int MAX_NAMED = 4;

  public Misfit {
    held = List.copyOf(held);
  }

  PartitaException exception() {
    return new PartitaException(
        code,
        "device " + device + " (" + chip.name() + "), memory " + memory.name(),
        "at most " + bytes(use.available()) + available(),
        bytes(use.used())
            + (use.needed() < use.used() ? ", " + bytes(use.needed()) + " live at once" : "")
            + ": "
            + contents(),
        "use more devices, smaller element types, fewer tokens or a shorter KV cache");
  }

  private String available() {
    long kept = memory.bytes() - memory.usable();
    return kept == 0
        ? ""
        : " (" + bytes(memory.bytes()) + " minus the space for code, data and messages)";
  }

  /** Returns the bytes by kind, and the largest contents. */
  private String contents() {
    Map<Region.Kind, Long> kinds = new EnumMap<>(Region.Kind.class);
    held.forEach(region -> kinds.merge(region.kind(), region.bytes(), Long::sum));
    String summary =
        kinds.entrySet().stream()
            .map(
                kind ->
                    switch (kind.getKey()) {
                          case ACTIVATION -> "activations ";
                          case STATE -> "states ";
                          case CONSTANT -> "weights ";
                        }
                        + bytes(kind.getValue()))
            .collect(Collectors.joining(", "));
    return summary
        + "; the largest are "
        + held.stream()
            .limit(MAX_NAMED)
            .map(region -> region.name() + " " + bytes(region.bytes()))
            .collect(Collectors.joining(", "));
  }

  private static String bytes(long count) {
    return String.format(Locale.ROOT, "%,d B", count);
  }
}
