package io.partita.cli;

import io.partita.passes.planning.cost.DeviceReport;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.residency.Content;
import io.partita.passes.planning.residency.MemoryUse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** The contents of the devices' memories; devices with equal contents share lines. */
final class MemoryTable {
  private static final int MAX_GROUPS = 4;
  private static final String ROW = "%-6s %9s of %9s %5s  %9s %9s %11s %9s";

  /** Longer names of devices get their own line. */
  private static final int MAX_NAME_LENGTH = 21;

  private final PlanReport report;

  MemoryTable(PlanReport report) {
    this.report = report;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    SequencedMap<List<MemoryUse>, List<Integer>> groups = new LinkedHashMap<>();
    for (DeviceReport device : report.devices()) {
      groups.computeIfAbsent(device.memories(), key -> new ArrayList<>()).add(device.device());
    }
    int width = 0;
    for (List<Integer> devices : groups.values().stream().limit(MAX_GROUPS).toList()) {
      width = Math.max(width, Math.min(MAX_NAME_LENGTH, name(devices).length()));
    }
    String form = "%-" + width + "s ";
    lines.add(
        form.formatted("memory")
            + ROW.formatted(
                "", "used", "available", "", "weights", "KV", "activations", "buffers"));
    int shown = 0;
    for (Map.Entry<List<MemoryUse>, List<Integer>> group : groups.entrySet()) {
      if (shown++ == MAX_GROUPS) {
        int rest = groups.values().stream().skip(MAX_GROUPS).mapToInt(List::size).sum();
        lines.add(rest + " more devices with slightly different contents: see --json");
        break;
      }
      group(name(group.getValue()), group.getKey(), form, lines);
    }
    return lines;
  }

  private static String name(List<Integer> devices) {
    return (devices.size() == 1 ? "device " : "devices ") + ranges(devices);
  }

  private static void group(
      String name, List<MemoryUse> memories, String form, List<String> lines) {
    String first = name;
    if (name.length() > MAX_NAME_LENGTH) {
      lines.add(name);
      first = "";
    }
    for (MemoryUse memory : memories) {
      if (memory.used() > 0) {
        lines.add(form.formatted(first) + row(memory));
        first = "";
      }
    }
    if (memories.stream().allMatch(memory -> memory.used() == 0)) {
      lines.add(name + " idle");
    }
  }

  private static String row(MemoryUse memory) {
    return ROW.formatted(
            memory.memory(),
            Figures.bytes(memory.used()),
            Figures.bytes(memory.available()),
            percent(memory),
            bytes(memory.of(Content.WEIGHTS) + memory.of(Content.TABLES)),
            bytes(memory.of(Content.STATES)),
            bytes(memory.of(Content.ACTIVATIONS)),
            bytes(memory.of(Content.WEIGHT_BUFFERS) + memory.of(Content.TILES)))
        .stripTrailing();
  }

  private static String percent(MemoryUse memory) {
    return memory.available() == 0
        ? ""
        : Math.ceilDiv(100 * memory.used(), memory.available()) + " %";
  }

  private static String bytes(long number) {
    return number == 0 ? "-" : Figures.bytes(number);
  }

  /** {@code 0-3, 5}. */
  static String ranges(List<Integer> numbers) {
    List<int[]> ranges = new ArrayList<>();
    for (int number : numbers) {
      if (!ranges.isEmpty() && ranges.getLast()[1] == number - 1) {
        ranges.getLast()[1] = number;
      } else {
        ranges.add(new int[] {number, number});
      }
    }
    return ranges.stream()
        .map(range -> range[0] == range[1] ? "" + range[0] : range[0] + "-" + range[1])
        .collect(Collectors.joining(", "));
  }
}
