package io.partita.passes.planning.cost;

import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one device stores and does in a run.
 *
 * @param chip the kind of chip
 * @param weights where its weights are, in words
 * @param weightBytes of all its weights, wherever they are
 * @param memories from the nearest to the cores to the farthest
 * @param biggest what takes most room, the largest first
 * @param computeSeconds that its cores work
 * @param bytes that it moves, by the farther of two memories
 * @param joules of its cores and of moving these bytes
 */
public record DeviceReport(
    int device,
    String chip,
    String weights,
    long weightBytes,
    List<MemoryUse> memories,
    List<Resident> biggest,
    double computeSeconds,
    SortedMap<String, Long> bytes,
    double joules) {
  public DeviceReport {
    memories = List.copyOf(memories);
    biggest = List.copyOf(biggest);
    bytes = Collections.unmodifiableSortedMap(new TreeMap<>(bytes));
  }

  /** The same with what some memories hold in place of what was found before. */
  DeviceReport with(List<MemoryUse> changed) {
    List<MemoryUse> uses =
        memories.stream()
            .map(
                use ->
                    changed.stream()
                        .filter(other -> other.memory().equals(use.memory()))
                        .findFirst()
                        .orElse(use))
            .toList();
    return new DeviceReport(
        device, chip, weights, weightBytes, uses, biggest, computeSeconds, bytes, joules);
  }

  public MemoryUse memory(String name) {
    return memories.stream().filter(use -> use.memory().equals(name)).findFirst().orElseThrow();
  }
}
