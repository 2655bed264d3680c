package io.partita.backend.java.plan;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** All decisions about the classes of a program for several devices. */
public final class ProgramPlan {
  /**
   * The box of a tensor that a device holds.
   *
   * @param from its first index in each dimension
   * @param size its extent in each dimension
   */
  public record Box(List<Long> from, List<Long> size) {
    static Box of(ShardedType type, int device) {
      List<Long> from = new ArrayList<>();
      for (int dim = 0; dim < type.type().rank(); dim++) {
        from.add(type.layout().from(device, dim));
      }
      List<Long> size = type.localType(device).shape().dims().stream().map(Dim::value).toList();
      return new Box(from, size);
    }

    public boolean isEmpty() {
      return size.contains(0L);
    }
  }

  /**
   * An input or output of the model.
   *
   * @param boxes the part that each device holds; null for nothing
   */
  public record Port(String name, ShardedType type, List<Box> boxes) {
    /** Whether each device that holds a part holds the whole. */
    public boolean isWhole() {
      return boxes.stream().allMatch(box -> box == null || box.size().equals(extents(type)));
    }

    private static List<Long> extents(ShardedType type) {
      return type.type().shape().dims().stream().map(Dim::value).toList();
    }
  }

  private final Program program;
  private final List<DeviceClass> roles;
  private final List<ModulePlan> plans;
  private final List<Port> inputs;
  private final List<Port> outputs;
  private final Signature signature;
  private final Optional<ProgramPlan> chunk;

  private ProgramPlan(
      Program program,
      List<DeviceClass> roles,
      List<ModulePlan> plans,
      String prefix,
      Optional<ProgramPlan> chunk) {
    this.program = program;
    this.roles = roles;
    this.plans = plans;
    this.chunk = chunk;
    inputs = ports(program.inputs(), ProgramPlan::inputNames, Module.State::input);
    outputs = ports(program.outputs(), ProgramPlan::outputNames, Module.State::output);
    signature = callers(prefix);
  }

  /**
   * Plans a program whose shapes are all static.
   *
   * @param chunk the same model for several tokens at once, with the same states on each device
   */
  public static ProgramPlan of(Program program, Optional<Program> chunk) {
    List<DeviceClass> roles = DeviceClass.of(program.devices(), chunk.map(Program::devices));
    SortedMap<Integer, String> syncs = SyncNames.of(program.devices());
    SortedMap<Integer, String> chunkSyncs =
        chunk.map(own -> SyncNames.of(own.devices())).orElseGet(TreeMap::new);
    List<ModulePlan> plans =
        roles.stream().map(role -> ModulePlan.of(role, syncs, chunkSyncs)).toList();
    Optional<ProgramPlan> inner =
        chunk.map(
            own ->
                new ProgramPlan(
                    own,
                    roles.stream().map(role -> role.chunk().orElseThrow()).toList(),
                    plans.stream().map(plan -> plan.chunk().orElseThrow()).toList(),
                    "chunk",
                    Optional.empty()));
    return new ProgramPlan(program, roles, plans, "", inner);
  }

  /** The same model for several tokens at once, on the same devices. */
  public Optional<ProgramPlan> chunk() {
    return chunk;
  }

  private static List<String> inputNames(Module module) {
    return module.graph().inputs().stream().map(input -> input.name()).toList();
  }

  private static List<String> outputNames(Module module) {
    return module.graph().outputs().stream().map(Graph.Output::name).toList();
  }

  /** The inputs that aren't states, in the model's order, on any device. */
  private List<Port> ports(
      Map<String, ShardedType> types,
      Function<Module, List<String>> names,
      Function<Module.State, String> state) {
    Set<String> order = new LinkedHashSet<>(types.keySet());
    program
        .devices()
        .forEach(device -> device.states().forEach(each -> order.remove(state.apply(each))));
    List<Port> ports = new ArrayList<>();
    for (String name : order) {
      ShardedType type = types.get(name);
      List<Box> boxes = new ArrayList<>();
      for (int device = 0; device < program.devices().size(); device++) {
        boolean holds = names.apply(program.devices().get(device)).contains(name);
        boxes.add(holds ? Box.of(type, device) : null);
      }
      ports.add(new Port(name, type, boxes));
    }
    return ports;
  }

  /**
   * @param prefix a prefix of field names, which distinguishes several programs
   */
  private Signature callers(String prefix) {
    Names fields = Names.ofFields();
    Names parameters = Names.ofParameters();
    Names results = Names.ofResults();
    return new Signature(
        inputs.stream()
            .map(
                port ->
                    new Signature.Parameter(
                        port.name(),
                        parameters.identifier(port.name(), ""),
                        fields.identifier(port.name(), prefixed(prefix, "input")),
                        port.type().type(),
                        range(port.name())))
            .toList(),
        outputs.stream()
            .map(
                port ->
                    new Signature.Result(
                        port.name(),
                        results.identifier(port.name(), ""),
                        fields.identifier(port.name(), prefixed(prefix, "output")),
                        port.type().type()))
            .toList(),
        program.devices().stream().anyMatch(device -> !device.states().isEmpty()));
  }

  /** Returns the range of an input, which is the same on all devices that hold it. */
  private Optional<InputRange> range(String input) {
    return program.devices().stream().flatMap(device -> device.range(input).stream()).findFirst();
  }

  private static String prefixed(String prefix, String word) {
    return prefix.isEmpty()
        ? word
        : prefix + Character.toUpperCase(word.charAt(0)) + word.substring(1);
  }

  public Program program() {
    return program;
  }

  public int devices() {
    return program.devices().size();
  }

  /** The plan of each role, in the order of their first devices. */
  public List<ModulePlan> roles() {
    return plans;
  }

  /** The role of a device. */
  public int role(int device) {
    for (int role = 0; role < roles.size(); role++) {
      if (roles.get(role).devices().contains(device)) {
        return role;
      }
    }
    throw new IllegalArgumentException("device " + device);
  }

  public List<Port> inputs() {
    return inputs;
  }

  public List<Port> outputs() {
    return outputs;
  }

  /** The states of all devices. */
  public List<TensorType> stateTypes() {
    return program.devices().stream()
        .flatMap(device -> device.states().stream())
        .map(Module.State::input)
        .distinct()
        .map(state -> program.inputs().get(state).type())
        .toList();
  }

  public Signature signature() {
    return signature;
  }

  /** The devices with which a device exchanges messages, in ascending order. */
  public SortedSet<Integer> neighbours(int device) {
    SortedSet<Integer> neighbours = new TreeSet<>();
    for (Node node : program.devices().get(device).graph().nodes()) {
      if (node.op() instanceof Communication.Exchange exchange) {
        exchange.steps().stream().map(Step::peer).forEach(neighbours::add);
      }
    }
    return neighbours;
  }

  /** The first device for each distinct box of an output. */
  public static List<Integer> givers(Port output) {
    List<Integer> givers = new ArrayList<>();
    Set<Box> given = new HashSet<>();
    for (int device = 0; device < output.boxes().size(); device++) {
      Box box = output.boxes().get(device);
      if (box != null && !box.isEmpty() && given.add(box)) {
        givers.add(device);
      }
    }
    return givers;
  }

  /** Whether the devices' parts determine the whole value without a sum. */
  public static boolean isComplete(Layout layout) {
    return layout.partial().isEmpty() && layout.varying().isEmpty();
  }
}
