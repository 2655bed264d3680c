package io.partita.backend.java.plan;

import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** All decisions about the emitted class: steps, arrays, weights, names. */
public final class ModulePlan {
  /** A parameter of the program: a graph input that isn't a state. */
  public record Parameter(String name, String identifier, String field, Value value) {}

  /**
   * An array kept between runs.
   *
   * @param input the graph input
   * @param output the graph output that becomes the next run's input
   * @param inPlace whether the steps themselves write the array
   */
  public record StateArray(
      String inputName,
      String outputName,
      String field,
      Value input,
      Value output,
      boolean inPlace) {}

  /**
   * A result of the program.
   *
   * @param direct whether the steps write the returned array; otherwise it is copied at the end
   */
  public record Result(String name, String identifier, String field, Value value, boolean direct) {
    public TensorType type() {
      return value.type();
    }
  }

  /** A constant that is read from the weights file when the program is opened. */
  public record HeapConstant(String field, WeightsPlan.Entry entry) {}

  private final DeviceClass role;
  private final SortedMap<Integer, String> syncs;
  private final DeviceNumbers peers;
  private final DeviceNumbers offsets;
  private final List<Parameter> parameters;
  private final List<StateArray> states;
  private final List<Result> results;
  private final List<Step> steps;
  private final MemoryPlan memory;
  private final WeightsPlan weights;
  private final Aliases aliases;
  private final GatedRegions regions;
  private final Map<Value, Place> places;
  private final SequencedMap<Value, HeapConstant> constants;
  private final Optional<ModulePlan> chunk;
  private final Set<String> shared;

  private ModulePlan(
      ModulePlanner planner,
      SortedMap<Integer, String> syncs,
      DeviceNumbers peers,
      DeviceNumbers offsets,
      Optional<ModulePlan> chunk) {
    this.syncs = syncs;
    this.peers = peers;
    this.offsets = offsets;
    this.chunk = chunk;
    this.shared = planner.shared();
    this.role = planner.role;
    this.parameters = List.copyOf(planner.parameters);
    this.states = List.copyOf(planner.states);
    this.results = List.copyOf(planner.results);
    this.steps = List.copyOf(planner.steps);
    this.memory = planner.memory;
    this.weights = planner.weights;
    this.aliases = planner.aliases;
    this.regions = planner.regions;
    this.places = planner.places;
    this.constants = planner.constants;
  }

  /**
   * Plans a module whose shapes are all static.
   *
   * @param chunk the same model for several tokens at once, with the same states
   */
  public static ModulePlan of(Module module, Optional<Module> chunk) {
    return of(DeviceClass.alone(module, chunk), new TreeMap<>(), new TreeMap<>());
  }

  /**
   * Plans the program of all devices of a role.
   *
   * @param syncs descriptions of the exchanges, by number
   * @param chunkSyncs the same of the role's {@link DeviceClass#chunk}
   */
  static ModulePlan of(
      DeviceClass role, SortedMap<Integer, String> syncs, SortedMap<Integer, String> chunkSyncs) {
    DeviceNumbers peers = new DeviceNumbers("peers");
    DeviceNumbers offsets = new DeviceNumbers("offsets");
    ModulePlanner planner = new ModulePlanner(role).plan();
    Optional<ModulePlan> chunk =
        role.chunk()
            .map(
                own ->
                    new ModulePlan(
                        new ModulePlanner(own, planner).plan(),
                        chunkSyncs,
                        peers,
                        offsets,
                        Optional.empty()));
    return new ModulePlan(planner, syncs, peers, offsets, chunk);
  }

  /** The same model for several tokens at once, in a nested class. */
  public Optional<ModulePlan> chunk() {
    return chunk;
  }

  /** Whether a field belongs to the enclosing class. */
  public boolean isShared(String field) {
    return shared.contains(field);
  }

  /** The description of an exchange, such as {@code all-reduce of 512 f32 on 8 devices}. */
  public String sync(int number) {
    return syncs.getOrDefault(number, "");
  }

  public Module module() {
    return role.module();
  }

  public DeviceClass role() {
    return role;
  }

  /** The peers of messages, where the devices of the role differ. */
  public DeviceNumbers peers() {
    return peers;
  }

  /** The offsets and sizes in elements, where the devices of the role differ. */
  public DeviceNumbers offsets() {
    return offsets;
  }

  /** The signature of the program. */
  public Signature signature() {
    return new Signature(
        parameters.stream()
            .map(
                p ->
                    new Signature.Parameter(
                        p.name(),
                        p.identifier(),
                        p.field(),
                        p.value().type(),
                        module().range(p.name())))
            .toList(),
        results.stream()
            .map(r -> new Signature.Result(r.name(), r.identifier(), r.field(), r.type()))
            .toList(),
        !states.isEmpty());
  }

  /** The weights of one of the role's devices, in the layout of the first device's. */
  public WeightsPlan weights(int device) {
    int at = role.devices().indexOf(device);
    if (at == 0) {
      return weights;
    }
    Map<Object, Tensor> others = new IdentityHashMap<>();
    addConstants(role, at, others);
    role.chunk().ifPresent(own -> addConstants(own, at, others));
    return weights.with(data -> others.get(data.bytes()));
  }

  private static void addConstants(DeviceClass role, int at, Map<Object, Tensor> others) {
    for (Node node : role.module().graph().nodes()) {
      node.constant()
          .ifPresent(
              own ->
                  others.putIfAbsent(
                      own.bytes(), role.nodes(node).get(at).constant().orElseThrow()));
    }
  }

  public List<Parameter> parameters() {
    return parameters;
  }

  public List<StateArray> states() {
    return states;
  }

  public List<Result> results() {
    return results;
  }

  public List<Step> steps() {
    return steps;
  }

  /** The steps that a device takes only under a condition. */
  public GatedRegions regions() {
    return regions;
  }

  public MemoryPlan memory() {
    return memory;
  }

  public WeightsPlan weights() {
    return weights;
  }

  public List<HeapConstant> heapConstants() {
    return constants.values().stream().filter(each -> !isShared(each.field())).toList();
  }

  /** The data of a constant value, with the value's shape; null otherwise. */
  public Tensor constant(Value value) {
    Node definition = aliases.root(value).definition();
    return definition == null
        ? null
        : definition.constant().map(data -> data.reshaped(value.type().shape())).orElse(null);
  }

  /** The field whose array holds the value, row-major from element 0 on. */
  public String field(Value value) {
    Value root = aliases.root(value);
    HeapConstant constant = constants.get(root);
    return constant != null ? constant.field() : places.get(root).field();
  }

  /** The place of a value that isn't a constant in a field of its own; empty for one that is. */
  public Optional<Place> place(Value value) {
    Value root = aliases.root(value);
    return constants.containsKey(root) ? Optional.empty() : Optional.of(places.get(root));
  }

  /** Whether two values share an array. */
  public boolean isSameArray(Value left, Value right) {
    return aliases.root(left) == aliases.root(right);
  }

  /** The value of a scalar constant that is equal on all devices; null otherwise. */
  public Tensor literal(Value value) {
    Tensor constant = constant(value);
    return constant == null || constant.size() != 1 || role.varies(aliases.root(value).definition())
        ? null
        : constant;
  }

  /** The name of a constant's node. */
  public String constantName(Value value) {
    return aliases.root(value).name();
  }
}
