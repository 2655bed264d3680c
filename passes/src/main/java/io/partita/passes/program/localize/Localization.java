package io.partita.passes.program.localize;

import io.partita.ir.factor.FactorSplits;
import io.partita.ir.factor.LocalForm;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.BoundDimensions;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.anatomy.BlockRoles;
import io.partita.passes.graph.anatomy.InputRanges;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.program.collective.ProgramProof;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Lowers a module of the mesh dialect to a program for each device. A node becomes the device's
 * part of its computation; a sync becomes exchanges with packing and unpacking around them;
 * constants are reduced to the parts that the device uses; and nodes without effect on outputs and
 * messages are removed.
 *
 * <p>Values that are zero on a device, because another one keeps a term of a sum, are omitted from
 * computations: a bias is a term on one device only.
 */
public final class Localization {
  private final Module module;
  private final LayoutInference inference;
  private final SyncLowering syncs;
  private final List<DeviceGraph> devices = new ArrayList<>();

  private Localization(Module module, int capacity, TensorParts parts) {
    this.module = module;
    this.inference = LayoutInference.of(module);
    this.syncs = new SyncLowering(capacity);
    for (int device = 0; device < mesh().devices(); device++) {
      devices.add(new DeviceGraph(module.graph().name(), device, parts));
    }
  }

  /**
   * Returns the program. Syncs without an algorithm get one by {@link
   * ChooseAlgorithms#byDeviceCount}. A module without a placement becomes a program for one device.
   *
   * @param module a valid module of static types
   * @param capacity the number of messages that a channel between two devices holds; with 0, a send
   *     ends when its message is received
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#RESHARD} if a change of layout has no lowering, {@link
   *     io.partita.ir.mesh.MeshCode#UNBOUND} if a dimension isn't a number, or a {@link
   *     io.partita.passes.program.collective.CollectiveCode} if the messages can't be proved to
   *     arrive
   */
  public static Program of(Module module, int capacity) {
    return of(List.of(module), capacity).getFirst();
  }

  /** Returns the programs of several modules. Equal parts of the same constant are one tensor. */
  public static List<Program> of(List<Module> modules, int capacity) {
    TensorParts parts = new TensorParts();
    List<Program> programs = new ArrayList<>();
    for (Module module : modules) {
      BoundDimensions.require(module.graph());
      Module limited = InputRanges.record(BlockRoles.record(module));
      if (limited.placement().isEmpty()) {
        programs.add(alone(limited));
        continue;
      }
      Module chosen = ChooseAlgorithms.byDeviceCount().run(limited);
      Program program = new Localization(chosen, capacity, parts).run();
      ProgramProof.verify(program, capacity);
      programs.add(program);
    }
    return programs;
  }

  /** Returns the program of a module without a mesh, for one device. */
  private static Program alone(Module module) {
    Mesh mesh = Mesh.of();
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    module.graph().inputs().forEach(each -> inputs.put(each.name(), whole(mesh, each)));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    module.graph().outputs().forEach(each -> outputs.put(each.name(), whole(mesh, each.value())));
    return new Program(mesh, List.of(module), inputs, outputs);
  }

  private static ShardedType whole(Mesh mesh, Value value) {
    return new ShardedType(value.type(), Layout.replicated(mesh, value.type().rank()));
  }

  private Mesh mesh() {
    return placement().mesh();
  }

  private Placement placement() {
    return module.placement().orElseThrow();
  }

  private Program run() {
    Graph graph = module.graph();
    graph.inputs().forEach(this::input);
    for (Node node : graph.nodes()) {
      switch (node.op()) {
        case Communication.Relayout change ->
            syncs.lower(node, change, inference.layout(node.operand(0)), devices);
        case Source.Constant(var data) ->
            devices.forEach(
                device ->
                    device.set(
                        node.result(),
                        data.size() == 0
                            ? new Local.Nothing()
                            : new Local.Data(data, Box.of(data.type()))));
        case Op op -> devices.forEach(device -> add(node, device));
      }
    }
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    graph.inputs().forEach(input -> inputs.put(input.name(), sharded(input)));
    graph.outputs().forEach(output -> outputs.put(output.name(), sharded(output.value())));
    for (Module.State state : module.states()) {
      if (inputs.get(state.input()).type().shape().elements() == 0) {
        // No device holds a part of it, so it would count as an input of callers.
        inputs.remove(state.input());
        outputs.remove(state.output());
      }
    }
    return new Program(mesh(), devices.stream().map(this::finish).toList(), inputs, outputs);
  }

  private ShardedType sharded(Value value) {
    return new ShardedType(value.type(), inference.layout(value));
  }

  private void input(Value input) {
    Layout layout = inference.layout(input);
    for (DeviceGraph device : devices) {
      device.set(
          input,
          Box.of(input.type(), layout, device.device()) == null
              ? new Local.Nothing()
              : new Local.Held(
                  device
                      .builder()
                      .input(input.name(), layout.localType(input.type(), device.device()))));
    }
  }

  private void add(Node node, DeviceGraph device) {
    NodeLayouts layouts = inference.nodes().get(node);
    boolean hasResult = false;
    for (int i = 0; i < node.results().size(); i++) {
      Value result = node.results().get(i);
      Layout layout = layouts.results().get(i);
      hasResult |= Box.of(result.type(), layout, device.device()) != null;
      device.set(result, new Local.Nothing());
    }
    if (!hasResult) {
      return;
    }
    List<Local> operands = node.operands().stream().map(device::local).toList();
    if (ZeroTerms.isZero(layouts, operands)) {
      node.results().forEach(result -> device.set(result, new Local.Zeros()));
      return;
    }
    device.builder().at(node);
    List<Value> results = results(node, layouts, operands, device);
    for (int i = 0; i < results.size(); i++) {
      boolean isEmpty = results.get(i).type().shape().elements() == 0;
      device.set(
          node.results().get(i), isEmpty ? new Local.Nothing() : new Local.Held(results.get(i)));
    }
  }

  private List<Value> results(
      Node node, NodeLayouts layouts, List<Local> operands, DeviceGraph device) {
    TensorType first =
        layouts.results().getFirst().localType(node.results().getFirst().type(), device.device());
    int only = ZeroTerms.onlyTerm(node.op(), operands);
    if (only >= 0) {
      Value term = value(node, only, device);
      if (term.type().equals(first)) {
        return List.of(term);
      }
    }
    ZeroTerms.Rest rest = ZeroTerms.without(node.op(), operands);
    List<Value> values =
        rest.operands().stream().map(operand -> value(node, operand, device)).toList();
    if (!rest.op().equals(node.op())) {
      return device.builder().addNode(rest.op(), values).results();
    }
    FactorSplits splits = layouts.splits();
    List<TensorType> types = node.operands().stream().map(Value::type).toList();
    return LocalForm.add(device.builder(), node.op(), splits, types, device.device(), values);
  }

  private Value value(Node node, int operand, DeviceGraph device) {
    return device.value(node.operand(operand), inference.layout(node.operand(operand)));
  }

  /**
   * Returns the nodes that lead to outputs and messages, and the states of which the device holds a
   * part.
   */
  private Module finish(DeviceGraph device) {
    for (Graph.Output output : module.graph().outputs()) {
      if (!(device.local(output.value()) instanceof Local.Nothing)) {
        device.builder().at(output.value());
        Value value = device.value(output.value(), inference.layout(output.value()));
        device.builder().output(output.name(), value);
      }
    }
    Set<String> states = new HashSet<>();
    module.states().forEach(state -> states.add(state.input()));
    GraphEditor editor = new GraphEditor(device.builder().finish());
    editor.dropDead();
    for (Value input : editor.inputs()) {
      if (editor.uses(input) == 0 && !states.contains(input.name())) {
        editor.removeInput(input);
      }
    }
    Graph graph = editor.freeze();
    Set<String> names = new HashSet<>();
    graph.inputs().forEach(input -> names.add(input.name()));
    return new Module(
        graph,
        module.states().stream().filter(state -> names.contains(state.input())).toList(),
        Optional.empty(),
        module.ranges().stream().filter(range -> names.contains(range.input())).toList());
  }
}
