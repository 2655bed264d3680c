package io.partita.passes.planning.cost;

import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The memory, time and traffic of one device in a run.
 *
 * @param chip the kind of chip
 * @param weights the placement of its weights, as text
 * @param weightBytes the bytes of all its weights, in any memory
 * @param memories the uses of memories, nearest to the cores first
 * @param biggest the largest residents, in descending order
 * @param computeSeconds the time in which its cores compute
 * @param bytes the bytes that it moves, by the farther of two memories
 * @param joules the energy of its cores and of these transfers
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

  /** Returns the report with other uses of some memories. */
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
