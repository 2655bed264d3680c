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
 * @param devices the module of each device, on the parts that it holds. Inputs and outputs of which
 *     a device holds nothing aren't in its graph
 * @param inputs the types and layouts of the model's inputs by name, in the model's order
 * @param outputs the types and layouts of the model's outputs by name, in the model's order
 */
public record Program(
    Mesh mesh,
    List<Module> devices,
    SequencedMap<String, ShardedType> inputs,
    SequencedMap<String, ShardedType> outputs) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#VARYING} if an output varies from device to device
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
