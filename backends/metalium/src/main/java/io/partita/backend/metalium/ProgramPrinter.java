package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.ResourceFolder;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints kernels, the weights, a main program for the emulated chip and its makefile. */
final class ProgramPrinter {
  private static final String RUNTIME = "/io/partita/runtime/metalium-host/";

  private final Schedule schedule;
  private final ChipSchedule role;
  private final ElementType element;
  private final Templates templates = new Templates();
  private final Kernels kernels;
  private final Matrices matrices;
  private final Indices indices = new Indices();

  private ProgramPrinter(Schedule schedule) {
    this.schedule = schedule;
    this.role = schedule.roles().getFirst();
    Graph graph = schedule.program().devices().getFirst().graph();
    this.element =
        Stream.concat(graph.inputs().stream(), graph.outputs().stream().map(Graph.Output::value))
            .map(value -> value.type().element())
            .filter(ElementType::isFloat)
            .findFirst()
            .orElse(ElementType.I64);
    this.matrices = new Matrices(element);
    this.kernels = new Kernels(templates, Release.PINNED, element);
  }

  /**
   * Returns the program's files, without writing them.
   *
   * @throws PartitaException with {@link MetaliumCode}s
   */
  static EmittedMetalium emit(Schedule schedule) {
    return new ProgramPrinter(schedule).program();
  }

  private EmittedMetalium program() {
    Program program = schedule.program();
    if (element != ElementType.F32 && element != ElementType.BF16) {
      throw new PartitaException(
          MetaliumCode.SHAPE,
          "model \"" + program.name() + "\"",
          "inputs of f32 or bf16",
          element.text(),
          "compile the model for --target java, which supports all types");
    }
    List<Module.State> states = program.devices().getFirst().states();
    Set<String> stateInputs =
        states.stream().map(Module.State::input).collect(Collectors.toUnmodifiableSet());
    Set<String> stateOutputs =
        states.stream().map(Module.State::output).collect(Collectors.toUnmodifiableSet());
    long cores = (long) role.cores().columns() * role.cores().rows();
    List<Step> steps = new ModelSteps(matrices, indices, cores).of(role, stateInputs);
    List<Map<String, Object>> fields = new ArrayList<>();
    for (Step step : steps) {
      verifyBuffers(step);
      fields.add(fields(step));
    }
    Graph graph = role.meaning().orElseThrow().graphs().getFirst();
    Map<String, Object> main = new LinkedHashMap<>();
    main.put("model", program.name().replaceAll("[^ -~]|\\*/", "_"));
    main.put("target", schedule.target());
    main.put(
        "kernels", kernels.texts().keySet().stream().map(name -> Map.of("name", name)).toList());
    main.put("columns", role.cores().columns());
    main.put("rows", role.cores().rows());
    main.put("format", element == ElementType.F32 ? "Float32" : "Float16_b");
    main.put("page", pageBytes());
    main.put("matrices", matrices.all().stream().map(ProgramPrinter::fields).toList());
    main.put("steps", fields);
    main.put(
        "indices",
        indices.all().stream()
            .map(each -> Map.of("name", each.name(), "count", each.count()))
            .toList());
    List<Value> inputs =
        graph.inputs().stream().filter(input -> !stateInputs.contains(input.name())).toList();
    main.put("inputs", inputs.stream().map(this::inputName).toList());
    main.put("reads", inputs.stream().map(this::read).toList());
    Set<Matrix> read =
        inputs.stream()
            .flatMap(input -> matrices.find(input).stream())
            .collect(Collectors.toUnmodifiableSet());
    main.put(
        "constants",
        matrices.all().stream()
            .filter(matrix -> !read.contains(matrix))
            .map(ProgramPrinter::fields)
            .toList());
    main.put(
        "outputs",
        graph.outputs().stream()
            .filter(output -> !stateOutputs.contains(output.name()))
            .map(output -> matrices.find(output.value()).orElseThrow().name())
            .toList());
    List<EmittedFile> files = new ArrayList<>();
    kernels
        .texts()
        .forEach((name, text) -> files.add(EmittedFile.text("kernels/" + name + ".cpp", text)));
    files.add(EmittedFile.text("emulation.cpp", templates.print("emulation", Map.of("it", main))));
    main.put("dtype", element == ElementType.F32 ? "float32" : "bfloat16");
    main.put("release", Release.PINNED.version());
    files.add(EmittedFile.text("model.py", templates.print("host", Map.of("it", main))));
    files.add(EmittedFile.text("Makefile", templates.print("makefile", Map.of("it", main))));
    files.add(new EmittedFile("weights.bin", matrices::writeWeights));
    ResourceFolder.read(RUNTIME, "emulation/device.h")
        .forEach((path, text) -> files.add(EmittedFile.text("metalium-host/" + path, text)));
    MetaliumDescription description =
        new MetaliumDescription(ProgramInterface.of(program, Optional.empty()), schedule.target());
    files.add(EmittedFile.text(ProgramDescription.FILE, description.json()));
    files.sort(Comparator.comparing(EmittedFile::path));
    return new EmittedMetalium(description, files);
  }

  /** How the host in Python reads an input. */
  private Map<String, Object> read(Value input) {
    String call;
    if (Indices.isInteger(input.type())) {
      call = "read_indices(" + indices.input(input).count() + ")";
    } else {
      Matrix matrix = matrices.find(input).orElseThrow();
      call = "read(" + matrix.rows() + ", " + matrix.columns() + ")";
    }
    return Map.of("name", inputName(input), "call", call);
  }

  private String inputName(Value input) {
    return Indices.isInteger(input.type())
        ? indices.input(input).name()
        : matrices.find(input).orElseThrow().name();
  }

  private long pageBytes() {
    return (long) Matrix.TILE * Matrix.TILE * element.bits() / 8;
  }

  private void verifyBuffers(Step step) {
    long bytes =
        Kernels.buffers(step).stream().mapToLong(Kernels.Buffer::pages).sum() * pageBytes();
    long available = role.working().available() - 1024;
    if (bytes > available) {
      throw new PartitaException(
          MetaliumCode.BUFFERS,
          "node \"" + step.origin().name() + "\"",
          "circular buffers of at most " + available + " bytes on a core",
          bytes + " bytes",
          "compile a model with shorter rows, or in bf16");
    }
  }

  private static Map<String, Object> fields(Matrix matrix) {
    return Map.of(
        "name", matrix.name(),
        "kind", matrix.kind(),
        "rows", matrix.rows(),
        "columns", matrix.columns());
  }

  private Map<String, Object> fields(Step step) {
    Kernels.Names names = kernels.add(step);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("label", step.origin().name().replaceAll("[^A-Za-z0-9_./ -]", "_"));
    fields.put("reader", names.reader());
    fields.put("compute", names.compute().orElse(null));
    fields.put("writer", names.writer());
    fields.put(
        "operands",
        Stream.concat(step.operands().stream(), Kernels.withOperand(step).stream())
            .map(Matrix::name)
            .toList());
    fields.put("result", step.result().name());
    fields.put("sizes", step.sizes());
    fields.put("indices", step.indices());
    fields.put("arguments", Stream.concat(step.sizes().stream(), step.indices().stream()).toList());
    fields.put(
        "buffers",
        Kernels.buffers(step).stream()
            .map(buffer -> Map.of("index", buffer.index(), "pages", buffer.pages()))
            .toList());
    fields.put("direct", kernels.direct(step));
    fields.put("units", step.units());
    fields.put("tiles", step.tilesOfUnit());
    fields.put("chunks", step.chunks());
    return fields;
  }
}
