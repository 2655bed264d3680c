package io.partita.ir.graph;

import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * A mutable copy of a graph: nodes are added, values are replaced, and unused nodes are removed.
 * {@link #freeze} returns the changed graph; the original one is not changed.
 *
 * <p>A replaced value may be passed to any method in place of its replacement, which {@link
 * #resolve} returns. Replacing takes constant time, regardless of the number of users.
 */
public final class GraphEditor {
  private final Graph original;
  private final Map<Value, Value> replacements = new IdentityHashMap<>();
  private final Map<Value, Integer> uses = new IdentityHashMap<>();
  private final Set<Node> superseded = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * Every live node by its position; an added node has the position of the node before which it was
   * added.
   */
  private final Map<Node, Place> places = new IdentityHashMap<>();

  private record Place(int original, int added) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byOriginal = Integer.compare(original, other.original);
      return byOriginal != 0 ? byOriginal : Integer.compare(added, other.added);
    }
  }

  /** The nodes added since {@link #before}. */
  private final List<Node> addedHere = new ArrayList<>();

  private List<Value> inputs;
  private List<Graph.Output> outputs;
  private int cursor;
  private int added = Integer.MIN_VALUE;
  private Origin origin = Origin.NONE;

  public GraphEditor(Graph graph) {
    this.original = graph;
    this.inputs = graph.inputs();
    this.outputs = graph.outputs();
    for (Node node : graph.nodes()) {
      places.put(node, new Place(places.size(), Integer.MAX_VALUE));
      node.operands().forEach(operand -> uses.merge(operand, 1, Integer::sum));
    }
    outputs.forEach(output -> uses.merge(output.value(), 1, Integer::sum));
    cursor = places.size();
  }

  public List<Value> inputs() {
    return inputs;
  }

  public List<Graph.Output> outputs() {
    return outputs.stream()
        .map(output -> new Graph.Output(output.name(), resolve(output.value())))
        .toList();
  }

  /**
   * Sets the insertion point directly before {@code node}, and its origin as that of the next
   * nodes.
   */
  public GraphEditor before(Node node) {
    cursor = places.get(node).original();
    origin = node.origin();
    addedHere.clear();
    return this;
  }

  /** Sets the name of the next nodes; block and role are kept. */
  public GraphEditor named(String name) {
    origin = origin.withName(name);
    return this;
  }

  /** Sets the role of the next nodes in the current block; no role if the block is unknown. */
  public GraphEditor inRole(String role) {
    if (origin.block().isPresent()) {
      origin = origin.with(origin.block(), role);
    }
    return this;
  }

  /** Sets the origin of the next nodes to that of {@code node}. */
  public GraphEditor from(Node node) {
    origin = node.origin();
    return this;
  }

  /**
   * Sets the origin of the next nodes to that of a value: its defining node, or the name of a graph
   * input.
   */
  public GraphEditor from(Value value) {
    origin = value.isInput() ? Origin.named(value.name()) : value.definition().origin();
    return this;
  }

  public boolean isLive(Node node) {
    return places.containsKey(node);
  }

  /** Returns the current replacement of {@code value}, or itself. */
  public Value resolve(Value value) {
    Value root = value;
    while (replacements.get(root) instanceof Value next) {
      root = next;
    }
    Value step = value;
    while (step != root) {
      Value next = replacements.put(step, root);
      step = next;
    }
    return root;
  }

  public Value operand(Node node, int index) {
    return resolve(node.operand(index));
  }

  public List<Value> operands(Node node) {
    return node.operands().stream().map(this::resolve).toList();
  }

  /** Returns the node that defines {@code value} now; empty for a graph input. */
  public Optional<Node> definition(Value value) {
    return Optional.ofNullable(resolve(value).definition());
  }

  /** Returns the data of {@code value} if it is a constant. */
  public Optional<Tensor> constant(Value value) {
    return definition(value).flatMap(Node::constant);
  }

  /** Returns the number of uses of {@code value} by nodes and graph outputs. */
  public int uses(Value value) {
    return uses.getOrDefault(resolve(value), 0);
  }

  /**
   * Adds a node with one result.
   *
   * @throws TypeMismatch if the operands don't fit
   */
  public Value add(Op op, Value... operands) {
    return addNode(op, List.of(operands)).result();
  }

  public Value add(Op op, List<Value> operands) {
    return addNode(op, operands).result();
  }

  public Value constant(Tensor data) {
    return add(new Source.Constant(data));
  }

  /**
   * Adds a node.
   *
   * @throws TypeMismatch if the operands don't fit
   */
  public Node addNode(Op op, List<Value> operands) {
    List<Value> resolved = operands.stream().map(this::resolve).toList();
    Node node =
        new Node(op, resolved, op.resultTypes(resolved.stream().map(Value::type).toList()), origin);
    places.put(node, new Place(cursor, added++));
    addedHere.add(node);
    resolved.forEach(operand -> uses.merge(operand, 1, Integer::sum));
    return node;
  }

  /** Adds a graph input after the existing ones. */
  public Value addInput(String name, io.partita.ir.type.TensorType type) {
    Value input = Value.input(name, inputs.size(), type);
    List<Value> more = new ArrayList<>(inputs);
    more.add(input);
    inputs = more;
    return input;
  }

  /**
   * Replaces a graph input by one of the same name and position but another type. All users of the
   * old one must be given another operand before {@link #freeze}.
   */
  public Value retypeInput(Value input, io.partita.ir.type.TensorType type) {
    Value changed = Value.input(input.name(), input.index(), type);
    inputs = inputs.stream().map(other -> other == input ? changed : other).toList();
    return changed;
  }

  /** Removes a graph input that is unused or was replaced. */
  public void removeInput(Value input) {
    if (!replacements.containsKey(input) && uses(input) > 0) {
      throw new IllegalStateException("input " + input + " is still read");
    }
    inputs = inputs.stream().filter(other -> other != input).toList();
  }

  public void addOutput(String name, Value value) {
    List<Graph.Output> more = new ArrayList<>(outputs);
    more.add(new Graph.Output(name, value));
    uses.merge(resolve(value), 1, Integer::sum);
    outputs = more;
  }

  /** Sets the value of an output, which may have another type; its position is kept. */
  public void setOutput(String name, Value value) {
    Value before =
        outputs.stream()
            .filter(output -> output.name().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no output is named " + name))
            .value();
    uses.merge(resolve(value), 1, Integer::sum);
    outputs =
        outputs.stream()
            .map(output -> output.name().equals(name) ? new Graph.Output(name, value) : output)
            .toList();
    release(resolve(before));
  }

  public void removeOutput(String name) {
    for (Graph.Output output : outputs) {
      if (output.name().equals(name)) {
        outputs = outputs.stream().filter(other -> other != output).toList();
        release(resolve(output.value()));
        return;
      }
    }
    throw new IllegalArgumentException("no output is named " + name);
  }

  /** Replaces all uses of {@code value} by {@code by}, which has the same type. */
  public void replace(Value value, Value by) {
    replace(value, by, true);
  }

  /**
   * Like {@link #replace}, for another type that every user accepts; {@link #freeze} infers the
   * types of the users again.
   */
  public void replaceRetyped(Value value, Value by) {
    replace(value, by, false);
  }

  private void replace(Value value, Value by, boolean sameType) {
    Value from = resolve(value);
    Value to = resolve(by);
    if (from == to) {
      return;
    }
    if (sameType && !from.type().equals(to.type())) {
      throw new IllegalArgumentException("replacing " + from + " by " + to + " changes the type");
    }
    int moved = uses.getOrDefault(from, 0);
    uses.remove(from);
    uses.merge(to, moved, Integer::sum);
    replacements.put(from, to);
    if (from.definition() != null) {
      dropIfDead(from.definition());
    }
  }

  /** Allows an exchange to be removed when it is unused, because another one has its messages. */
  public void supersede(Node exchange) {
    superseded.add(exchange);
  }

  /** Removes a node that turned out to be unused, unless other devices wait for it. */
  private void dropIfDead(Node node) {
    Deque<Node> work = new ArrayDeque<>();
    work.push(node);
    while (!work.isEmpty()) {
      Node candidate = work.pop();
      if (places.containsKey(candidate)
          && (!(candidate.op() instanceof Communication.Exchange) || superseded.contains(candidate))
          && candidate.results().stream().allMatch(result -> isUnread(result))) {
        places.remove(candidate);
        for (Value operand : candidate.operands()) {
          Value resolved = resolve(operand);
          if (uses.merge(resolved, -1, Integer::sum) == 0 && resolved.definition() != null) {
            work.push(resolved.definition());
          }
        }
      }
    }
  }

  /** Removes the nodes added since {@link #before} that turned out to be unused. */
  public void dropUnusedAdditions() {
    addedHere.reversed().forEach(this::dropIfDead);
    addedHere.clear();
  }

  private boolean isUnread(Value result) {
    return replacements.containsKey(result) || uses.getOrDefault(result, 0) == 0;
  }

  private void release(Value value) {
    if (uses.merge(value, -1, Integer::sum) == 0 && value.definition() != null) {
      dropIfDead(value.definition());
    }
  }

  /** Removes all nodes on which no output and no message depends, as {@link #freeze} does. */
  public void dropDead() {
    List.copyOf(places.keySet()).forEach(this::dropIfDead);
  }

  /** Returns the live nodes in topological order. */
  public List<Node> nodes() {
    Map<Node, Integer> missing = new IdentityHashMap<>();
    Map<Node, List<Node>> readers = new IdentityHashMap<>();
    PriorityQueue<Node> ready =
        new PriorityQueue<>((left, right) -> places.get(left).compareTo(places.get(right)));
    for (Node node : places.keySet()) {
      int count = 0;
      for (Value operand : node.operands()) {
        Node definition = resolve(operand).definition();
        if (definition != null) {
          readers.computeIfAbsent(definition, key -> new ArrayList<>(2)).add(node);
          count++;
        }
      }
      missing.put(node, count);
      if (count == 0) {
        ready.add(node);
      }
    }
    List<Node> order = new ArrayList<>(places.size());
    while (!ready.isEmpty()) {
      Node node = ready.poll();
      order.add(node);
      for (Node reader : readers.getOrDefault(node, List.of())) {
        if (missing.merge(reader, -1, Integer::sum) == 0) {
          ready.add(reader);
        }
      }
    }
    if (order.size() != places.size()) {
      throw new IllegalStateException("a replacement made a cycle");
    }
    return order;
  }

  /** Returns the changed graph, without nodes on which no output and no message depends. */
  public Graph freeze() {
    dropDead();
    GraphBuilder builder = new GraphBuilder(original.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    for (Value input : inputs) {
      copies.put(input, builder.input(input.name(), input.type()));
    }
    for (Node node : nodes()) {
      List<Value> operands =
          node.operands().stream().map(operand -> copies.get(resolve(operand))).toList();
      Node copy = builder.at(node).addNode(node.op(), operands);
      for (int i = 0; i < copy.results().size(); i++) {
        copies.put(node.results().get(i), copy.results().get(i));
      }
    }
    for (Graph.Output output : outputs) {
      builder.output(output.name(), copies.get(resolve(output.value())));
    }
    return builder.finish();
  }
}
