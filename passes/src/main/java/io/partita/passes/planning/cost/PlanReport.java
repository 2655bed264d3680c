package io.partita.passes.planning.cost;

import io.partita.ir.mesh.Mesh;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Shortage;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a program takes on a target: memory, time, energy, traffic.
 *
 * @param target its name
 * @param blocks transformer blocks of the model, as far as attention shows them
 * @param devices by device
 * @param seconds from the beginning of a run until the last output is there. Times count as in a
 *     run that follows another: weights of the first block are where it reads them
 * @param interval seconds from one run to the next when they follow each other, at least {@code
 *     seconds}: weights that are loaded ahead for the next run may take longer
 * @param breakdown the seconds of the critical path by {@code compute}, the farther of two
 *     memories, and {@code links}
 * @param joules by the same, on all devices, by the MCU paper's formula (section V-A)
 * @param bytes by memory and {@code links}; on each link that a message takes
 * @param syncs in order
 * @param shortages what doesn't fit; then figures are estimates for a device that had the room
 */
public record PlanReport(
    String target,
    Mesh mesh,
    int blocks,
    List<DeviceReport> devices,
    double seconds,
    double interval,
    SortedMap<String, Double> breakdown,
    SortedMap<String, Double> joules,
    SortedMap<String, Long> bytes,
    SortedMap<String, Long> links,
    List<SyncReport> syncs,
    List<Shortage> shortages) {
  public PlanReport {
    devices = List.copyOf(devices);
    breakdown = Collections.unmodifiableSortedMap(new TreeMap<>(breakdown));
    joules = Collections.unmodifiableSortedMap(new TreeMap<>(joules));
    bytes = Collections.unmodifiableSortedMap(new TreeMap<>(bytes));
    links = Collections.unmodifiableSortedMap(new TreeMap<>(links));
    syncs = List.copyOf(syncs);
    shortages = List.copyOf(shortages);
  }

  /**
   * The same with the memories that a schedule finds too small.
   *
   * @param contents what they must hold, by device
   */
  PlanReport with(List<Shortage> found, Map<Integer, List<MemoryUse>> contents) {
    return new PlanReport(
        target,
        mesh,
        blocks,
        devices.stream()
            .map(each -> each.with(contents.getOrDefault(each.device(), List.of())))
            .toList(),
        seconds,
        interval,
        breakdown,
        joules,
        bytes,
        links,
        syncs,
        found);
  }

  public boolean fits() {
    return shortages.isEmpty();
  }

  public double totalJoules() {
    return joules.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  public List<SyncReport> syncs(int block) {
    return syncs.stream().filter(sync -> sync.block() == block).toList();
  }

  /** Of the block that has most; 0 where there are no blocks. */
  public int syncsPerBlock() {
    int most = 0;
    for (int block = 0; block < blocks; block++) {
      most = Math.max(most, syncs(block).size());
    }
    return most;
  }
}
