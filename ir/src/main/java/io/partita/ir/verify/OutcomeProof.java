package io.partita.ir.verify;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.eval.Absence;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Proves for each sequence of outcomes of run-time decisions that a module with guarded regions is
 * right: devices that exchange a value either all have it or all skip the exchange, and outputs
 * depend on no value that is absent or was discarded.
 *
 * <p>The module is run abstractly. Small integers and booleans that depend only on constants and
 * outcomes are computed; of all other values, only their presence on each device and their validity
 * is known. A comparison of such data has an unknown outcome: the run continues with each. Runs
 * that agree on all values that are still needed are one, so the number of runs stays small.
 *
 * <p>A fork's second operand is a guess about the first. It is valid only if a comparison of both
 * was true at the places that have the first one; otherwise it is discarded. A guess that those
 * places send is what they compare.
 */
final class OutcomeProof {
  /** The most elements of a value that is computed. */
  private static final int MAX_ELEMENTS = 64;

  /** The most runs at a time. */
  private static final int MAX_RUNS = 1024;

  /** What is known of a value on a device. */
  private sealed interface Item {
    boolean isValid();
  }

  private record Known(Tensor value) implements Item {
    @Override
    public boolean isValid() {
      return true;
    }
  }

  private record Data(boolean isValid) implements Item {}

  /** The outcome of a comparison at a place of a mesh. */
  private record Outcome(Node comparison, List<Integer> place) {}

  /**
   * A run.
   *
   * @param values the values that are still needed, by device; a device without one skipped it
   */
  private record Run(Map<Value, SortedMap<Integer, Item>> values, Map<Outcome, Boolean> outcomes) {
    Run copy() {
      return new Run(new HashMap<>(values), new HashMap<>(outcomes));
    }
  }

  private final Module module;
  private final LayoutInference layouts;
  private final Mesh mesh;
  private final Map<Value, Integer> lastUse = new IdentityHashMap<>();
  private final Map<Node, Set<Node>> verdicts = new IdentityHashMap<>();
  private final Map<Node, Integer> forgotten = new IdentityHashMap<>();
  private final Set<Diagnostic> violations = new LinkedHashSet<>();

  private OutcomeProof(Module module) {
    this.module = module;
    this.layouts = LayoutInference.of(module);
    this.mesh = module.placement().orElseThrow().mesh();
    List<Node> nodes = module.graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      for (Value operand : nodes.get(i).operands()) {
        lastUse.put(operand, i);
      }
      if (nodes.get(i).op() instanceof Communication.Fork && !isControl(nodes.get(i).result())) {
        Set<Node> found = verdicts(nodes, i);
        verdicts.put(nodes.get(i), found);
        for (Node verdict : found) {
          forgotten.put(verdict, i);
        }
      }
    }
    module.graph().outputs().forEach(out -> lastUse.put(out.value(), Integer.MAX_VALUE));
  }

  /** Returns the violations of a module whose layouts are valid; none without guarded regions. */
  static List<Diagnostic> violations(Module module) {
    boolean decides =
        module.graph().nodes().stream()
            .anyMatch(
                node ->
                    node.op() instanceof Communication.Gate
                        || node.op() instanceof Communication.Fork);
    return decides ? new OutcomeProof(module).run() : List.of();
  }

  /** The comparisons before a fork that depend on both of its operands. */
  private static Set<Node> verdicts(List<Node> nodes, int fork) {
    Set<Value> first = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Value> second = Collections.newSetFromMap(new IdentityHashMap<>());
    first.add(nodes.get(fork).operand(0));
    second.add(nodes.get(fork).operand(1));
    sent(nodes.get(fork)).ifPresent(second::add);
    Set<Node> found = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : nodes.subList(0, fork)) {
      boolean ofFirst = node.operands().stream().anyMatch(first::contains);
      boolean ofSecond = node.operands().stream().anyMatch(second::contains);
      if (ofFirst) {
        first.addAll(node.results());
      }
      if (ofSecond) {
        second.addAll(node.results());
      }
      if (ofFirst && ofSecond && isComparison(node)) {
        found.add(node);
      }
    }
    return found;
  }

  /**
   * The value of which a fork's second operand is the exact copy that the places of the first
   * operand give to all.
   */
  private static Optional<Value> sent(Node fork) {
    Value value = fork.operand(1);
    while (isExact(value)) {
      value = value.definition().operand(0);
    }
    return !value.isInput()
            && value.definition().op() instanceof Communication.Settle settle
            && settle.exit() instanceof Exit.Priority
            && settle.axis().equals(((Communication.Fork) fork.op()).axis())
            && value.definition().operand(1) == fork.operand(2)
        ? Optional.of(value.definition().operand(0))
        : Optional.empty();
  }

  private static boolean isExact(Value value) {
    return !value.isInput()
        && switch (value.definition().op()) {
          case Communication.Reshard reshard -> true;
          case Communication.Sync sync -> sync.codec().equals(Codec.EXACT);
          default -> false;
        };
  }

  private static boolean isComparison(Node node) {
    return node.op() instanceof Elementwise.Binary binary && binary.function().isComparison();
  }

  private static boolean isControl(Value value) {
    TensorType type = value.type();
    return (type.element() == ElementType.BOOL || type.element().isInteger())
        && type.shape().elements() <= MAX_ELEMENTS;
  }

  private List<Diagnostic> run() {
    Run first = new Run(new HashMap<>(), new HashMap<>());
    for (Value input : module.graph().inputs()) {
      SortedMap<Integer, Item> items = new TreeMap<>();
      layouts.layout(input).holders().forEach(device -> items.put(device, new Data(true)));
      first.values.put(input, items);
    }
    Set<Run> runs = Set.of(first);
    List<Node> nodes = module.graph().nodes();
    for (int i = 0; i < nodes.size() && violations.isEmpty(); i++) {
      Set<Run> next = new LinkedHashSet<>();
      for (Run run : runs) {
        for (Run after : after(run, nodes.get(i))) {
          int at = i;
          after.values.keySet().removeIf(value -> lastUse.getOrDefault(value, -1) <= at);
          after.outcomes.keySet().removeIf(o -> forgotten.getOrDefault(o.comparison, -1) <= at);
          next.add(after);
        }
      }
      if (next.size() > MAX_RUNS) {
        report(nodes.get(i), "at most " + MAX_RUNS + " outcomes at a time", "more");
      }
      runs = next;
    }
    if (violations.isEmpty()) {
      runs.forEach(this::outputs);
    }
    return List.copyOf(violations);
  }

  private void outputs(Run run) {
    for (Graph.Output output : module.graph().outputs()) {
      SortedMap<Integer, Item> items = run.values.get(output.value());
      for (int device : layouts.layout(output.value()).holders()) {
        Item item = items.get(device);
        if (item == null || !item.isValid()) {
          violations.add(
              new Diagnostic(
                  VerifierCode.OUTCOME,
                  "output " + output.name() + ", device " + device,
                  "a value that is present and verified for all outcomes",
                  item == null ? "none for some" : "a discarded one for some",
                  "choose it by settle with the priority of the group that has it"));
        }
      }
    }
  }

  private void report(Node node, String expected, String found) {
    violations.add(new Diagnostic(VerifierCode.OUTCOME, "node " + node, expected, found, ""));
  }

  private List<Run> after(Run run, Node node) {
    Run after = run.copy();
    if (node.op() instanceof Communication.Relayout change) {
      after.values.put(node.result(), relayout(node, change, run.values.get(node.operand(0))));
      return List.of(after);
    }
    NodeLayouts derived = layouts.nodes().get(node);
    List<SortedMap<Integer, Item>> results = new ArrayList<>();
    node.results().forEach(result -> results.add(new TreeMap<>()));
    Map<List<Integer>, List<Integer>> unknown = new LinkedHashMap<>();
    for (int device : derived.devices()) {
      List<Item> items = new ArrayList<>();
      node.operands().forEach(operand -> items.add(run.values.get(operand).get(device)));
      int place = place(node, device);
      if (isSkipped(node, items, place)) {
        continue;
      }
      List<Item> found = compute(run, node, derived, device, items, place);
      boolean isOutcome =
          isComparison(node)
              && found.getFirst() instanceof Data
              && node.result().type().shape().elements() == 1;
      if (isOutcome) {
        unknown.computeIfAbsent(version(node, device), key -> new ArrayList<>()).add(device);
      }
      for (int i = 0; i < found.size(); i++) {
        results.get(i).put(device, found.get(i));
      }
    }
    for (int i = 0; i < results.size(); i++) {
      after.values.put(node.results().get(i), results.get(i));
    }
    List<Run> all = List.of(after);
    for (Map.Entry<List<Integer>, List<Integer>> version : unknown.entrySet()) {
      List<Run> both = new ArrayList<>();
      for (Run each : all) {
        both.add(decided(each, node, version, false));
        both.add(decided(each, node, version, true));
      }
      all = both;
    }
    return all;
  }

  private static Run decided(
      Run run, Node node, Map.Entry<List<Integer>, List<Integer>> version, boolean outcome) {
    Run decided = run.copy();
    SortedMap<Integer, Item> items = new TreeMap<>(run.values.get(node.result()));
    Tensor value = Tensor.filled(node.result().type(), outcome ? 1 : 0);
    version.getValue().forEach(device -> items.put(device, new Known(value)));
    decided.values.put(node.result(), items);
    decided.outcomes.put(new Outcome(node, version.getKey()), outcome);
    return decided;
  }

  private int place(Node node, int device) {
    return node.op() instanceof Communication.Variation variation
        ? mesh.coordinate(device, variation.axis())
        : 0;
  }

  /** The coordinates of a device on the axes over which a result varies. */
  private List<Integer> version(Node node, int device) {
    return layouts.layout(node.result()).varying().stream()
        .map(axis -> mesh.coordinate(device, axis))
        .toList();
  }

  private static boolean isSkipped(Node node, List<Item> items, int place) {
    List<Tensor> tensors = new ArrayList<>();
    for (Item item : items) {
      tensors.add(item instanceof Known known ? known.value : null);
    }
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) == null && Absence.isRead(node.op(), tensors, place, i)) {
        return true;
      }
    }
    return node.op() instanceof Communication.Gate
        && items.get(1) instanceof Known condition
        && !condition.value.getBoolean(0);
  }

  private List<Item> compute(
      Run run, Node node, NodeLayouts derived, int device, List<Item> items, int place) {
    return switch (node.op()) {
      case Communication.Gate gate -> {
        if (!(items.get(1) instanceof Known)) {
          report(node, "a condition that only outcomes decide", "one that depends on data");
        }
        yield List.of(items.getFirst());
      }
      case Communication.Fork fork -> List.of(forked(run, node, items, place));
      case Communication.Settle(var axis, Exit.Priority priority) -> {
        if (!(items.get(1) instanceof Known accepted)) {
          report(node, "places that only outcomes decide", "some that depend on data");
          yield List.of(new Data(false));
        }
        List<Tensor> operands = new ArrayList<>(Collections.nCopies(2, null));
        operands.set(1, accepted.value);
        boolean isChosen = Absence.isRead(node.op(), operands, place, 0);
        // Another place adds zeros, and nothing that it computed.
        yield List.of(isChosen ? new Data(items.getFirst().isValid()) : new Data(true));
      }
      default -> plain(node, derived, device, items, place);
    };
  }

  private List<Item> plain(
      Node node, NodeLayouts derived, int device, List<Item> items, int place) {
    List<Tensor> tensors = new ArrayList<>();
    items.forEach(item -> tensors.add(item instanceof Known known ? known.value : null));
    List<Boolean> read = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      read.add(items.get(i) != null && Absence.isRead(node.op(), tensors, place, i));
    }
    boolean isKnown = node.results().stream().allMatch(OutcomeProof::isControl);
    boolean isValid = true;
    for (int i = 0; i < items.size(); i++) {
      if (read.get(i)) {
        isKnown &= items.get(i) instanceof Known;
        isValid &= items.get(i).isValid();
      } else if (tensors.get(i) == null) {
        Value operand = node.operand(i);
        TensorType local = layouts.layout(operand).localType(operand.type(), device);
        isKnown &= isControl(operand);
        tensors.set(i, isControl(operand) ? Tensor.filled(local, 0) : null);
      }
    }
    if (isKnown) {
      List<Item> known = new ArrayList<>();
      MeshEvaluator.local(node, derived, device, tensors)
          .forEach(tensor -> known.add(new Known(tensor)));
      return known;
    }
    return Collections.nCopies(node.results().size(), new Data(isValid));
  }

  private Item forked(Run run, Node fork, List<Item> items, int place) {
    if (!(items.get(2) instanceof Known chosen)) {
      report(fork, "places that only outcomes decide", "some that depend on data");
      return new Data(false);
    }
    if (chosen.value.getBoolean(place)) {
      return items.get(0);
    }
    Item guess = items.get(1);
    return guess instanceof Known
        ? guess
        : new Data(guess.isValid() && isAccepted(run, fork, chosen.value));
  }

  /** Whether a comparison with the exact value was true wherever that is. */
  private boolean isAccepted(Run run, Node fork, Tensor chosen) {
    String axis = ((Communication.Fork) fork.op()).axis();
    boolean isCompared = false;
    for (Map.Entry<Outcome, Boolean> outcome : run.outcomes.entrySet()) {
      Node comparison = outcome.getKey().comparison;
      int index = layouts.layout(comparison.result()).varying().indexOf(axis);
      if (verdicts.get(fork).contains(comparison)
          && (index < 0 || chosen.getBoolean(outcome.getKey().place.get(index)))) {
        if (!outcome.getValue()) {
          return false;
        }
        isCompared = true;
      }
    }
    return isCompared;
  }

  private SortedMap<Integer, Item> relayout(
      Node node, Communication.Relayout change, SortedMap<Integer, Item> parts) {
    Layout from = layouts.layout(node.operand(0));
    Set<String> axes = new Resharding(from, change.to()).kinds().keySet();
    boolean isKnown = isControl(node.result());
    SortedMap<Integer, Tensor> tensors = new TreeMap<>();
    for (int device : from.holders()) {
      Item item = parts.get(device);
      isKnown &= item == null || item instanceof Known;
      tensors.put(
          device,
          item instanceof Known known
              ? known.value
              : isControl(node.result())
                  ? Tensor.filled(from.localType(node.result().type(), device), 0)
                  : null);
    }
    SortedMap<Integer, Item> results = new TreeMap<>();
    for (int device : change.to().holders()) {
      boolean isPresent = false;
      boolean isAbsent = false;
      boolean isValid = true;
      for (int other : from.holders()) {
        if (isPeer(device, other, axes)) {
          Item item = parts.get(other);
          isPresent |= item != null;
          isAbsent |= item == null;
          isValid &= item == null || item.isValid();
        }
      }
      if (isPresent && isAbsent) {
        report(
            node,
            "an exchange in which all devices take part, or none",
            "one that device " + device + " or a peer skips alone for some outcomes");
      } else if (isPresent) {
        results.put(device, new Data(isValid));
      }
    }
    if (isKnown && violations.isEmpty()) {
      SortedMap<Integer, Tensor> joined =
          MeshEvaluator.relayout(change, from, node.result().type(), tensors);
      results.replaceAll((device, item) -> new Known(joined.get(device)));
    }
    return results;
  }

  private boolean isPeer(int device, int other, Set<String> axes) {
    return mesh.axes().stream()
        .filter(axis -> !axes.contains(axis.name()))
        .allMatch(
            axis -> mesh.coordinate(device, axis.name()) == mesh.coordinate(other, axis.name()));
  }
}
