package io.partita.passes.planning.cost;

import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import io.partita.passes.planning.residency.WeightPlace;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one device stores and does in a run.
 *
 * @param chip the kind of chip
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
    WeightPlace weights,
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

  public MemoryUse memory(String name) {
    return memories.stream().filter(use -> use.memory().equals(name)).findFirst().orElseThrow();
  }
}
