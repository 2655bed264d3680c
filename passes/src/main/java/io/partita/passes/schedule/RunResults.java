package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.passes.schedule.ChipTasks.Named;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import io.partita.passes.schedule.view.StoredTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run of a role leaves: outputs, and states for the next run.
 *
 * @param types the types in which values are stored
 * @param storages the places of all nonempty values
 */
record RunResults(
    Module module,
    StoredTypes types,
    Map<Value, Storage> storages,
    LoopTasks loops,
    WrittenValues.Collector written) {
  /**
   * Adds the tasks that bring results to their places after everything else; returns the outputs.
   */
  List<Named> add() {
    List<StateWrites.Copy> kept = StateWrites.of(module, storages);
    List<Named> outputs = outputs(kept);
    keepStates(kept);
    return outputs;
  }

  /** Saves states that become the previous value of others, before any of them changes. */
  private void keepStates(List<StateWrites.Copy> copies) {
    List<Storage> from = new ArrayList<>();
    for (StateWrites.Copy copy : copies) {
      Storage own = copy.from();
      if (own.region().kind() == Region.Kind.STATE) {
        Region region = Region.activation(own.region().origin(), own.type().bytes());
        Storage saved = Storage.whole(region, own.type());
        loops.copy(copy.node(), own, saved);
        own = saved;
      }
      from.add(own);
    }
    for (int i = 0; i < copies.size(); i++) {
      StateWrites.Copy copy = copies.get(i);
      loops.copy(copy.node(), from.get(i), copy.to());
      written.add(loops.last(), copy.value(), copy.to(), false);
    }
  }

  private List<Named> outputs(List<StateWrites.Copy> states) {
    List<String> kept = module.states().stream().map(Module.State::output).toList();
    List<Named> outputs = new ArrayList<>();
    for (Graph.Output output : module.graph().outputs()) {
      Value value = output.value();
      if (kept.contains(output.name())) {
        continue;
      }
      Storage storage = storages.get(value);
      if (storage == null) { // without elements
        storage = Storage.fresh(value, types);
      } else if (!storage.isContiguous()
          || storage.region().kind() == Region.Kind.CONSTANT
          || StateWrites.overwrite(states, storage.region())) {
        Storage given = Storage.fresh(value, types);
        loops.copy(StateWrites.node(value), storage, given);
        written.add(loops.last(), value, given, false);
        storage = given;
      }
      outputs.add(new Named(output.name(), value.type(), storage, Optional.empty()));
    }
    return outputs;
  }
}
