package io.partita.ir.program;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.eval.Shards;
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
 * The reference meaning of the program dialect: each device computes on what it has and nothing
 * else, and learns of others by messages only. Devices take turns, each as far as it gets; a proved
 * program gives the same whatever the order. Each addition rounds to the element type, in the order
 * that {@link io.partita.ir.mesh.Algorithm} states.
 *
 * <p>States live from run to run; before the first they are zeros.
 */
public final class ProgramEvaluator {
  private final Program program;
  private final int capacity;
  private final List<Map<String, Tensor>> states = new ArrayList<>();

  /**
   * @param capacity messages that a channel from one device to another holds; where it's 0, a send
   *     ends when the message is received
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
   * @param inputs whole, by name; a state that is given takes the place of what devices have kept
   * @return the outputs, put together, by name
   * @throws PartitaException with {@link EvaluationCode#INPUT_MISMATCH} when an input is missing or
   *     of another type, with another {@link EvaluationCode} when a node can't be computed from
   *     these values, with a {@link io.partita.ir.mesh.MeshCode} when devices that should hold the
   *     same don't
   * @throws IllegalStateException when all devices wait, or a message isn't received: the program
   *     isn't one that can be proved
   */
  public SortedMap<String, Tensor> run(Map<String, Tensor> inputs) {
    Channels channels = new Channels(capacity);
    List<DeviceRun> runs = new ArrayList<>();
    for (int device = 0; device < program.devices().size(); device++) {
      Module module = program.devices().get(device);
      runs.add(new DeviceRun(device, module.graph(), inputs(device, module, inputs), channels));
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
    return outputs(runs.stream().map(DeviceRun::outputs).toList());
  }

  /** By name, what a device has of each input of its graph. */
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

  /** Parts without elements are on no device. */
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
