package io.partita.passes.planning.cost;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Gather;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.OverlapSyncs;
import io.partita.passes.program.localize.OverlapSyncs.Candidate;
import io.partita.passes.program.localize.OverlapSyncs.Tiles;
import io.partita.passes.program.localize.OwnPartsFirst;
import io.partita.passes.program.localize.WorkAfterExchanges;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayList;
import java.util.Collection;
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
import java.util.function.ToDoubleFunction;

/**
 * Chooses the syncs that are sent in tiles while their products are computed, and the numbers of
 * tiles. A product and its sync are predicted alone for each number of tiles. Before a product, and
 * beside one, gathers in which all devices send before they receive are tried too, because the
 * product, or that of a device's own part, can be computed meanwhile. The whole model is then
 * predicted with the best choices, which are used only if they improve it.
 */
public final class OverlapChoice {
  private static final int MAX_TILES = 16;

  /** The least relative improvement, because more tiles mean more messages and kernels. */
  private static final double MIN_GAIN = 0.01;

  private static final Optional<Algorithm> DIRECT = Optional.of(new Algorithm.Direct());

  private final Module module;
  private final TargetDescription target;
  private final PlanOptions options;
  private final int capacity;
  private final LayoutInference layouts;
  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private final Map<List<Object>, Optional<Tiles>> known = new HashMap<>();

  /**
   * Returns the module with those syncs in tiles for which that is predicted to be faster.
   *
   * @param module a module of the mesh dialect whose syncs have algorithms
   * @param target as many devices as the module has
   */
  public static Module tiled(Module module, TargetDescription target, PlanOptions options) {
    return new OverlapChoice(module, target, options).tiled();
  }

  private OverlapChoice(Module module, TargetDescription target, PlanOptions options) {
    this.module = module;
    this.target = target;
    this.options = options;
    this.capacity = new TargetTimeline(target).buffer();
    this.layouts = LayoutInference.of(module);
    module.graph().nodes().forEach(node -> numbers.put(node, numbers.size()));
  }

  /**
   * @param module the module of the mesh dialect from which the program was made
   * @param program the program with overlap
   */
  public record Planned(Module module, Program program, PlanReport report) {}

  /**
   * @param plain the plan without overlap
   * @param figure the figure to minimise
   * @return the plan with the smallest figure: with syncs in tiles, with late receives only, or the
   *     plain one
   */
  public static Planned choose(
      Planned plain,
      TargetDescription target,
      PlanOptions options,
      ToDoubleFunction<PlanReport> figure) {
    OverlapChoice choice = new OverlapChoice(plain.module(), target, options);
    Module tiled = choice.tiled();
    List<Planned> plans = new ArrayList<>(List.of(plain, choice.delayed(plain.module())));
    if (!tiled.equals(plain.module())) {
      plans.add(choice.delayed(tiled));
    }
    Planned best = plain;
    for (Planned plan : plans) {
      boolean fits = plan.report().fits() || !best.report().fits();
      if (fits && figure.applyAsDouble(plan.report()) < figure.applyAsDouble(best.report())) {
        best = plan;
      }
    }
    return best;
  }

  /** With sends early and receives late. */
  private Planned delayed(Module changed) {
    Program program = DelayReceives.apply(Localization.of(changed, capacity), capacity);
    return new Planned(changed, program, Plans.report(program, target, options));
  }

  private Module tiled() {
    Set<Node> early = earlySends();
    OverlapChoice choice =
        early.isEmpty() ? this : new OverlapChoice(direct(module, early), target, options);
    return OverlapSyncs.apply(choice.module, choice.tiles());
  }

  /** Returns the gathers that are faster if devices send before they receive. */
  private Set<Node> earlySends() {
    Set<Node> early = new LinkedHashSet<>();
    Map<List<Object>, Boolean> faster = new HashMap<>();
    List<Gather> gathers = new ArrayList<>(OwnPartsFirst.gathers(module));
    gathers.addAll(WorkAfterExchanges.gathers(module));
    for (Gather gather : gathers) {
      Part part = new Part(gather.sync(), gather.product());
      if (part.canBePriced() && faster.computeIfAbsent(part.key, key -> isFaster(part.module()))) {
        early.add(gather.sync());
      }
    }
    return early;
  }

  private boolean isFaster(Module part) {
    List<Node> syncs = part.graph().nodes().stream().filter(Gather::isGather).toList();
    double least = delayed(part).report().seconds() * (1 - MIN_GAIN);
    return delayed(direct(part, syncs)).report().seconds() < least;
  }

  private static Module direct(Module module, Collection<Node> syncs) {
    GraphEditor editor = new GraphEditor(module.graph());
    for (Node node : syncs) {
      editor.before(node);
      Sync sync = ((Sync) node.op()).with(new Algorithm.Direct());
      editor.replace(node.result(), editor.add(sync, node.operand(0)));
    }
    return module.with(editor.freeze());
  }

  /** The tiles of each sync that improves, and beside which no other product can run. */
  private Map<Candidate, Tiles> tiles() {
    Map<Candidate, Tiles> tiles = new LinkedHashMap<>();
    Set<Node> hidden = Collections.newSetFromMap(new IdentityHashMap<>());
    WorkAfterExchanges.gathers(module).stream()
        .map(Gather::sync)
        .filter(sync -> ((Sync) sync.op()).algorithm().equals(DIRECT))
        .forEach(hidden::add);
    for (Candidate candidate : OverlapSyncs.candidates(module)) {
      Part part = new Part(candidate.product(), candidate.sync());
      if (part.canBePriced() && !hidden.contains(candidate.sync())) {
        known
            .computeIfAbsent(part.key, key -> best(part.module()))
            .ifPresent(best -> tiles.put(candidate, best));
      }
    }
    return tiles;
  }

  /** Tries the sync's algorithm, and the one in which all devices send before they receive. */
  private Optional<Tiles> best(Module part) {
    List<Candidate> found = OverlapSyncs.candidates(part);
    if (found.size() != 1) {
      return Optional.empty();
    }
    Candidate candidate = found.getFirst();
    Optional<Algorithm> own = ((Sync) candidate.sync().op()).algorithm();
    Set<Optional<Algorithm>> algorithms = new LinkedHashSet<>(List.of(own, DIRECT));
    Tiles best = null;
    double least = delayed(part).report().seconds() * (1 - MIN_GAIN);
    long most = Math.min(MAX_TILES, candidate.extent());
    for (Optional<Algorithm> algorithm : algorithms) {
      for (int count = 2; count <= most; count *= 2) {
        Tiles tiles = new Tiles(count, algorithm);
        double seconds = seconds(part, candidate, tiles);
        if (seconds < least) {
          best = tiles;
          least = seconds;
        }
      }
    }
    return best == null ? Optional.empty() : Optional.of(halved(part, candidate, best, least));
  }

  /**
   * Halves the last tile as long as that is better; also of half as many tiles, which may hide as
   * much with fewer messages.
   *
   * @param equal the best number of equal tiles
   * @param seconds their predicted time
   */
  private Tiles halved(Module part, Candidate candidate, Tiles equal, double seconds) {
    Tiles best = equal;
    double least = seconds;
    for (int count = equal.count(); count >= Math.max(2, equal.count() / 2); count /= 2) {
      Tiles tiles = new Tiles(count, equal.algorithm());
      double before = count == equal.count() ? seconds : seconds(part, candidate, tiles);
      for (boolean improves = true; improves; ) {
        tiles = tiles.halved();
        double own = seconds(part, candidate, tiles);
        improves = own < before * (1 - MIN_GAIN);
        before = own;
        if (improves && own < least * (1 - MIN_GAIN)) {
          best = tiles;
          least = own;
        }
      }
    }
    return best;
  }

  private double seconds(Module part, Candidate candidate, Tiles tiles) {
    return delayed(OverlapSyncs.apply(part, Map.of(candidate, tiles))).report().seconds();
  }

  private List<Node> between(Node first, Node last) {
    int from = numbers.get(first) + 1;
    return module.graph().nodes().subList(from, Math.max(from, numbers.get(last)));
  }

  /**
   * The graph of a sync, its product and the nodes between, or of a sync and a product beside it;
   * other values are inputs.
   */
  private final class Part {
    private final GraphBuilder graph = new GraphBuilder("part");
    private final SortedMap<String, Layout> inputs = new TreeMap<>();
    private final Map<Value, Value> copies = new IdentityHashMap<>();
    private final List<Object> key = new ArrayList<>();
    private final Node first;
    private final Set<Node> after = Collections.newSetFromMap(new IdentityHashMap<>());

    Part(Node first, Node last) {
      this.first = first;
      after.add(first);
      for (Node node : between(first, last)) {
        if (isAfter(node)) {
          after.add(node);
        }
      }
      if (!isAfter(last)) {
        graph.output("beside", copy(first).result());
      }
      graph.output("after", copy(last).result());
    }

    private Node copy(Node node) {
      List<Value> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        operands.add(copy(operand, node != first));
      }
      key.add(node.op());
      graph.at(node);
      return graph.addNode(node.op(), operands);
    }

    private Value copy(Value value, boolean isAfterFirst) {
      Value known = copies.get(value);
      if (known == null) {
        known = isCopied(value, isAfterFirst) ? defined(value) : input(value);
        copies.put(value, known);
      }
      return known;
    }

    private Value defined(Value value) {
      Node node = value.definition();
      if (node.op() instanceof Source.Constant constant) {
        key.add(constant.type());
        graph.at(node);
        return graph.constant(constant.data());
      }
      return copy(node).results().get(value.index());
    }

    private boolean isCopied(Value value, boolean isAfterFirst) {
      return value.definition() != null
          && (isWeight(value) || isAfterFirst && after.contains(value.definition()));
    }

    /** A constant, or a part of one. */
    private boolean isWeight(Value value) {
      Node node = value.definition();
      return node != null
          && (node.op() instanceof Source.Constant
              || node.operands().size() == 1 && isWeight(node.operand(0)));
    }

    private boolean isAfter(Node node) {
      return node.operands().stream().anyMatch(value -> after.contains(value.definition()));
    }

    private Value input(Value value) {
      String name = "in" + inputs.size();
      Layout layout = layouts.layout(value);
      inputs.put(name, layout);
      key.add(value.type());
      key.add(layout);
      return graph.input(name, value.type());
    }

    /** Values that vary can't be priced alone. */
    boolean canBePriced() {
      return inputs.values().stream().allMatch(layout -> layout.varying().isEmpty());
    }

    Module module() {
      Placement whole = module.placement().orElseThrow();
      return new Module(
          graph.finish(), List.of(), Optional.of(new Placement(whole.mesh(), inputs)));
    }
  }
}
