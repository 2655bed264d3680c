package io.partita.passes;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The passes that a pipeline may name. */
public final class PassRegistry {
  /**
   * A pass that there is.
   *
   * @param name as in a pipeline
   * @param usage name and options, such as {@code kv-state(capacity=N)}
   * @param purpose one line
   */
  public record Entry(
      String name, String usage, String purpose, Function<PassCall, Pass> constructor) {}

  private final Map<String, Entry> entries = new TreeMap<>();

  public PassRegistry(List<Entry> entries) {
    for (Entry entry : entries) {
      if (this.entries.putIfAbsent(entry.name(), entry) != null) {
        throw new IllegalArgumentException("two passes are named " + entry.name());
      }
    }
  }

  /** An entry for a pass without options. */
  public static Entry entry(Pass pass) {
    return new Entry(
        pass.name(),
        pass.name(),
        pass.purpose(),
        call -> {
          call.requireOptions();
          return pass;
        });
  }

  /** By name. */
  public List<Entry> entries() {
    return new ArrayList<>(entries.values());
  }

  Pass create(PassCall call) {
    Entry entry = entries.get(call.name());
    if (entry == null) {
      throw new PartitaException(
          PassCode.UNKNOWN_PASS,
          "the pass pipeline",
          "one of " + String.join(", ", entries.keySet()),
          call.name(),
          NearestName.remedy(call.name(), entries.keySet()));
    }
    return entry.constructor().apply(call);
  }
}
