package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutDerivation;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Copies a graph without some syncs. Users of a dropped result get each device's version of the
 * sum: its own terms, and the whole of values that all devices have. If the result becomes a term
 * of a later sum, that remains the sum of all terms. A sum whose terms come from different versions
 * is settled at once.
 */
final class SyncDropper {
  private final Module module;
  private final Map<Node, DroppedSync> dropped;
  private final GraphBuilder builder;
  private final LayoutDerivation derivation;
  private final Map<Value, Value> copies = new IdentityHashMap<>();

  /** The sum of each dropped sync, by its result. */
  private final Map<Value, Value> sums = new IdentityHashMap<>();

  /** Products without their bias, by their result; null before they are copied. */
  private final Map<Value, Value> unbiased = new IdentityHashMap<>();

  /** The last dropped sync, to which diagnostics after it refer. */
  private DroppedSync last;

  SyncDropper(Module module, Map<Node, DroppedSync> dropped) {
    this.module = module;
    this.dropped = dropped;
    this.builder = new GraphBuilder(module.graph().name());
    this.derivation = new LayoutDerivation(module.placement().orElseThrow().mesh());
    for (DroppedSync sync : dropped.values()) {
      sync.parts()
          .forEach(
              (value, part) -> {
                if (part == DroppedSync.Part.BIASED_TERM) {
                  unbiased.put(value, null);
                }
              });
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
      builder.at(node);
      copy(node);
    }
    for (Graph.Output output : module.graph().outputs()) {
      Value value = copies.get(output.value());
      if (!layout(value).varying().isEmpty()) {
        throw last.refused(
            "a later sum of terms that devices compute",
            "output \"" + output.name() + "\", which would be varying");
      }
      builder.output(output.name(), value);
    }
    return builder.finish();
  }

  private void copy(Node node) {
    if (dropped.containsKey(node)) {
      last = dropped.get(node);
      sums.put(node.result(), copies.get(node.operand(0)));
      copies.put(node.result(), own(node.operand(0), new IdentityHashMap<>()));
    } else if (node.op() instanceof Communication.Reshard(Layout to)
        && sums.containsKey(node.operand(0))
        && layout(sums.get(node.operand(0))).equals(to)) {
      copies.put(node.result(), sums.get(node.operand(0)));
    } else if (unbiased.containsKey(node.results().getFirst())) {
      int bias = node.operands().size() - 1;
      List<Value> operands = node.operands().subList(0, bias).stream().map(copies::get).toList();
      Value product = add(DroppedSync.withoutBias(node), operands);
      unbiased.put(node.result(), product);
      copies.put(node.result(), sum(product, copies.get(node.operand(bias))));
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
    } else if (op instanceof Communication.Sync && !varying.isEmpty()) {
      throw last.refused(
          "only a later sum of the devices' terms",
          node + " of " + new ShardedType(node.operand(0).type(), layout(operands.getFirst())));
    } else if (op instanceof Communication.Reshard(Layout to) && !varying.isEmpty()) {
      op = new Communication.Reshard(to.withVarying(varying));
    }
    List<Value> results = builder.addNode(op, operands).results();
    require(results.getFirst().definition());
    for (int i = 0; i < results.size(); i++) {
      copies.put(node.results().get(i), settled(results.get(i)));
    }
  }

  /**
   * Returns each device's version of a value that leads to a dropped sync.
   *
   * @param known the existing versions
   */
  private Value own(Value value, Map<Value, Value> known) {
    DroppedSync.Part part = last.parts().get(value);
    if (part == null) {
      return copies.get(value);
    }
    Value own = known.get(value);
    if (own == null) {
      Node node = value.definition();
      own =
          switch (part) {
            case TERM -> localized(copies.get(value));
            case BIASED_TERM ->
                sum(localized(unbiased.get(value)), own(DroppedSync.bias(node), known));
            case WHOLE -> copies.get(node.operand(0));
            case COMPOUND ->
                add(node.op(), node.operands().stream().map(from -> own(from, known)).toList());
          };
      known.put(value, own);
    }
    return own;
  }

  private Value localized(Value term) {
    Value own = term;
    for (String axis : last.axes()) {
      own = add(new Communication.Localize(axis), List.of(own));
    }
    return own;
  }

  private Value settled(Value value) {
    Value settled = value;
    for (String axis : layout(value).varying()) {
      if (layout(value).partial().containsKey(axis)) {
        settled = add(new Communication.Settle(axis, new Exit.Term()), List.of(settled));
      }
    }
    return settled;
  }

  private Value sum(Value left, Value right) {
    return add(new Elementwise.Binary(BinaryFunction.ADD), List.of(left, right));
  }

  private Value add(Op op, List<Value> operands) {
    Node node = builder.addNode(op, operands);
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
          node + " takes " + first.expected(),
          first.found() + ", because the devices have only their terms");
    }
  }

  private Layout layout(Value value) {
    return Optional.ofNullable(value).flatMap(derivation::layout).orElseThrow();
  }
}
