package io.partita.ir.program;

import io.partita.ir.eval.Shards;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import java.util.List;
import java.util.SequencedMap;

/**
 * A model as one program for each device of a mesh. The nodes of each graph are steps in order; an
 * {@link io.partita.ir.op.Communication.Exchange} holds the device's messages.
 *
 * @param devices by device: what it computes on what it holds. An input or output of which a device
 *     holds nothing isn't in its graph
 * @param inputs how the whole model's inputs are cut, by name, in the model's order
 * @param outputs how the whole model's outputs are put together, by name, in the model's order
 */
public record Program(
    Mesh mesh,
    List<Module> devices,
    SequencedMap<String, ShardedType> inputs,
    SequencedMap<String, ShardedType> outputs) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#VARYING} when an output varies from device to device
   */
  public Program {
    devices = List.copyOf(devices);
    outputs.forEach((name, type) -> Shards.requireOne("output " + name, type.layout()));
  }

  /** The name of the model. */
  public String name() {
    return devices.getFirst().graph().name();
  }
}
