package io.partita.passes.mesh.speculate;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Communication.Relayout;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.ModulePass;
import io.partita.passes.graph.speculate.SpeculatedAttention;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Algorithm 2 of "Attention-Level Speculation": a second group of devices runs ahead on an
 * approximate attention. The mesh gets an axis of two places; each device of a group has a partner
 * in the other one.
 *
 * <p>At each attention, the group that has the exact input is the sender. It computes the exact
 * attention and verifies the approximation; then it has priority 0 if the approximation is
 * accepted, otherwise 2. The other group, the receiver, continues with the approximation, which it
 * computes too or gets from the sender ({@link Speculation.Guess}), and has priority 1. A group of
 * priority 0 skips all operations up to the end of the region, where the group with the higher
 * priority gives its result to both. There the groups also learn who is the next sender. So keys
 * and values are computed from the same input on both, and no cache has to be repaired.
 */
public final class SpeculateGroups implements ModulePass {
  /** The name of the axis. */
  public static final String AXIS = "speculative";

  private static final int PLACES = 2;
  private static final long SKIP = 0;
  private static final long RECEIVER = 1;
  private static final long EXACT = 2;

  private final Speculation options;
  private final OptionalLong devices;

  /** Doubles the devices of a module. */
  public SpeculateGroups(Speculation options) {
    this(options, OptionalLong.empty());
  }

  /**
   * @param devices the number of devices of both groups; a module that isn't distributed yet is
   *     split over half of them by heads and inner features. Empty for twice as many as before
   */
  public SpeculateGroups(Speculation options, OptionalLong devices) {
    this.options = options;
    this.devices = devices;
  }

  @Override
  public String name() {
    return "speculate";
  }

  @Override
  public String purpose() {
    return "let a second group of devices run ahead on an approximate attention";
  }

  /**
   * @param whole a module of the graph or mesh dialect with raised attention over a KV cache
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.passes.graph.speculate.SpeculationCode}
   */
  @Override
  public Module run(Module whole) {
    Module module = oneGroup(whole);
    if (module.placement().filter(placement -> placement.mesh().has(AXIS)).isPresent()) {
      throw SpeculationFailure.twice();
    }
    List<Node> attentions =
        module.graph().nodes().stream()
            .filter(SpeculatedAttention::isPossible)
            .filter(SpeculatedAttention::readsCache)
            .toList();
    if (attentions.isEmpty()) {
      throw SpeculationFailure.noCache(module.graph().name());
    }
    attentions.forEach(options::requireChunks);
    return new Rewrite(module, RegionEnds.of(module, attentions)).run();
  }

  /** Distributes a module over the devices of one group. */
  private Module oneGroup(Module module) {
    if (devices.isEmpty()) {
      return module;
    }
    long group = devices.getAsLong() / PLACES;
    if (group < 1 || devices.getAsLong() % PLACES != 0) {
      throw SpeculationFailure.oddDevices(devices.getAsLong());
    }
    int before = module.placement().map(placement -> placement.mesh().devices()).orElse(1);
    if (module.placement().isPresent() || group == 1) {
      if (before != group) {
        throw SpeculationFailure.otherDevices(devices.getAsLong(), before);
      }
      return module;
    }
    return new ShardPass(Strategy.tensor(Math.toIntExact(group))).run(module);
  }

  private final class Rewrite {
    private final Module module;
    private final Graph graph;
    private final SequencedMap<Node, Node> ends;
    private final WiderMesh wider;
    private final Optional<LayoutInference> layouts;
    private final GraphEditor editor;

    /** The original values that vary over the new axis. */
    private final Set<Value> varying = Collections.newSetFromMap(new IdentityHashMap<>());

    /** The place that has the exact input, {@code bool[2]}. */
    private Value sender;

    /** The priority of each place after the last attention, {@code i32[]}. */
    private Value priority;

    Rewrite(Module module, SequencedMap<Node, Node> ends) {
      this.module = module;
      this.graph = module.graph();
      this.ends = ends;
      this.wider = WiderMesh.of(module, AXIS, PLACES);
      this.layouts = module.placement().map(placement -> LayoutInference.of(module));
      this.editor = new GraphEditor(graph);
    }

    Module run() {
      Map<Node, Node> regions = new IdentityHashMap<>();
      ends.forEach((attention, end) -> regions.put(end, attention));
      List<Node> nodes = graph.nodes();
      for (int i = 0; i < nodes.size(); i++) {
        Node node = nodes.get(i);
        editor.before(node);
        boolean isVarying = node.operands().stream().anyMatch(varying::contains);
        if (regions.containsKey(node)) {
          finish(node, op(node, isVarying));
        } else if (ends.containsKey(node)) {
          speculate(node);
          varying.addAll(node.results());
        } else {
          if (node.op() instanceof Relayout) {
            Value changed = editor.add(op(node, isVarying), editor.operands(node));
            editor.replace(node.result(), changed);
          }
          if (isVarying) {
            varying.addAll(node.results());
          }
        }
      }
      return new Module(
          editor.freeze(),
          module.states(),
          Optional.of(wider.placement(graph.inputs())),
          module.ranges());
    }

    private Op op(Node node, boolean isVarying) {
      return node.op() instanceof Relayout change
          ? wider.change(change, isVarying ? Optional.of(AXIS) : Optional.empty())
          : node.op();
    }

    private void speculate(Node attention) {
      if (sender == null) {
        sender =
            editor.constant(Tensor.ofLongs(TensorType.of(ElementType.BOOL, 2), new long[] {1, 0}));
      }
      SpeculatedAttention parts = new SpeculatedAttention(editor, options, attention);
      boolean isSent = options.guess() == Speculation.Guess.SENT;
      Value approximate = isSent ? null : parts.approximation();
      Value received = approximate;
      Value isSender = fork(flag(true), flag(false));
      List<Value> operands = new ArrayList<>(editor.operands(attention));
      operands.set(0, editor.add(new Communication.Gate(), operands.getFirst(), isSender));
      if (isSent) {
        approximate = parts.approximation(operands.getFirst());
        // Before the exact attention, so that the receiver has it early.
        received = shared(approximate, attention);
      }
      Value exact = editor.add(attention.op(), operands);
      Value accepted =
          editor.add(
              new Movement.Reshape(new Shape(List.of())),
              parts.accepted(approximate, exact, sum -> joined(sum, attention)));
      Value word = editor.add(new Elementwise.Select(), accepted, word(SKIP), word(EXACT));
      priority = fork(word, word(RECEIVER));
      Value runs = editor.add(new Elementwise.Binary(BinaryFunction.GREATER), priority, word(SKIP));
      Value chosen = editor.add(new Communication.Fork(AXIS), exact, received, sender);
      Value gated = editor.add(new Communication.Gate(), chosen, runs);
      editor.replace(attention.result(), gated);
    }

    /** Joins sums over the heads of all devices of a group. */
    private Value joined(Value sum, Node attention) {
      List<String> axes =
          layouts
              .map(all -> all.layout(attention.result()).splits().get(1).axes())
              .orElse(List.of());
      if (axes.isEmpty()) {
        return sum;
      }
      Layout whole = Layout.replicated(wider.mesh(), sum.type().rank()).withVarying(List.of(AXIS));
      Layout partial = whole;
      for (String axis : axes) {
        partial = partial.withPartial(axis, ReductionKind.SUM);
      }
      return editor.add(Relayout.of(partial, whole), sum);
    }

    /**
     * Gives the result of the place with the highest priority to both. Priorities are exchanged
     * only here, because the receiver must not wait for the verification.
     */
    private void finish(Node end, Op op) {
      Value result = editor.add(op, editor.operands(end));
      Value stacked = editor.add(new Communication.Settle(AXIS, new Exit.Stack(PLACES)), priority);
      Layout places = Layout.of(wider.mesh(), Split.even(wider.mesh(), PLACES, AXIS));
      Value priorities =
          editor.add(Relayout.of(places, Layout.replicated(wider.mesh(), 1)), stacked);
      Value highest =
          editor.add(new Reduction.Reduce(ReductionKind.MAX, List.of(0), true), priorities);
      sender = editor.add(new Elementwise.Binary(BinaryFunction.EQUAL), priorities, highest);
      editor.replace(end.result(), shared(result, end));
    }

    /**
     * Gives the value of the sender to both places. The receiver adds zeros, so no message depends
     * on which place it is.
     *
     * @param original the node whose result it takes the place of
     */
    private Value shared(Value value, Node original) {
      Value settled =
          editor.add(new Communication.Settle(AXIS, new Exit.Priority(PLACES)), value, sender);
      Layout whole =
          layouts
              .map(all -> wider.layout(all.layout(original.result())))
              .orElseGet(() -> Layout.replicated(wider.mesh(), value.type().rank()));
      return editor.add(Relayout.of(whole.withPartial(AXIS, ReductionKind.SUM), whole), settled);
    }

    private Value fork(Value chosen, Value other) {
      return editor.add(new Communication.Fork(AXIS), chosen, other, sender);
    }

    private Value flag(boolean value) {
      return editor.constant(Tensor.scalar(ElementType.BOOL, value ? 1 : 0));
    }

    private Value word(long value) {
      return editor.constant(Tensor.scalar(ElementType.I32, value));
    }
  }
}
