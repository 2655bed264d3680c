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
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Prints kernels, the weights, a main program for emulated chips and its makefile. */
final class ProgramPrinter {
  private static final String RUNTIME = "/io/partita/runtime/metalium-host/";

  private final EmittedSchedule predicted;
  private final Schedule schedule;
  private final Optional<Schedule> chunk;
  private final Release release;
  private final Program program;
  private final ElementType element;
  private final Templates templates = new Templates();
  private final Kernels kernels;
  private final MatrixPool pool;

  private ProgramPrinter(
      EmittedSchedule predicted, Optional<Schedule> chunk, MetaliumOptions options) {
    this.release = Release.of(options.release());
    this.predicted = predicted;
    this.schedule = predicted.schedule();
    this.chunk = chunk;
    this.program = schedule.program();
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
  }

  /**
   * Returns the program's files, without writing them.
   *
   * @param chunk the same decoder for several tokens at once, scheduled together with the first
   * @throws PartitaException with {@link MetaliumCode}s
   */
  static EmittedMetalium emit(
      EmittedSchedule predicted, Optional<Schedule> chunk, MetaliumOptions options) {
    return new ProgramPrinter(predicted, chunk, options).program();
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
    ChipSchedule first = schedule.roles().getFirst();
    if (element != ElementType.BF16 && first.cores().sums() == ElementType.BF16) {
      throw SumFormat.unsupported(program.name(), element);
    }
    List<EntryPoint> entries = new ArrayList<>();
    entries.add(new EntryPoint(schedule, pool, element, ""));
    chunk.ifPresent(
        several -> {
          pool.enter();
          entries.add(new EntryPoint(several, pool, element, "chunk_"));
        });
    HostFields fields = new HostFields(kernels, pool, program.devices().size());
    List<Launch> launches = entries.stream().flatMap(each -> each.launches().stream()).toList();
    Map<String, Object> main = new LinkedHashMap<>();
    List<Map<String, Object>> runs = entries.stream().map(each -> each.fields(fields)).toList();
    main.put("step", runs.getFirst());
    main.put("chunk", chunk.isPresent() ? runs.getLast() : null);
    main.put("numbers", runs.stream().anyMatch(run -> run.get("numbers") != null) ? true : null);
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
    main.put("sumsInBf16", launches.stream().anyMatch(ProgramPrinter::sumsInBf16) ? true : null);
    putMatrices(main, entries, fields);
    List<EmittedFile> files = new ArrayList<>();
    kernels
        .texts()
        .forEach((name, text) -> files.add(EmittedFile.text("kernels/" + name + ".cpp", text)));
    files.add(EmittedFile.text("emulation.cpp", templates.print("emulation", Map.of("it", main))));
    main.put("dtype", pool.elements().host());
    main.put("release", release.version());
    files.add(
        EmittedFile.text("model.py", PythonLayout.of(templates.print("host", Map.of("it", main)))));
    files.add(EmittedFile.text("Makefile", templates.print("makefile", Map.of("it", main))));
    files.add(new EmittedFile("weights.bin", pool::writeWeights));
    ResourceFolder.read(RUNTIME, "emulation/device.h")
        .forEach((path, text) -> files.add(EmittedFile.text("metalium-host/" + path, text)));
    MetaliumDescription description =
        new MetaliumDescription(
            ProgramInterface.of(program, chunk.map(Schedule::program)), schedule.target());
    files.add(EmittedFile.text(ProgramDescription.FILE, description.json()));
    PredictedRun run = PredictedRun.of(schedule, predicted.prediction());
    files.add(EmittedFile.text(PredictedRun.FILE, run.json()));
    files.addAll(entries.getFirst().references());
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

  private static boolean sumsInBf16(Launch launch) {
    return launch instanceof Launch.Same same && same.step().sumsInBf16();
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

  /** Puts what the host program makes once. */
  private void putMatrices(Map<String, Object> main, List<EntryPoint> entries, HostFields fields) {
    Set<Matrix> read = new HashSet<>();
    entries.forEach(each -> read.addAll(each.read()));
    main.put("matrices", pool.all().stream().map(fields::of).toList());
    main.put(
        "constants",
        pool.all().stream().filter(matrix -> !read.contains(matrix)).map(fields::of).toList());
    main.put("indices", entries.stream().flatMap(each -> each.indices().stream()).toList());
  }
}
