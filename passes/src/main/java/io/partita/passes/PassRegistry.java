package io.partita.passes;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.stage.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The passes that pipelines may contain. */
public final class PassRegistry {
  /**
   * A known pass.
   *
   * @param name the name in pipelines
   * @param usage name and options, such as {@code kv-state(capacity=N)}
   * @param purpose the purpose, in one line
   */
  public record Entry(
      String name,
      String usage,
      String purpose,
      Stage<?> takes,
      Stage<?> gives,
      Function<PassCall, Pass<?, ?>> constructor) {}

  private final Map<String, Entry> entries = new TreeMap<>();

  public PassRegistry(List<Entry> entries) {
    for (Entry entry : entries) {
      if (this.entries.putIfAbsent(entry.name(), entry) != null) {
        throw new IllegalArgumentException("two passes are named " + entry.name());
      }
    }
  }

  /** Returns the entry of a pass without options. */
  public static Entry entry(Pass<?, ?> pass) {
    return new Entry(
        pass.name(),
        pass.name(),
        pass.purpose(),
        pass.takes(),
        pass.gives(),
        call -> {
          call.requireOptions();
          return pass;
        });
  }

  /** Returns the entry of a module pass with options. */
  public static Entry entry(
      String usage, String purpose, Function<PassCall, Pass<?, ?>> constructor) {
    String name = usage.substring(0, usage.indexOf('('));
    return new Entry(name, usage, purpose, Stage.MODULE, Stage.MODULE, constructor);
  }

  /** Returns the entries by name. */
  public List<Entry> entries() {
    return new ArrayList<>(entries.values());
  }

  /**
   * Checks that a pass takes models of the stage that the previous one gives.
   *
   * @throws PartitaException {@link PassCode#PASS_ORDER}
   */
  void requireStage(Pass<?, ?> pass, Stage<?> given) {
    if (pass.takes().equals(given)) {
      return;
    }
    String remedy =
        entries.values().stream()
            .filter(entry -> entry.takes().equals(given) && entry.gives().equals(pass.takes()))
            .map(entry -> "write " + entry.name() + " before " + pass.name())
            .findFirst()
            .orElse("put " + pass.name() + " before the passes that give a " + given.label());
    throw Pipeline.stage("pass " + pass.name(), pass.takes(), given, remedy);
  }

  Pass<?, ?> create(PassCall call) {
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
