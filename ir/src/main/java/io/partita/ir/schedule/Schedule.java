package io.partita.ir.schedule;

import io.partita.ir.eval.Shards;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import java.util.List;
import java.util.SequencedMap;

/**
 * The schedule of a whole model on all its chips.
 *
 * @param program the scheduled program
 * @param target the name of the target with its parameters
 * @param roles the schedules of roles; each chip is in one
 * @param inputs the types and layouts of the model's inputs by name, in the model's order
 * @param outputs the types and layouts of its outputs by name, in the model's order
 */
public record Schedule(
    Program program,
    String target,
    List<ChipSchedule> roles,
    SequencedMap<String, ShardedType> inputs,
    SequencedMap<String, ShardedType> outputs) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#VARYING} if an output varies from device to device
   */
  public Schedule {
    roles = List.copyOf(roles);
    outputs.forEach((name, type) -> Shards.requireOne("output " + name, type.layout()));
  }
}
