package io.partita.ir.program;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.eval.Shards;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The reference meaning of the program dialect: each device computes on its own data only, and
 * receives other data only by messages. Devices take turns, and each runs until it has to wait; the
 * result of a proved program does not depend on the order. Each addition is rounded to the element
 * type, in the order that {@link io.partita.ir.mesh.Algorithm} defines.
 *
 * <p>State persists between runs; before the first run it is zero.
 */
public final class ProgramEvaluator {
  private final Program program;
  private final int capacity;
  private final List<Map<String, Tensor>> states = new ArrayList<>();

  /**
   * @param capacity the number of messages that a channel holds; with 0, a send ends when its
   *     message is received
   */
  public ProgramEvaluator(Program program, int capacity) {
    this.program = program;
    this.capacity = capacity;
    for (Module device : program.devices()) {
      Map<String, Tensor> own = new HashMap<>();
      for (Module.State state : device.states()) {
        for (Value input : device.graph().inputs()) {
          if (input.name().equals(state.input())) {
            own.put(input.name(), Tensor.filled(input.type(), 0));
          }
        }
      }
      states.add(own);
    }
  }

  /**
   * Runs the program once.
   *
   * @param inputs whole tensors by name; a given state replaces the current one
   * @return the whole outputs by name
   * @throws PartitaException with {@link EvaluationCode#INPUT_MISMATCH} if an input is missing or
   *     has another type, with another {@link EvaluationCode} if a node can't be computed for these
   *     values, with a {@link io.partita.ir.mesh.MeshCode} if replicas differ
   * @throws IllegalStateException if all devices wait or a message isn't received, which the proof
   *     excludes
   */
  public SortedMap<String, Tensor> run(Map<String, Tensor> inputs) {
    List<Graph> graphs = new ArrayList<>();
    List<Map<String, Tensor>> parts = new ArrayList<>();
    for (int device = 0; device < program.devices().size(); device++) {
      Module module = program.devices().get(device);
      graphs.add(module.graph());
      parts.add(inputs(device, module, inputs));
    }
    return outputs(run(graphs, parts, capacity));
  }

  /**
   * Runs the graphs of all devices.
   *
   * @return the outputs of each device by name; those that it skipped are null
   */
  static List<Map<String, Tensor>> run(
      List<Graph> graphs, List<Map<String, Tensor>> inputs, int capacity) {
    Channels channels = new Channels(capacity);
    List<DeviceRun> runs = new ArrayList<>();
    for (int device = 0; device < graphs.size(); device++) {
      runs.add(new DeviceRun(device, graphs.get(device), inputs.get(device), channels));
    }
    boolean moves = true;
    while (moves) {
      moves = false;
      for (DeviceRun run : runs) {
        moves |= run.advance();
      }
    }
    for (DeviceRun run : runs) {
      if (!run.isDone()) {
        throw new IllegalStateException("all devices wait; " + run);
      }
    }
    channels.requireEmpty();
    return runs.stream().map(DeviceRun::outputs).toList();
  }

  /** Returns the parts of inputs that a device holds, by name. */
  private Map<String, Tensor> inputs(int device, Module module, Map<String, Tensor> given) {
    Map<String, Tensor> parts = new HashMap<>(states.get(device));
    for (Value input : module.graph().inputs()) {
      ShardedType sharded = program.inputs().get(input.name());
      Tensor whole = given.get(input.name());
      if (whole != null && whole.type().equals(sharded.type())) {
        parts.put(input.name(), Shards.part(whole, sharded.layout(), device));
      } else if (whole != null || !parts.containsKey(input.name())) {
        throw new PartitaException(
            EvaluationCode.INPUT_MISMATCH,
            "input \"" + input.name() + "\"",
            sharded.type().toString(),
            whole == null ? "nothing" : whole.type().toString(),
            "give a tensor of this type");
      }
    }
    return parts;
  }

  private SortedMap<String, Tensor> outputs(List<Map<String, Tensor>> parts) {
    for (int device = 0; device < parts.size(); device++) {
      for (Module.State state : program.devices().get(device).states()) {
        states.get(device).put(state.input(), parts.get(device).get(state.output()));
      }
    }
    SortedMap<String, Tensor> outputs = new TreeMap<>();
    program
        .outputs()
        .forEach(
            (name, sharded) -> {
              outputs.put(name, whole(name, sharded, parts));
            });
    return outputs;
  }

  /** Adds empty parts, which no device holds. */
  private static Tensor whole(String name, ShardedType sharded, List<Map<String, Tensor>> parts) {
    Layout layout = sharded.layout();
    SortedMap<Integer, Tensor> held = new TreeMap<>();
    for (int device : layout.holders()) {
      Tensor part = parts.get(device).get(name);
      TensorType local = sharded.localType(device);
      boolean isEmpty = part == null && local.shape().elements() == 0;
      if (part != null || isEmpty) {
        held.put(device, isEmpty ? Tensor.filled(local, 0) : part);
      }
    }
    return Shards.assemble(held, sharded.type(), layout);
  }
}
