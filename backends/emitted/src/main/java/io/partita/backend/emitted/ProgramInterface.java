package io.partita.backend.emitted;

import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The interface of an emitted program, in terms of the whole model and independent of the target.
 *
 * @param model the model's name
 * @param mesh the devices; without axes for a program that isn't distributed
 * @param inputs the inputs that aren't states, in the model's order
 * @param outputs the outputs that aren't states, in the model's order
 * @param states the state between runs; empty for a function of its inputs alone
 * @param room the number of cache positions, if known
 * @param chunk the entry point for several tokens at once, if any
 */
public record ProgramInterface(
    String model,
    Mesh mesh,
    List<Port> inputs,
    List<Port> outputs,
    List<StatePort> states,
    Optional<Module.Room> room,
    Optional<Chunk> chunk) {
  /** An input or output, and its distribution over the devices. */
  public record Port(String name, ShardedType sharded) {
    /** The type of the whole tensor. */
    public TensorType type() {
      return sharded.type();
    }
  }

  /** A state: the names of the model's input and output that it replaces. */
  public record StatePort(String input, String output, ShardedType sharded) {
    /** The type of the whole tensor. */
    public TensorType type() {
      return sharded.type();
    }
  }

  /** The inputs and outputs of the entry point for several tokens at once. */
  public record Chunk(List<Port> inputs, List<Port> outputs) {
    public Chunk {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
    }
  }

  public ProgramInterface {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
  }

  /** Returns the interface of a model for one device. */
  public static ProgramInterface of(Module module, Optional<Module> chunk) {
    return of(
        module.graph().name(),
        new Mesh(List.of()),
        module.graph().inputs().stream()
            .map(input -> new Port(input.name(), whole(input.type())))
            .toList(),
        module.graph().outputs().stream()
            .map(output -> new Port(output.name(), whole(output.value().type())))
            .toList(),
        module.states(),
        chunk.map(own -> of(own, Optional.empty())));
  }

  private static ShardedType whole(TensorType type) {
    return new ShardedType(type, Layout.replicated(new Mesh(List.of()), type.rank()));
  }

  /** Returns the interface of a model for several devices. */
  public static ProgramInterface of(Program program, Optional<Program> chunk) {
    Set<Module.State> states = new LinkedHashSet<>();
    program.devices().forEach(device -> states.addAll(device.states()));
    return of(
        program.name(),
        program.mesh(),
        ports(program.inputs()),
        ports(program.outputs()),
        List.copyOf(states),
        chunk.map(own -> of(own, Optional.empty())));
  }

  private static List<Port> ports(SequencedMap<String, ShardedType> types) {
    return types.entrySet().stream().map(each -> new Port(each.getKey(), each.getValue())).toList();
  }

  private static ProgramInterface of(
      String model,
      Mesh mesh,
      List<Port> inputs,
      List<Port> outputs,
      List<Module.State> states,
      Optional<ProgramInterface> chunk) {
    Map<String, ShardedType> types = new HashMap<>();
    inputs.forEach(input -> types.put(input.name(), input.sharded()));
    return new ProgramInterface(
        model,
        mesh,
        without(inputs, states, Module.State::input),
        without(outputs, states, Module.State::output),
        states.stream()
            .map(each -> new StatePort(each.input(), each.output(), types.get(each.input())))
            .toList(),
        Module.room(states),
        chunk.map(own -> new Chunk(own.inputs, own.outputs)));
  }

  private static List<Port> without(
      List<Port> ports, List<Module.State> states, Function<Module.State, String> name) {
    Set<String> excluded = states.stream().map(name).collect(Collectors.toSet());
    return ports.stream().filter(port -> !excluded.contains(port.name())).toList();
  }

  /** Whether state persists between runs. */
  public boolean isDecoder() {
    return !states.isEmpty();
  }

  /** Whether the entry point for several tokens has no input for positions: it begins at 0. */
  public boolean chunkIsPrompt() {
    return chunk.filter(own -> own.inputs.size() < inputs.size()).isPresent();
  }

  /** Returns the interface as if the entry point for several tokens were the only one. */
  public Optional<ProgramInterface> ofChunk() {
    return chunk.map(
        own ->
            new ProgramInterface(
                model, mesh, own.inputs, own.outputs, states, room, Optional.empty()));
  }

  /** Returns the fields of the JSON description. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("model", model);
    fields.put("kind", isDecoder() ? "decoder" : "prefill");
    if (!mesh.axes().isEmpty()) {
      Map<String, Object> axes = new LinkedHashMap<>();
      mesh.axes().forEach(axis -> axes.put(axis.name(), axis.size()));
      fields.put("mesh", axes);
    }
    fields.put("inputs", rows(inputs));
    fields.put("outputs", rows(outputs));
    List<Object> rows = new ArrayList<>();
    for (StatePort state : states) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("input", state.input());
      row.put("output", state.output());
      row.putAll(fields(state.sharded()));
      rows.add(row);
    }
    fields.put("states", rows);
    room.ifPresent(
        own -> {
          fields.put("capacity", own.capacity());
          own.positions().ifPresent(most -> fields.put("positions", most));
        });
    chunk.ifPresent(
        own -> {
          Map<String, Object> entry = new LinkedHashMap<>();
          entry.put("inputs", rows(own.inputs));
          entry.put("outputs", rows(own.outputs));
          fields.put("chunk", entry);
        });
    return fields;
  }

  private static List<Object> rows(List<Port> ports) {
    List<Object> rows = new ArrayList<>();
    for (Port port : ports) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("name", port.name());
      row.putAll(fields(port.sharded()));
      rows.add(row);
    }
    return rows;
  }

  private static Map<String, Object> fields(ShardedType sharded) {
    Map<String, Object> fields = fields(sharded.type());
    if (!sharded.layout().mesh().axes().isEmpty()) {
      fields.put("layout", sharded.toString());
    }
    return fields;
  }

  /** Returns the fields of a tensor's type. */
  static Map<String, Object> fields(TensorType type) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("element", type.element().text());
    fields.put("shape", type.shape().dims().stream().map(dim -> dim.value()).toList());
    return fields;
  }

  /** Reads what {@link #fields()} returns. */
  static ProgramInterface of(DescriptionFields fields) {
    List<MeshAxis> axes = new ArrayList<>();
    if (fields.has("mesh")) {
      DescriptionFields sizes = fields.object("mesh");
      sizes.names().forEach(name -> axes.add(new MeshAxis(name, (int) sizes.extent(name))));
    }
    Mesh mesh = new Mesh(axes);
    return new ProgramInterface(
        fields.text("model"),
        mesh,
        ports(fields.objects("inputs"), mesh),
        ports(fields.objects("outputs"), mesh),
        fields.objects("states").stream()
            .map(
                state ->
                    new StatePort(state.text("input"), state.text("output"), sharded(state, mesh)))
            .toList(),
        fields.room(),
        fields.has("chunk") ? Optional.of(chunk(fields.object("chunk"), mesh)) : Optional.empty());
  }

  private static Chunk chunk(DescriptionFields fields, Mesh mesh) {
    return new Chunk(ports(fields.objects("inputs"), mesh), ports(fields.objects("outputs"), mesh));
  }

  private static List<Port> ports(List<DescriptionFields> ports, Mesh mesh) {
    return ports.stream().map(port -> new Port(port.text("name"), sharded(port, mesh))).toList();
  }

  private static ShardedType sharded(DescriptionFields fields, Mesh mesh) {
    return mesh.axes().isEmpty()
        ? whole(fields.type())
        : ShardedType.parse(fields.text("layout"), mesh);
  }
}
