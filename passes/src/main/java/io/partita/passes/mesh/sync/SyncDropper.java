package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutDerivation;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Copies a graph without some syncs. Where the result of one was read, devices have their own term
 * of it and what all have; where it became a term of a later sum, that still is the sum of all
 * terms. A sum of which the devices' terms come from different versions is settled at once.
 */
final class SyncDropper {
  private final Module module;
  private final Map<Node, DroppedSync> dropped;
  private final GraphBuilder builder;
  private final LayoutDerivation derivation;
  private final Map<Value, Value> copies = new IdentityHashMap<>();

  /** By dropped sync's result: the sum that it joined. */
  private final Map<Value, Value> sums = new IdentityHashMap<>();

  /** By a linear's result: the same without its bias. */
  private final Map<Value, Value> unbiased = new IdentityHashMap<>();

  /** The last dropped sync; what goes wrong after it is because of it. */
  private DroppedSync last;

  SyncDropper(Module module, Map<Node, DroppedSync> dropped) {
    this.module = module;
    this.dropped = dropped;
    this.builder = new GraphBuilder(module.graph().name());
    this.derivation = new LayoutDerivation(module.placement().orElseThrow().mesh());
    for (DroppedSync sync : dropped.values()) {
      for (Value term : sync.terms()) {
        if (DroppedSync.bias(term.definition()) != null) {
          unbiased.put(term, null);
        }
      }
    }
  }

  Graph run() {
    Placement placement = module.placement().orElseThrow();
    for (Value input : module.graph().inputs()) {
      Value copy = builder.input(input.name(), input.type());
      derivation.input(copy, placement.layout(input));
      copies.put(input, copy);
    }
    for (Node node : module.graph().nodes()) {
      builder.at(node.name());
      copy(node);
    }
    for (Graph.Output output : module.graph().outputs()) {
      Value value = copies.get(output.value());
      if (!layout(value).varying().isEmpty()) {
        throw last.refused(
            "a later sum that joins what devices compute",
            "output \"" + output.name() + "\", which would vary");
      }
      builder.output(output.name(), value);
    }
    return builder.finish();
  }

  private void copy(Node node) {
    if (dropped.containsKey(node)) {
      last = dropped.get(node);
      sums.put(node.result(), copies.get(node.operand(0)));
      copies.put(node.result(), own(last));
    } else if (node.op() instanceof Communication.Reshard(Layout to)
        && sums.containsKey(node.operand(0))
        && layout(sums.get(node.operand(0))).equals(to)) {
      copies.put(node.result(), sums.get(node.operand(0)));
    } else if (unbiased.containsKey(node.result())) {
      Structured.Linear linear = (Structured.Linear) node.op();
      Value product =
          add(
              new Structured.Linear(linear.transposed(), false),
              copies.get(node.operand(0)),
              copies.get(node.operand(1)));
      unbiased.put(node.result(), product);
      copies.put(node.result(), sum(product, copies.get(node.operand(2))));
    } else {
      same(node);
    }
  }

  private void same(Node node) {
    List<Value> operands = node.operands().stream().map(copies::get).toList();
    List<String> varying = operands.isEmpty() ? List.of() : layout(operands.getFirst()).varying();
    Op op = node.op();
    if (op instanceof Structured.Attention
        && operands.stream().anyMatch(operand -> !layout(operand).varying().isEmpty())) {
      throw last.refused("a sum before the next attention", "none before " + node);
    } else if (op instanceof Communication.Reshard(Layout to) && !varying.isEmpty()) {
      op = new Communication.Reshard(to.withVarying(varying));
    }
    List<Value> results = builder.addNode(op, operands).results();
    require(results.getFirst().definition());
    for (int i = 0; i < results.size(); i++) {
      copies.put(node.results().get(i), settled(results.get(i)));
    }
  }

  /** What each device goes on with: its term, and what all devices have. */
  private Value own(DroppedSync sync) {
    List<Value> terms = new ArrayList<>();
    for (Value term : sync.terms()) {
      terms.add(unbiased.getOrDefault(term, copies.get(term)));
    }
    Value own = terms.stream().reduce(this::sum).orElseThrow();
    for (String axis : sync.axes()) {
      own = add(new Communication.Localize(axis), own);
    }
    for (Value whole : sync.wholes().reversed()) {
      own = sum(copies.get(whole), own);
    }
    return own;
  }

  private Value settled(Value value) {
    Value settled = value;
    for (String axis : layout(value).varying()) {
      if (layout(value).partial().containsKey(axis)) {
        settled = add(new Communication.Settle(axis, new Exit.Term()), settled);
      }
    }
    return settled;
  }

  private Value sum(Value left, Value right) {
    return add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private Value add(Op op, Value... operands) {
    Node node = builder.addNode(op, List.of(operands));
    require(node);
    return node.result();
  }

  private void require(Node node) {
    List<Diagnostic> wrong = derivation.add(node);
    if (!wrong.isEmpty() && last == null) {
      throw new PartitaException(wrong);
    } else if (!wrong.isEmpty()) {
      Diagnostic first = wrong.getFirst();
      throw last.refused(
          node + " takes " + first.expected(), first.found() + ", as devices have no more of it");
    }
  }

  private Layout layout(Value value) {
    return Optional.ofNullable(value).flatMap(derivation::layout).orElseThrow();
  }
}
