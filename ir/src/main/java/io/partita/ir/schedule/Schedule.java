package io.partita.ir.schedule;

import io.partita.ir.eval.Shards;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import java.util.List;
import java.util.SequencedMap;

/**
 * A whole model on all its chips.
 *
 * @param program what was scheduled
 * @param target the target's name with its parameters
 * @param roles each chip is in one
 * @param inputs how the model's inputs are cut, by name, in the model's order
 * @param outputs how its outputs are put together, by name, in the model's order
 */
public record Schedule(
    Program program,
    String target,
    List<ChipSchedule> roles,
    SequencedMap<String, ShardedType> inputs,
    SequencedMap<String, ShardedType> outputs) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#VARYING} when an output varies from device to device
   */
  public Schedule {
    roles = List.copyOf(roles);
    outputs.forEach((name, type) -> Shards.requireOne("output " + name, type.layout()));
  }
}
