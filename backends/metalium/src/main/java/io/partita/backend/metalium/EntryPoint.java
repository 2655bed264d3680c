package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What the chips and the host do for one run: of a token, or of several tokens at once. */
final class EntryPoint {
  private final Schedule schedule;
  private final Program program;
  private final MatrixPool pool;
  private final HostNumbers numbers;
  private final Indices indices;
  private final List<Launch> launches;

  /** The matrices of each chip, and its graph. */
  private final List<Matrices> matrices = new ArrayList<>();

  private final List<Graph> graphs = new ArrayList<>();

  /**
   * @param pool the matrices of all entry points
   * @param element the type of all elements
   * @param prefix what the names of integer inputs in the host's program begin with
   * @throws PartitaException with {@link MetaliumCode}s
   */
  EntryPoint(Schedule schedule, MatrixPool pool, ElementType element, String prefix) {
    this.schedule = schedule;
    this.program = schedule.program();
    this.pool = pool;
    this.numbers = new HostNumbers(pool);
    this.indices = new Indices(numbers, prefix);
    List<List<Work>> works = new ArrayList<>();
    for (int chip = 0; chip < program.devices().size(); chip++) {
      works.add(works(chip, element));
    }
    long others = CircularBuffers.bytesOfExchange(pool.elements());
    long pages = (availableBytes(schedule) - others) / pool.elements().bytes();
    this.launches = MeshLaunches.of(works, new Exchanges(pool, works.size(), pages));
    launches.forEach(this::verifyBuffers);
  }

  private List<Work> works(int chip, ElementType element) {
    ChipSchedule role =
        schedule.roles().stream()
            .filter(each -> each.devices().contains(chip))
            .findFirst()
            .orElseThrow();
    StepMeaning meaning = role.meaning().orElseThrow();
    Graph graph = meaning.graphs().get(role.devices().indexOf(chip));
    Set<String> states =
        program.devices().get(chip).states().stream()
            .map(Module.State::input)
            .collect(Collectors.toUnmodifiableSet());
    addIndices(graph, chip);
    Matrices own = new Matrices(pool, numbers, chip, element);
    ModelSteps steps = new ModelSteps(own, indices, new ScheduledBlocks(role, graph));
    matrices.add(own);
    graphs.add(graph);
    return steps.of(graph, meaning.results(), states);
  }

  /** Adds the integer inputs of a chip, of which it may have parts. */
  private void addIndices(Graph graph, int chip) {
    for (Value input : graph.inputs()) {
      if (Indices.isInteger(input.type())) {
        indices.add(input, program.inputs().get(input.name()), chip);
      }
    }
  }

  /** The bytes of circular buffers. */
  private static long availableBytes(Schedule schedule) {
    return schedule.roles().getFirst().working().available();
  }

  private void verifyBuffers(Launch launch) {
    if (!(launch instanceof Launch.Same(Step step, List<Integer> chips))) {
      return;
    }
    long bytes = CircularBuffers.of(step).stream().mapToLong(CircularBuffers.Buffer::bytes).sum();
    if (bytes > availableBytes(schedule)) {
      throw new PartitaException(
          MetaliumCode.BUFFERS,
          "node \"" + step.origin().name() + "\"",
          "circular buffers of at most " + availableBytes(schedule) + " bytes on a core",
          bytes + " bytes",
          "compile a model with shorter rows, or in bf16");
    }
  }

  List<Launch> launches() {
    return launches;
  }

  /** The integer inputs. */
  List<Map<String, Object>> indices() {
    return indices.all().stream()
        .map(each -> Map.<String, Object>of("name", each.name(), "count", each.count()))
        .toList();
  }

  /** Returns the steps, inputs, outputs and numbers of a run, for templates. */
  Map<String, Object> fields(HostFields fields) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("steps", launches.stream().map(fields::of).toList());
    Set<String> stateInputs = states(Module.State::input);
    Set<String> stateOutputs = states(Module.State::output);
    List<Map<String, Object>> inputs = new ArrayList<>();
    program
        .inputs()
        .forEach(
            (name, type) -> {
              if (stateInputs.contains(name) || isEmpty(type)) {
                return;
              }
              requireJoined(name, type);
              inputs.add(
                  Indices.isInteger(type.type()) ? index(name) : fields.of(input(name, type)));
            });
    List<Map<String, Object>> outputs = new ArrayList<>();
    program
        .outputs()
        .forEach(
            (name, type) -> {
              if (!stateOutputs.contains(name) && !isEmpty(type)) {
                outputs.add(fields.of(Port.output(type, chip -> output(chip, name))));
              }
            });
    run.put("inputs", inputs);
    List<Map<String, Object>> statements = numbers.statements();
    run.put("numbers", statements.isEmpty() ? null : statements);
    run.put("hosted", numbers.writes(program.devices().size()));
    run.put("outputs", outputs);
    return run;
  }

  /** The matrices that the host makes anew for each run. */
  Set<Matrix> read() {
    Set<Matrix> read = new HashSet<>(numbers.matrices());
    Set<String> states = states(Module.State::input);
    program
        .inputs()
        .forEach(
            (name, type) -> {
              if (!states.contains(name) && !isEmpty(type) && !Indices.isInteger(type.type())) {
                input(name, type).parts().forEach(part -> read.add(part.matrix()));
              }
            });
    return read;
  }

  /** Returns what {@code partita diff} compares a run with. */
  List<EmittedFile> references() {
    List<EmittedFile> files = new ArrayList<>();
    for (int chip = 0; chip < graphs.size(); chip++) {
      files.addAll(ReferenceFiles.of(chip, graphs.get(chip), matrices.get(chip), pool, launches));
    }
    return files;
  }

  private static boolean isEmpty(ShardedType type) {
    return type.type().shape().elements() == 0;
  }

  private static void requireJoined(String name, ShardedType type) {
    if (!type.layout().isJoined()) {
      throw new PartitaException(
          MetaliumCode.PROGRAM,
          "input \"" + name + "\"",
          "an input that chips have whole or split",
          type.toString(),
          "compile the model for --target java or siracusa");
    }
  }

  private Set<String> states(Function<Module.State, String> name) {
    return program.devices().stream()
        .flatMap(device -> device.states().stream())
        .map(name)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** An input of integers, which only the host knows. */
  private Map<String, Object> index(String name) {
    Indices.Input input = indices.input(name);
    return Map.of("name", input.name(), "indices", input.count());
  }

  private Port input(String name, ShardedType type) {
    return Port.input(
        type, chip -> matrices.get(chip).find(inputOf(graphs.get(chip), name)).orElseThrow());
  }

  private static Value inputOf(Graph graph, String name) {
    return graph.inputs().stream()
        .filter(value -> value.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private Matrix output(int chip, String name) {
    Value value =
        graphs.get(chip).outputs().stream()
            .filter(output -> output.name().equals(name))
            .findFirst()
            .orElseThrow()
            .value();
    return matrices.get(chip).find(value).orElseThrow();
  }
}
