package io.partita.driver;

import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.ProgramFolder;
import io.partita.backend.siracusa.EmittedC;
import io.partita.backend.siracusa.ModelDescription;
import io.partita.driver.chip.ChipRemedies;
import io.partita.driver.chip.ChipTarget;
import io.partita.frontend.onnx.DerivedDimension;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import io.partita.passes.Pipeline;
import io.partita.passes.shard.ShardPass;
import io.partita.passes.shard.Strategy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Compiles a model: reads it, runs passes, emits a program. */
public final class Compilation {
  /** Positions of a KV cache where the user doesn't say how many. */
  public static final long DEFAULT_CAPACITY = 256;

  /**
   * What to compile.
   *
   * @param model an ONNX model or a module in text form
   * @param dims extents of dynamic dimensions; that of a KV cache's length is its capacity
   * @param values values of inputs that determine shapes
   * @param passes the pipeline, or null for the usual one
   * @param chunk tokens of a prompt that a decoder also takes at once; none for one at a time
   * @param capacity positions of the KV cache, where the user says it by that name
   */
  public record Request(
      Path model,
      Map<String, Long> dims,
      Map<String, String> values,
      String passes,
      OptionalLong chunk,
      OptionalLong capacity) {
    public Request {
      dims = Map.copyOf(dims);
      values = Map.copyOf(values);
    }

    public Request(
        Path model,
        Map<String, Long> dims,
        Map<String, String> values,
        String passes,
        OptionalLong chunk) {
      this(model, dims, values, passes, chunk, OptionalLong.empty());
    }

    /** Without chunks, and with the usual capacity. */
    public Request(Path model, Map<String, Long> dims, Map<String, String> values, String passes) {
      this(model, dims, values, passes, OptionalLong.empty(), OptionalLong.empty());
    }

    Request with(Map<String, Long> dims) {
      return new Request(model, dims, values, passes, chunk, capacity);
    }

    Request withCapacity(OptionalLong positions) {
      return new Request(model, dims, values, passes, chunk, positions);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final Consumer<String> progress;

  /**
   * @param notes takes what the user should know although it stops nothing
   * @param progress takes what the compilation is at
   */
  public Compilation(Consumer<Diagnostic> notes, Consumer<String> progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * Compiles to Java and writes the folder, whole or not at all.
   *
   * @param strategy over which devices, and how; none for one device
   * @throws PartitaException when the model can't be compiled or the folder not be written
   */
  public EmittedProgram toJava(
      Request request, Optional<Strategy> strategy, JavaOptions options, Path folder) {
    return toJava(distributed(prepareEntries(request), strategy), options, folder);
  }

  /**
   * Emits a module that is ready, of the graph dialect or of the mesh dialect, as Java.
   *
   * @throws PartitaException when the folder can't be written
   */
  public EmittedProgram toJava(Module module, JavaOptions options, Path folder) {
    return toJava(new Entries(module), options, folder);
  }

  private EmittedProgram toJava(Entries entries, JavaOptions options, Path folder) {
    progress.accept("emitting Java");
    if (entries.step().placement().isEmpty()) {
      return write(JavaBackend.emit(entries.step(), entries.chunk(), options), folder);
    }
    Entries.Programs programs = Distribution.programs(entries);
    return write(JavaBackend.emit(programs.step(), programs.chunk(), options), folder);
  }

  /**
   * Emits the programs of several devices as Java.
   *
   * @throws PartitaException when the folder can't be written
   */
  public EmittedProgram toJava(Program program, JavaOptions options, Path folder) {
    progress.accept("emitting Java");
    return write(JavaBackend.emit(program, options), folder);
  }

  private EmittedProgram write(EmittedProgram program, Path folder) {
    progress.accept("writing " + folder);
    ProgramFolder.write(program, folder);
    return program;
  }

  /**
   * Compiles to C and writes the folder, whole or not at all.
   *
   * @param strategy over which chips, and how; none for one chip
   * @throws PartitaException when the model can't be compiled or the folder not be written
   */
  public EmittedC toC(
      Request request, Optional<Strategy> strategy, ChipTarget target, Path folder) {
    Entries whole = prepareEntries(request);
    Entries.Programs programs = Distribution.programs(distributed(whole, strategy));
    try {
      return toC(programs, target, folder);
    } catch (PartitaException tooLarge) {
      if (!ChipRemedies.mayHelp(tooLarge)) {
        throw tooLarge;
      }
      progress.accept("looking for changes that make it fit");
      throw new ChipRemedies(whole, programs.step().devices().size(), target)
          .named(tooLarge, programs);
    }
  }

  /**
   * Emits a module that is ready, of the graph dialect or of the mesh dialect, as C.
   *
   * @throws PartitaException when it doesn't fit the target, or the folder can't be written
   */
  public EmittedC toC(Module module, ChipTarget target, Path folder) {
    return toC(Distribution.program(module), target, folder);
  }

  /**
   * Emits the programs of several chips as C.
   *
   * @throws PartitaException when they don't fit the target, or the folder can't be written
   */
  public EmittedC toC(Program program, ChipTarget target, Path folder) {
    return toC(new Entries.Programs(program), target, folder);
  }

  private EmittedC toC(Entries.Programs programs, ChipTarget target, Path folder) {
    progress.accept("scheduling and emitting C");
    EmittedC emitted = target.emit(programs);
    progress.accept("writing " + folder);
    OutputFolder.write(emitted.files(), folder, ModelDescription::isIn);
    return emitted;
  }

  private Module distributed(Module module, Optional<Strategy> strategy) {
    return distributed(new Entries(module), strategy).step();
  }

  private Entries distributed(Entries entries, Optional<Strategy> strategy) {
    return strategy
        .map(
            chosen ->
                entries.map(module -> run(new Pipeline(List.of(new ShardPass(chosen))), module)))
        .orElse(entries);
  }

  /**
   * As {@link #prepare(Request)}, with a second entry point where the request asks for chunks.
   *
   * @throws PartitaException also with {@link DriverCode#NO_CHUNKS} when the model isn't a decoder
   *     whose number of new tokens is open
   */
  public Entries prepareEntries(Request request) {
    if (request.chunk().isEmpty()) {
      return new Entries(prepare(request));
    }
    long tokens = request.chunk().getAsLong();
    if (request.passes() != null || request.model().toString().endsWith(".pir")) {
      throw Entries.noChunks(
          "--chunk " + tokens,
          "an ONNX model and the usual passes",
          request.passes() == null ? "a .pir module" : "--passes",
          "leave one of them away");
    }
    progress.accept("reading " + request.model().getFileName());
    // Both entry points hold the same mapped weights.
    OnnxModel model = OnnxModel.read(request.model());
    Set<String> symbols = newTokens(model, "--chunk " + tokens);
    for (String symbol : symbols) {
      if (request.dims().getOrDefault(symbol, 1L) != 1) {
        throw Entries.noChunks(
            "--dim " + symbol + "=" + request.dims().get(symbol),
            "1: with --chunk, the decoder takes 1 or " + tokens + " tokens",
            request.dims().get(symbol).toString(),
            "leave --dim " + symbol + " away");
      }
    }
    Request single = bound(request, symbols, 1);
    Module step = prepare(single, model, Map.of());
    progress.accept("preparing it for " + tokens + " tokens at once");
    Compilation quiet = new Compilation(note -> {}, progress);
    Request several = quiet.several(single, symbols, tokens, model);
    return Entries.of(step, quiet.prepare(several, model, masks(model, request.dims(), tokens)));
  }

  /** The same cache for several tokens: lengths that follow from their number are others then. */
  private Request several(Request single, Set<String> symbols, long tokens, OnnxModel model) {
    Map<String, Long> own = new LinkedHashMap<>(single.dims());
    ImportResult open = ModelFile.examine(model, Map.of(), single.values());
    boolean follows = false;
    for (DerivedDimension dimension : open.derived()) {
      follows |= own.keySet().removeIf(name -> open.symbol(name).equals(dimension.name()));
    }
    Request independent = bound(single.with(own), symbols, tokens);
    return follows
        ? independent.withCapacity(chosen(single, model, Map.of()).capacity())
        : independent;
  }

  /**
   * The shapes of masks that are declared for the past and one new token, as some exporters write
   * whatever the number of tokens is.
   */
  private static Map<String, Shape> masks(OnnxModel model, Map<String, Long> dims, long tokens) {
    Set<String> caches = cacheDims(model);
    Map<String, Dim> given = new TreeMap<>();
    dims.forEach((symbol, extent) -> given.put(symbol, Dim.of(extent)));
    given.keySet().removeAll(caches);
    Map<String, Shape> shapes = new TreeMap<>();
    for (Map.Entry<String, TensorType> input : model.inputTypes().entrySet()) {
      Shape shape = input.getValue().shape().bind(given);
      if (input.getValue().element().isInteger() && shape.rank() > 1) {
        Dim past = shape.fromEnd(0).minus(Dim.ONE);
        if (past.isSymbol() && caches.contains(past.toString())) {
          shapes.put(input.getKey(), shape.with(shape.rank() - 1, past.plus(Dim.of(tokens))));
        }
      }
    }
    return shapes;
  }

  private static Request bound(Request request, Set<String> symbols, long extent) {
    Map<String, Long> dims = new LinkedHashMap<>(request.dims());
    symbols.forEach(symbol -> dims.put(symbol, extent));
    return request.with(dims);
  }

  /**
   * The symbols of how many tokens a decoder takes: the lengths of what isn't a cache or a mask.
   */
  private static Set<String> newTokens(OnnxModel model, String option) {
    Set<String> caches = cacheDims(model);
    Set<String> symbols = new TreeSet<>();
    List<String> inputs = new ArrayList<>();
    for (Map.Entry<String, TensorType> input : model.inputTypes().entrySet()) {
      TensorType type = input.getValue();
      boolean isMask = input.getKey().toLowerCase(Locale.ROOT).contains("mask");
      if (type.element().isInteger() && type.rank() == 2 && !isMask) {
        symbols.addAll(type.dim(1).symbols());
        inputs.add(input.getKey() + ": " + type);
      }
    }
    symbols.removeAll(caches);
    if (caches.isEmpty() || symbols.isEmpty()) {
      throw Entries.noChunks(
          option,
          "a decoder with a KV cache of open length that takes an open number of tokens",
          caches.isEmpty() ? "no such cache" : String.join(", ", inputs),
          "leave the option away, or export the model with a dynamic number of tokens");
    }
    return symbols;
  }

  /**
   * The module that a backend takes: raised, with its KV cache as state, all dimensions numbers.
   */
  public Module prepare(Request request) {
    progress.accept("reading " + request.model().getFileName());
    boolean isText = request.model().toString().endsWith(".pir");
    if (request.passes() != null) {
      Pipeline pipeline = Pipeline.parse(request.passes(), StandardPasses.REGISTRY);
      OptionalLong stated = OpenCache.stated(pipeline);
      if (isText || stated.isEmpty()) {
        return bound(
            run(
                pipeline,
                ModelFile.read(request.model(), request.dims(), request.values()).module()));
      }
      DimensionChoice.Chosen chosen = chosen(request, OnnxModel.read(request.model()), Map.of());
      chosen.capacity().ifPresent(capacity -> OpenCache.requireEqual(stated.getAsLong(), capacity));
      return bound(run(pipeline, chosen.imported().orThrow()));
    }
    if (isText) {
      return bound(run(StandardPasses.usual(), PirFile.read(request.model())));
    }
    return prepare(request, OnnxModel.read(request.model()), Map.of());
  }

  private Module prepare(Request request, OnnxModel model, Map<String, Shape> shapes) {
    DimensionChoice.Chosen chosen = chosen(request, model, shapes);
    Module raised = run(StandardPasses.usual(), chosen.imported().orThrow());
    CacheAsState cache = new CacheAsState(notes, chosen.cache(), chosen.cacheDims());
    if (cache.applies(raised)) {
      progress.accept("keeping the KV cache as state");
      raised = cache.keep(bound(raised, cache.ownSymbols(raised)));
    }
    return bound(raised);
  }

  /**
   * As {@link #prepare(Request)}, with so many positions in the KV cache.
   *
   * @throws PartitaException with {@link DriverCode#BAD_BINDING} when the model has no cache whose
   *     length is open
   */
  public Module prepare(Request request, long capacity) {
    Set<String> cacheDims =
        request.model().toString().endsWith(".pir")
            ? Set.of()
            : cacheDims(OnnxModel.read(request.model()));
    if (cacheDims.isEmpty()) {
      throw new PartitaException(
          DriverCode.BAD_BINDING,
          "--kv-capacity " + capacity,
          "a model with a KV cache of open length",
          "none in " + request.model().getFileName(),
          "leave the option away");
    }
    return prepare(request.withCapacity(OptionalLong.of(capacity)));
  }

  private DimensionChoice.Chosen chosen(
      Request request, OnnxModel model, Map<String, Shape> shapes) {
    return new DimensionChoice(model, request.values(), shapes, notes)
        .of(request.dims(), request.capacity());
  }

  /**
   * The symbols of the lengths of a decoder's past, which grow from step to step; those of what it
   * calls past, where it can't be imported as it is.
   */
  public static Set<String> cacheDims(OnnxModel model) {
    return ModelFile.examine(model, Map.of(), Map.of())
        .module()
        .<Set<String>>map(module -> DecoderDimensions.of(module).past())
        .orElseGet(() -> CacheAsState.lengths(model));
  }

  private Module run(Pipeline pipeline, Module module) {
    return pipeline.run(
        module, (pass, before, after) -> progress.accept("running passes, after " + pass.name()));
  }

  static Diagnostic missing(String symbol) {
    return new Diagnostic(
        PassCode.SYMBOLIC_DIMENSION,
        "dimension " + symbol,
        "a number: a compiled program has fixed shapes",
        "no --dim for it",
        "add --dim " + symbol + "=N");
  }

  private Module bound(Module module) {
    return bound(module, Set.of());
  }

  /**
   * Batches are of one unless the user says otherwise; every other dimension must be given, but for
   * those that are still to get a meaning.
   */
  private Module bound(Module module, Set<String> open) {
    Map<String, Dim> extents = new LinkedHashMap<>();
    List<Diagnostic> missing = new ArrayList<>();
    Set<String> symbols = new TreeSet<>(module.graph().symbols());
    symbols.removeAll(open);
    for (String symbol : symbols) {
      if (symbol.toLowerCase(Locale.ROOT).contains("batch")) {
        extents.put(symbol, Dim.ONE);
        notes.accept(
            new Diagnostic(
                DriverCode.DEFAULT_BATCH,
                "dimension " + symbol,
                "",
                "no --dim; it becomes 1",
                "choose another with --dim " + symbol + "=N"));
      } else {
        missing.add(missing(symbol));
      }
    }
    if (!missing.isEmpty()) {
      throw new PartitaException(missing);
    }
    return extents.isEmpty()
        ? module
        : run(StandardPasses.tidy(), DimensionBinding.bind(module, extents));
  }
}
