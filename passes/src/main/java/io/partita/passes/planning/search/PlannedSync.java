package io.partita.passes.planning.search;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.type.TensorType;
import io.partita.passes.planning.cost.SyncReport;
import io.partita.passes.program.localize.SyncStage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * A sync of a plan, with its predicted figures.
 *
 * @param name the name of the node whose result is exchanged
 * @param block the number of its transformer block, from 0; -1 before the first one
 * @param type the type of the whole value
 * @param kinds the kind of exchange along each mesh axis
 * @param algorithm the communication pattern
 * @param codec the encoding of the elements, such as {@code exact} or {@code bf16}
 * @param messages the number of messages between devices
 * @param bytes the bytes that devices send
 * @param seconds the time from the arrival of the last device to the end of the last one
 */
public record PlannedSync(
    String name,
    int block,
    TensorType type,
    SequencedMap<String, SyncKind> kinds,
    String algorithm,
    String codec,
    long messages,
    long bytes,
    double seconds) {
  public PlannedSync {
    kinds = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(kinds));
  }

  /** Returns the syncs of a plan, in order. */
  public static List<PlannedSync> of(CandidatePlan plan) {
    return of(plan.module(), plan.report().syncs());
  }

  /**
   * Returns the syncs of a module of the mesh dialect, in order.
   *
   * @param all the figures of its syncs by number
   */
  public static List<PlannedSync> of(Module module, List<SyncReport> all) {
    Map<Integer, SyncReport> reports = new TreeMap<>();
    all.forEach(report -> reports.put(report.sync(), report));
    List<PlannedSync> syncs = new ArrayList<>();
    int number = 0;
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync) {
        int next = number + SyncStage.of(sync.kinds()).size();
        List<SyncReport> parts = new ArrayList<>();
        for (int i = number; i < next; i++) {
          parts.add(reports.get(i));
        }
        parts.removeIf(java.util.Objects::isNull);
        syncs.add(of(node, sync, parts));
        number = next;
      }
    }
    return syncs;
  }

  private static PlannedSync of(Node node, Communication.Sync sync, List<SyncReport> parts) {
    return new PlannedSync(
        node.name(),
        parts.stream().mapToInt(SyncReport::block).max().orElse(-1),
        node.result().type(),
        sync.kinds(),
        sync.algorithm().map(Object::toString).orElse("direct"),
        sync.codec().toString(),
        parts.stream().mapToLong(SyncReport::messages).sum(),
        parts.stream().mapToLong(SyncReport::bytes).sum(),
        parts.stream().mapToDouble(SyncReport::seconds).sum());
  }
}
