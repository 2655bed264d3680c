package io.partita.passes.program.localize;

import io.partita.ir.mesh.SyncKind;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The successive collectives of a sync. Partial values are reduced first, so that fewer bytes are
 * sent afterwards; one exchange moves the rest.
 */
public enum SyncStage {
  REDUCE_SCATTER,
  REDUCE,
  ALL_REDUCE,
  MOVE;

  /** Whether partial values are reduced; otherwise elements are moved. */
  boolean joins() {
    return this != MOVE;
  }

  /** Returns the mesh axes of each stage of a sync, in order. */
  public static SortedMap<SyncStage, Set<String>> of(Map<String, SyncKind> kinds) {
    SortedMap<SyncStage, Set<String>> stages = new TreeMap<>();
    kinds.forEach(
        (axis, kind) -> stages.computeIfAbsent(of(kind), key -> new LinkedHashSet<>()).add(axis));
    return stages;
  }

  private static SyncStage of(SyncKind kind) {
    return switch (kind) {
      case REDUCE_SCATTER -> REDUCE_SCATTER;
      case REDUCE -> REDUCE;
      case ALL_REDUCE -> ALL_REDUCE;
      case ALL_GATHER, ALL_TO_ALL, BROADCAST, SEND, GATHER, SCATTER -> MOVE;
    };
  }
}
