package io.partita.tests.mesh;

import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.passes.mesh.shard.Sharding;
import io.partita.passes.mesh.shard.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs a distributed module in lock step. */
final class Sharded implements ModuleRunner {
  /**
   * A sync between devices.
   *
   * @param kinds the kinds by mesh axis
   */
  record Exchange(Node node, Map<String, SyncKind> kinds) {
    boolean is(SyncKind kind) {
      return kinds.values().stream().allMatch(each -> each == kind);
    }

    /**
     * Whether it exchanges features, not a range or a zero-point correction of a dynamically
     * quantised model.
     */
    boolean hasFeatures() {
      var type = node.result().type();
      return type.rank() > 0 && !type.shape().fromEnd(0).is(1);
    }
  }

  private final Strategy strategy;
  private Sharding sharding;
  private Module module;

  Sharded(Strategy strategy) {
    this.strategy = strategy;
  }

  Sharding sharding() {
    return sharding;
  }

  /** Returns the module with its syncs. */
  Module module() {
    return module;
  }

  @Override
  public Prepared prepare(Module whole) {
    sharding = Sharding.of(whole, strategy);
    module = sharding.sharded();
    return inputs -> MeshEvaluator.run(module, inputs);
  }

  /** Returns the syncs, in execution order. */
  List<Exchange> exchanges() {
    List<Exchange> exchanges = new ArrayList<>();
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync) {
        exchanges.add(new Exchange(node, sync.kinds()));
      }
    }
    return exchanges;
  }

  /** Returns the number of exchanges of features with a given kind. */
  long count(SyncKind kind) {
    return exchanges().stream()
        .filter(exchange -> exchange.is(kind) && exchange.hasFeatures())
        .count();
  }
}
