package io.partita.backend.java.plan;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Descriptions of the exchanges, for readers. */
final class SyncNames {
  private SyncNames() {}

  /** Returns the descriptions by number, such as {@code all-reduce of 512 f32 on 8 devices}. */
  static SortedMap<Integer, String> of(List<Module> devices) {
    SortedMap<Integer, Map<Integer, Exchange>> syncs = new TreeMap<>();
    for (int device = 0; device < devices.size(); device++) {
      for (Node node : devices.get(device).graph().nodes()) {
        if (node.op() instanceof Exchange exchange) {
          syncs
              .computeIfAbsent(exchange.sync(), key -> new LinkedHashMap<>())
              .put(device, exchange);
        }
      }
    }
    SortedMap<Integer, String> names = new TreeMap<>();
    syncs.forEach((sync, exchanges) -> names.put(sync, name(List.copyOf(exchanges.values()))));
    return names;
  }

  private static String name(List<Exchange> exchanges) {
    Exchange first = exchanges.getFirst();
    return "%s of %s %s on %s devices"
        .formatted(kind(exchanges), first.elements(), first.element(), exchanges.size());
  }

  private static String kind(List<Exchange> exchanges) {
    long givers = exchanges.stream().filter(e -> !e.before().isEmpty()).count();
    long takers = exchanges.stream().filter(e -> !e.after().isEmpty()).count();
    boolean allGetAll = exchanges.stream().allMatch(e -> isAll(e, e.after()));
    if (exchanges.stream().flatMap(e -> e.steps().stream()).anyMatch(SyncNames::reduces)) {
      return allGetAll ? "all-reduce" : takers == 1 ? "reduce" : "reduce-scatter";
    } else if (allGetAll) {
      return givers == 1 ? "broadcast" : "all-gather";
    } else if (givers == 1) {
      return takers == 1 ? "send" : "scatter";
    }
    return takers == 1 ? "gather" : "all-to-all";
  }

  private static boolean isAll(Exchange exchange, List<Slice> slices) {
    return Slice.elements(slices) == exchange.elements();
  }

  private static boolean reduces(Step step) {
    return step instanceof Step.Receive receive && receive.combine() != Combine.REPLACE;
  }
}
