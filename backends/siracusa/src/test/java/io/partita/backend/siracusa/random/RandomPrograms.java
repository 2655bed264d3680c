package io.partita.backend.siracusa.random;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.mesh.Split;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Schedules of random graphs on some chips.
 *
 * @param chips the number of chips, over which inputs are split
 * @param l1 the bytes available to tiles
 */
record RandomPrograms(int chips, long l1) {
  private static final String AXIS = "chips";

  /**
   * One or several graphs as one.
   *
   * @param inputs the inputs that aren't states, by name
   */
  record Drawn(Module module, Map<String, Tensor> inputs) {
    static Drawn of(List<Long> seeds) {
      GraphBuilder builder = new GraphBuilder("graphs " + seeds);
      Map<String, Tensor> inputs = new LinkedHashMap<>();
      List<Module.State> states = new ArrayList<>();
      for (long seed : seeds) {
        RandomGraph.Added added = RandomGraph.add(seed, builder);
        inputs.putAll(added.inputs());
        states.addAll(added.states());
      }
      return new Drawn(new Module(builder.finish(), states), inputs);
    }

    /** Returns the outputs of all runs that aren't states, by name. */
    List<Map<String, Tensor>> runs(int count) {
      Graph graph = module.graph();
      Map<String, Tensor> values = new HashMap<>(inputs);
      for (Value input : graph.inputs()) {
        values.computeIfAbsent(input.name(), name -> zeros(input.type()));
      }
      List<Map<String, Tensor>> runs = new ArrayList<>();
      for (int run = 0; run < count; run++) {
        List<Tensor> given =
            graph.inputs().stream().map(input -> values.get(input.name())).toList();
        Map<String, Tensor> outputs = new LinkedHashMap<>();
        List<Tensor> results = Evaluator.run(graph, given);
        for (int i = 0; i < results.size(); i++) {
          outputs.put(graph.outputs().get(i).name(), results.get(i));
        }
        module.states().forEach(state -> values.put(state.input(), outputs.remove(state.output())));
        runs.add(outputs);
      }
      return runs;
    }

    private static Tensor zeros(TensorType type) {
      return Tensor.of(type, MemorySegment.ofArray(new byte[(int) type.bytes()]));
    }
  }

  /** Returns the schedule of a graph; empty if it has none for a valid reason. */
  Optional<Schedule> schedule(long seed) {
    try {
      return Optional.of(schedule(List.of(seed)));
    } catch (PartitaException e) {
      String code = e.diagnostics().getFirst().code().id();
      if (code.startsWith("P441")) {
        throw e;
      }
      return Optional.empty();
    }
  }

  Schedule schedule(List<Long> seeds) {
    TargetDescription target = TargetLibrary.find("siracusa:chips=" + chips);
    SchedulerOptions options = new SchedulerOptions(OptionalLong.of(l1), true, true);
    return Scheduler.schedule(program(seeds), target, options);
  }

  /** Returns the program of each chip. */
  Program program(List<Long> seeds) {
    Module module = Drawn.of(seeds).module();
    return chips == 1 ? alone(module) : distributed(module);
  }

  private static Program alone(Module module) {
    Graph graph = module.graph();
    TreeMap<String, ShardedType> inputs = new TreeMap<>();
    graph.inputs().forEach(each -> inputs.put(each.name(), whole(each)));
    TreeMap<String, ShardedType> outputs = new TreeMap<>();
    graph.outputs().forEach(each -> outputs.put(each.name(), whole(each.value())));
    return new Program(Mesh.of(), List.of(module), inputs, outputs);
  }

  private static ShardedType whole(Value value) {
    return new ShardedType(value.type(), Layout.replicated(Mesh.of(), value.type().rank()));
  }

  private Program distributed(Module module) {
    Mesh mesh = Mesh.line(AXIS, chips);
    Map<Value, Layout> pinned = new HashMap<>();
    for (Value input : module.graph().inputs()) {
      int rank = input.type().rank();
      Draw draw = new Draw(input.name().hashCode());
      Layout layout = Layout.replicated(mesh, rank);
      if (rank > 0 && draw.flag()) {
        int dimension = draw.from(0, rank - 1);
        long extent = input.type().shape().extent(dimension);
        layout = layout.with(dimension, Split.even(mesh, extent, 1, List.of(AXIS)));
      }
      pinned.put(input, layout);
    }
    return Localization.of(
        SyncInsertion.insert(LayoutPropagation.run(module.graph(), mesh, pinned), module.states()),
        1);
  }
}
