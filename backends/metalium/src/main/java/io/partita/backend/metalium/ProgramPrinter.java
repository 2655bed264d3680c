package io.partita.backend.metalium;

import io.partita.backend.emitted.EmittedSchedule;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.ResourceFolder;
import io.partita.backend.emitted.measure.PredictedRun;
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
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints kernels, the weights, a main program for emulated chips and its makefile. */
final class ProgramPrinter {
  private static final String RUNTIME = "/io/partita/runtime/metalium-host/";

  private final EmittedSchedule predicted;
  private final Schedule schedule;
  private final Release release;
  private final Program program;
  private final ChipSchedule first;
  private final ElementType element;
  private final Templates templates = new Templates();
  private final Kernels kernels;
  private final MatrixPool pool;
  private final HostNumbers numbers;
  private final Indices indices;

  /** The matrices of each chip, and its graph. */
  private final List<Matrices> matrices = new ArrayList<>();

  private final List<Graph> graphs = new ArrayList<>();

  private ProgramPrinter(EmittedSchedule predicted, MetaliumOptions options) {
    this.release = Release.of(options.release());
    this.predicted = predicted;
    this.schedule = predicted.schedule();
    this.program = schedule.program();
    this.first = schedule.roles().getFirst();
    this.element =
        program.devices().stream()
            .map(Module::graph)
            .flatMap(
                graph ->
                    Stream.concat(
                        graph.inputs().stream(), graph.outputs().stream().map(Graph.Output::value)))
            .map(value -> value.type().element())
            .filter(ElementType::isFloat)
            .findFirst()
            .orElse(ElementType.I64);
    this.kernels = new Kernels(templates, release, element);
    TileFormat elements = TileFormat.of(element);
    this.pool = new MatrixPool(elements, options.weights().tiles(elements));
    this.numbers = new HostNumbers(pool);
    this.indices = new Indices(numbers);
  }

  /**
   * Returns the program's files, without writing them.
   *
   * @throws PartitaException with {@link MetaliumCode}s
   */
  static EmittedMetalium emit(EmittedSchedule predicted, MetaliumOptions options) {
    return new ProgramPrinter(predicted, options).program();
  }

  private EmittedMetalium program() {
    if (element != ElementType.F32 && element != ElementType.BF16) {
      throw new PartitaException(
          MetaliumCode.SHAPE,
          "model \"" + program.name() + "\"",
          "inputs of f32 or bf16",
          element.text(),
          "compile the model for --target java, which supports all types");
    }
    List<Launch> launches = launches();
    launches.forEach(this::verifyBuffers);
    HostFields fields = new HostFields(kernels, pool, program.devices().size());
    Map<String, Object> main = new LinkedHashMap<>();
    main.put("steps", launches.stream().map(fields::of).toList());
    main.put("model", program.name().replaceAll("[^ -~]|\\*/", "_"));
    main.put("target", schedule.target());
    main.put("chips", program.devices().size() == 1 ? null : program.devices().size());
    main.put(
        "kernels", kernels.texts().keySet().stream().map(name -> Map.of("name", name)).toList());
    main.put("columns", first.cores().columns());
    main.put("rows", first.cores().rows());
    int words = words(launches);
    main.put("words", words == 0 ? null : words);
    main.put("format", pool.elements().kernel());
    main.put("page", pool.elements().bytes());
    putFormats(main, launches);
    putPorts(main, fields);
    List<EmittedFile> files = new ArrayList<>();
    kernels
        .texts()
        .forEach((name, text) -> files.add(EmittedFile.text("kernels/" + name + ".cpp", text)));
    files.add(EmittedFile.text("emulation.cpp", templates.print("emulation", Map.of("it", main))));
    main.put("dtype", pool.elements().host());
    main.put("release", release.version());
    files.add(EmittedFile.text("model.py", templates.print("host", Map.of("it", main))));
    files.add(EmittedFile.text("Makefile", templates.print("makefile", Map.of("it", main))));
    files.add(new EmittedFile("weights.bin", pool::writeWeights));
    ResourceFolder.read(RUNTIME, "emulation/device.h")
        .forEach((path, text) -> files.add(EmittedFile.text("metalium-host/" + path, text)));
    MetaliumDescription description =
        new MetaliumDescription(ProgramInterface.of(program, Optional.empty()), schedule.target());
    files.add(EmittedFile.text(ProgramDescription.FILE, description.json()));
    PredictedRun run = PredictedRun.of(schedule, predicted.prediction());
    files.add(EmittedFile.text(PredictedRun.FILE, run.json()));
    for (int chip = 0; chip < graphs.size(); chip++) {
      files.addAll(ReferenceFiles.of(chip, graphs.get(chip), matrices.get(chip), pool, launches));
    }
    files.sort(Comparator.comparing(EmittedFile::path));
    return new EmittedMetalium(description, files, Optional.of(predicted));
  }

  /** The formats of matrices and buffers that aren't those of all elements. */
  private void putFormats(Map<String, Object> main, List<Launch> launches) {
    Stream<TileFormat> used =
        Stream.concat(
            pool.all().stream()
                .filter(matrix -> !matrix.kind().equals(MatrixPool.NUMBERS))
                .map(Matrix::format),
            launches.stream().flatMap(this::formatsOfBuffers));
    List<Map<String, Object>> formats =
        used.filter(format -> format != pool.elements())
            .distinct()
            .sorted()
            .map(format -> Map.<String, Object>of("host", format.host(), "page", format.bytes()))
            .toList();
    main.put("formats", formats.isEmpty() ? null : formats);
  }

  private Stream<TileFormat> formatsOfBuffers(Launch launch) {
    List<CircularBuffers.Buffer> buffers =
        switch (launch) {
          case Launch.Same same -> CircularBuffers.of(same.step());
          case Launch.Exchange exchange -> CircularBuffers.of(exchange, pool.elements());
        };
    return buffers.stream().map(CircularBuffers.Buffer::format);
  }

  /** The words that decisions give to cores. */
  private static int words(List<Launch> launches) {
    return launches.stream()
        .flatMap(
            launch ->
                switch (launch) {
                  case Launch.Same same -> same.step().control().words().stream();
                  case Launch.Exchange exchange -> exchange.gates().stream();
                })
        .mapToInt(word -> word + 1)
        .max()
        .orElse(0);
  }

  private List<Launch> launches() {
    List<List<Work>> works = new ArrayList<>();
    for (int chip = 0; chip < program.devices().size(); chip++) {
      ChipSchedule role = role(chip);
      StepMeaning meaning = role.meaning().orElseThrow();
      Graph graph = meaning.graphs().get(role.devices().indexOf(chip));
      Set<String> states =
          program.devices().get(chip).states().stream()
              .map(Module.State::input)
              .collect(Collectors.toUnmodifiableSet());
      addIndices(graph, chip);
      Matrices own = new Matrices(pool, numbers, chip, element);
      ModelSteps steps = new ModelSteps(own, indices, new ScheduledBlocks(role, graph));
      works.add(steps.of(graph, meaning.results(), states));
      matrices.add(own);
      graphs.add(graph);
    }
    long others = CircularBuffers.bytesOfExchange(pool.elements());
    long pages = (availableBytes() - others) / pool.elements().bytes();
    return MeshLaunches.of(works, new Exchanges(pool, works.size(), pages));
  }

  /** Adds the integer inputs of a chip, of which it may have parts. */
  private void addIndices(Graph graph, int chip) {
    for (Value input : graph.inputs()) {
      if (Indices.isInteger(input.type())) {
        indices.add(input, program.inputs().get(input.name()), chip);
      }
    }
  }

  private ChipSchedule role(int chip) {
    return schedule.roles().stream()
        .filter(role -> role.devices().contains(chip))
        .findFirst()
        .orElseThrow();
  }

  /** Puts the matrices, inputs and outputs of the host program. */
  private void putPorts(Map<String, Object> main, HostFields fields) {
    Set<String> stateInputs = states(Module.State::input);
    Set<String> stateOutputs = states(Module.State::output);
    List<Map<String, Object>> inputs = new ArrayList<>();
    Set<Matrix> read = new HashSet<>(numbers.matrices());
    program
        .inputs()
        .forEach(
            (name, type) -> {
              if (stateInputs.contains(name) || isEmpty(type)) {
                return;
              }
              requireJoined(name, type);
              if (Indices.isInteger(type.type())) {
                inputs.add(index(name));
              } else {
                Port port =
                    Port.input(
                        type, chip -> matrices.get(chip).find(input(chip, name)).orElseThrow());
                port.parts().forEach(part -> read.add(part.matrix()));
                inputs.add(fields.of(port));
              }
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
    main.put("matrices", pool.all().stream().map(fields::of).toList());
    main.put(
        "constants",
        pool.all().stream().filter(matrix -> !read.contains(matrix)).map(fields::of).toList());
    main.put(
        "indices",
        indices.all().stream()
            .map(each -> Map.of("name", each.name(), "count", each.count()))
            .toList());
    main.put("inputs", inputs);
    List<Map<String, Object>> statements = numbers.statements();
    main.put("numbers", statements.isEmpty() ? null : statements);
    main.put("hosted", numbers.writes(program.devices().size()));
    main.put("outputs", outputs);
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

  private Value input(int chip, String name) {
    return graphs.get(chip).inputs().stream()
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

  /** The bytes of circular buffers. */
  private long availableBytes() {
    return first.working().available();
  }

  private void verifyBuffers(Launch launch) {
    if (!(launch instanceof Launch.Same(Step step, List<Integer> chips))) {
      return;
    }
    long bytes = CircularBuffers.of(step).stream().mapToLong(CircularBuffers.Buffer::bytes).sum();
    if (bytes > availableBytes()) {
      throw new PartitaException(
          MetaliumCode.BUFFERS,
          "node \"" + step.origin().name() + "\"",
          "circular buffers of at most " + availableBytes() + " bytes on a core",
          bytes + " bytes",
          "compile a model with shorter rows, or in bf16");
    }
  }
}
