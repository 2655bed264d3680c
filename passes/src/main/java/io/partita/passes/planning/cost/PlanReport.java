package io.partita.passes.planning.cost;

import io.partita.ir.mesh.Mesh;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Shortage;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The predicted memory, time, energy and traffic of a program on a target.
 *
 * @param target the name of the target
 * @param blocks the number of transformer blocks, as identified by their attention
 * @param devices the reports by device
 * @param seconds the time from the beginning of a run to its last output. The run follows another
 *     one: weights of the first block are in place
 * @param hitSeconds that time if every speculation hits, while in all other figures every one
 *     misses; empty if devices don't speculate
 * @param interval the seconds between the beginnings of successive runs, at least {@code seconds}:
 *     weights that are loaded ahead for the next run may take longer
 * @param breakdown the seconds of the critical path, by {@code compute}, the farther of two
 *     memories, and {@code links}
 * @param joules the energy of all devices, by the same, with the formula of the MCU paper (section
 *     V-A)
 * @param bytes the moved bytes by memory and {@code links}; messages count on each link of their
 *     route
 * @param syncs the syncs in order
 * @param shortages the memories that are too small; other figures then are estimates for devices
 *     with larger ones
 */
public record PlanReport(
    String target,
    Mesh mesh,
    int blocks,
    List<DeviceReport> devices,
    double seconds,
    OptionalDouble hitSeconds,
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
   * Returns the report with the memory use of a schedule.
   *
   * @param contents the needed content, by device
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
        hitSeconds,
        interval,
        breakdown,
        joules,
        bytes,
        links,
        syncs,
        found);
  }

  /** Returns the report with the seconds of a run in which every speculation hits. */
  PlanReport withHits(double hits) {
    return new PlanReport(
        target,
        mesh,
        blocks,
        devices,
        seconds,
        OptionalDouble.of(hits),
        interval,
        breakdown,
        joules,
        bytes,
        links,
        syncs,
        shortages);
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

  /** Returns the maximum over blocks; 0 without blocks. */
  public int syncsPerBlock() {
    int most = 0;
    for (int block = 0; block < blocks; block++) {
      most = Math.max(most, syncs(block).size());
    }
    return most;
  }
}
