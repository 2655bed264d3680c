package io.partita.passes.planning.search;

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
 * A sync of a plan: what is exchanged, and what that takes.
 *
 * @param name of the node whose result is exchanged
 * @param block the transformer block in which it is, from 0; -1 before the first one
 * @param type of the whole value
 * @param kinds by mesh axis, those along which something is exchanged
 * @param algorithm by which it goes
 * @param messages between devices
 * @param bytes that devices send
 * @param seconds from when the last device comes to it until the last one is done
 */
public record PlannedSync(
    String name,
    int block,
    TensorType type,
    SequencedMap<String, SyncKind> kinds,
    String algorithm,
    long messages,
    long bytes,
    double seconds) {
  public PlannedSync {
    kinds = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(kinds));
  }

  /** Those of a plan, in order. */
  public static List<PlannedSync> of(CandidatePlan plan) {
    Map<Integer, SyncReport> reports = new TreeMap<>();
    plan.report().syncs().forEach(report -> reports.put(report.sync(), report));
    List<PlannedSync> syncs = new ArrayList<>();
    int number = 0;
    for (Node node : plan.module().graph().nodes()) {
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
        parts.stream().mapToLong(SyncReport::messages).sum(),
        parts.stream().mapToLong(SyncReport::bytes).sum(),
        parts.stream().mapToDouble(SyncReport::seconds).sum());
  }
}
