package io.partita.backend.java.plan;

import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;

/** Makes a {@link ModulePlan}, one decision after the other. */
final class ModulePlanner {
  /** Larger constants are read from the weights file when a step needs them, not when opening. */
  private static final int MAX_HEAP_CONSTANT = 1 << 16;

  final DeviceClass role;
  final Module module;

  private final Names names;
  private final Names parameterNames = Names.ofParameters();
  private final Names resultNames = Names.ofResults();
  private final Graph graph;
  final List<ModulePlan.Parameter> parameters = new ArrayList<>();
  final List<ModulePlan.StateArray> states = new ArrayList<>();
  final List<ModulePlan.Result> results = new ArrayList<>();
  final List<Step> steps = new ArrayList<>();
  final Map<Value, Place> places = new IdentityHashMap<>();

  /** In the order of first use; values are compared by identity. */
  final SequencedMap<Value, ModulePlan.HeapConstant> constants = new LinkedHashMap<>();

  final WeightsPlan weights;
  final Aliases aliases;
  final GatedRegions regions;
  MemoryPlan memory;
  private final Map<Value, Integer> firstWrite = new IdentityHashMap<>();
  private final Map<Value, Integer> lastRead = new IdentityHashMap<>();
  private final Map<String, String> stateOutputs = new HashMap<>();

  /** The fields of the enclosing class, by their value. */
  private final Map<WeightsPlan.Entry, String> sharedConstants = new IdentityHashMap<>();

  private final Map<String, String> sharedStates = new HashMap<>();

  /** Names of nodes after which a local variable is named. */
  private final Set<String> named = new HashSet<>();

  /** Constants that are loaded once per run and kept until the last step that reads them. */
  private final SequencedSet<Value> loaded = new LinkedHashSet<>();

  ModulePlanner(DeviceClass role) {
    this(role, Names.ofFields(), new WeightsPlan());
  }

  /**
   * A planner for a class nested in that of another plan, whose weights, constants and states it
   * shares.
   */
  ModulePlanner(DeviceClass role, ModulePlanner around) {
    this(role, Names.ofFields(), around.weights);
    around.constants.values().forEach(each -> sharedConstants.put(each.entry(), each.field()));
    around.states.forEach(each -> sharedStates.put(each.inputName(), each.field()));
    shared().forEach(names::reserve);
  }

  private ModulePlanner(DeviceClass role, Names names, WeightsPlan weights) {
    this.role = role;
    this.names = names;
    this.weights = weights;
    this.module = role.module();
    this.graph = module.graph();
    this.aliases = Aliases.of(graph);
    this.regions = GatedRegions.of(graph);
    module.states().forEach(state -> stateOutputs.put(state.output(), state.input()));
  }

  /** The fields of the enclosing class. */
  Set<String> shared() {
    Set<String> shared = new HashSet<>(sharedConstants.values());
    shared.addAll(sharedStates.values());
    return shared;
  }

  ModulePlanner plan() {
    collectSteps();
    measureLives();
    placeStates();
    placeInputs();
    placeResults();
    placeBuffers();
    return this;
  }

  private void collectSteps() {
    Fusion fusion = Fusion.of(graph);
    for (Node node : graph.nodes()) {
      if (node.constant().isPresent() || Aliases.isAlias(node) || fusion.isFused(node)) {
        continue;
      }
      List<Node> chain = fusion.chain(node);
      steps.add(new Step(node, chain, placeConstants(node, chain)));
    }
  }

  /** Assigns places to the constants that the step reads; returns those to load just before it. */
  private List<Value> placeConstants(Node node, List<Node> chain) {
    List<Value> loads = new ArrayList<>();
    List<Node> all = new ArrayList<>(chain);
    all.add(node);
    for (Node part : all) {
      for (int i = 0; i < part.operands().size(); i++) {
        Value root = aliases.root(part.operand(i));
        if (root.definition() == null || root.definition().constant().isEmpty()) {
          continue;
        }
        Tensor data = root.definition().constant().get();
        switch (Weights.of(part, i)) {
          case ARRAY -> placeArray(part, root, data, loads);
          case ROWS -> weights.rowMajor(data, root.name());
          case PANELS -> weights.panels(data, false, columns(part.operand(i), false), root.name());
          case PANELS_OF_TRANSPOSE ->
              weights.panels(data, true, columns(part.operand(i), true), root.name());
        }
      }
    }
    return loads;
  }

  /** Columns of a matrix operand once it is {@code [in, out]}. */
  static int columns(Value matrix, boolean transposed) {
    return Math.toIntExact(
        transposed ? matrix.type().shape().extent(0) : matrix.type().shape().fromEnd(0).value());
  }

  private void placeArray(Node reader, Value root, Tensor data, List<Value> loads) {
    boolean literal = reader.op() instanceof Elementwise || reader.op() instanceof Quantized;
    if (constants.containsKey(root)
        || literal && data.size() == 1 && !role.varies(root.definition())) {
      return;
    }
    WeightsPlan.Entry entry = weights.rowMajor(data, root.name());
    if (entry.bytes() > MAX_HEAP_CONSTANT) {
      if (loaded.add(root)) {
        loads.add(root);
      }
    } else {
      constants.put(root, heapConstant(root, entry));
    }
  }

  private ModulePlan.HeapConstant heapConstant(Value root, WeightsPlan.Entry entry) {
    String known = sharedConstants.get(entry);
    return new ModulePlan.HeapConstant(known == null ? constantField(root.name()) : known, entry);
  }

  /** A name of one word could clash with a local variable. */
  private String constantField(String name) {
    return distinctField(name, "constant");
  }

  private String distinctField(String name, String prefix) {
    String plain = new Names(Set.of()).identifier(name, "");
    boolean isOneWord = plain.equals(plain.toLowerCase(Locale.ROOT));
    boolean isPrefixed = isOneWord || plain.startsWith("scratch");
    return names.identifier(name, isPrefixed ? prefix : "");
  }

  private void measureLives() {
    for (int s = 0; s < steps.size(); s++) {
      Step step = steps.get(s);
      for (Value result : step.node().results()) {
        touch(aliases.root(result), s);
      }
      for (Value constant : step.loads()) {
        touch(constant, s);
      }
      for (Value condition : regions.conditions(step.node())) {
        touch(aliases.root(condition), s);
      }
      for (Node part : parts(step)) {
        for (Value operand : part.operands()) {
          touch(aliases.root(operand), s);
        }
      }
    }
    for (Graph.Output output : graph.outputs()) {
      touch(aliases.root(output.value()), steps.size());
    }
  }

  private static List<Node> parts(Step step) {
    List<Node> parts = new ArrayList<>(step.fused());
    parts.add(step.node());
    return parts;
  }

  private void touch(Value root, int step) {
    firstWrite.putIfAbsent(root, step);
    lastRead.put(root, step);
  }

  private void placeStates() {
    Map<String, Value> inputs = new HashMap<>();
    graph.inputs().forEach(input -> inputs.put(input.name(), input));
    updateInPlace(inputs);
    Map<String, Value> outputs = new HashMap<>();
    graph.outputs().forEach(output -> outputs.put(output.name(), output.value()));
    for (Module.State state : module.states()) {
      Value input = inputs.get(state.input());
      Value output = outputs.get(state.output());
      String known = sharedStates.get(state.input());
      String field = known == null ? names.identifier(state.input(), "state") : known;
      places.put(input, new Place(Place.Kind.STATE, field));
      boolean inPlace = aliases.root(output) == input;
      states.add(
          new ModulePlan.StateArray(state.input(), state.output(), field, input, output, inPlace));
    }
  }

  /** A cache update writes the state in place if nothing reads the old content later. */
  private void updateInPlace(Map<String, Value> inputs) {
    Set<Value> caches = Collections.newSetFromMap(new IdentityHashMap<>());
    module.states().forEach(state -> caches.add(inputs.get(state.input())));
    for (int s = 0; s < steps.size(); s++) {
      Node node = steps.get(s).node();
      if (node.op() instanceof Structured.CacheUpdate) {
        Value cache = aliases.root(node.operand(0));
        Value updated = aliases.root(node.result());
        if (caches.contains(cache)
            && lastRead.get(cache) <= s
            && aliases.root(node.operand(1)) != cache) {
          int last = lastRead.get(updated);
          aliases.join(updated, cache);
          lastRead.put(cache, last);
        }
      }
    }
  }

  private void placeInputs() {
    for (Value input : graph.inputs()) {
      if (!places.containsKey(input)) {
        String field = names.identifier(input.name(), "input");
        places.put(input, new Place(Place.Kind.INPUT, field));
        String identifier = parameterNames.identifier(input.name(), "");
        parameters.add(new ModulePlan.Parameter(input.name(), identifier, field, input));
      }
    }
  }

  private void placeResults() {
    for (Graph.Output output : graph.outputs()) {
      if (stateOutputs.containsKey(output.name())) {
        continue;
      }
      Value root = aliases.root(output.value());
      boolean direct =
          !places.containsKey(root)
              && root.definition() != null
              && root.definition().constant().isEmpty();
      String field = names.identifier(output.name(), "output");
      if (direct) {
        places.put(root, new Place(Place.Kind.OUTPUT, field));
      } else if (root.definition() != null && root.definition().constant().isPresent()) {
        WeightsPlan.Entry entry = weights.rowMajor(root.definition().constant().get(), root.name());
        constants.computeIfAbsent(root, key -> heapConstant(key, entry));
      }
      String identifier = resultNames.identifier(output.name(), "");
      results.add(new ModulePlan.Result(output.name(), identifier, field, output.value(), direct));
    }
  }

  private void placeBuffers() {
    List<Value> values = new ArrayList<>();
    List<MemoryPlan.Request> requests = new ArrayList<>();
    for (Step step : steps) {
      for (Value result : step.node().results()) {
        Value root = aliases.root(result);
        if (!places.containsKey(root)) {
          request(root, firstWrite.get(root), lastRead.get(root), values, requests);
        }
      }
    }
    for (Value constant : loaded) {
      if (!constants.containsKey(constant)) {
        request(constant, firstWrite.get(constant), lastRead.get(constant), values, requests);
      }
    }
    memory = MemoryPlan.of(requests);
    for (int i = 0; i < values.size(); i++) {
      String field = memory.buffer(i).field();
      places.put(values.get(i), new Place(Place.Kind.BUFFER, field, local(values.get(i))));
    }
  }

  /**
   * Names the local variable of a value in a shared buffer: by its node, and by role and operation
   * too where another value has that name.
   */
  private String local(Value value) {
    Node node = value.definition();
    String name = node.name();
    if (name.isEmpty() || !named.add(name)) {
      String role = node.origin().role();
      String mnemonic = node.op().mnemonic();
      name += " " + role + (role.equals(mnemonic) ? "" : " " + mnemonic);
    }
    return distinctField(name, "value");
  }

  private static void request(
      Value value, int first, int last, List<Value> values, List<MemoryPlan.Request> requests) {
    values.add(value);
    requests.add(
        new MemoryPlan.Request(
            Storage.of(value.type().element()),
            Math.toIntExact(value.type().shape().elements()),
            first,
            last));
  }
}
