package io.partita.driver;

import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.quantize.QuantizePass;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.state.KvStatePass;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Prepares the modules of a model for backends: raised, with the KV cache as state and static
 * shapes.
 */
public final class Preparation {
  /** The default capacity of a KV cache. */
  public static final long DEFAULT_CAPACITY = 256;

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Preparation(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * A prepared module.
   *
   * @param settled numbers of dimensions by name, except the cache's length
   * @param capacity positions of the KV cache, if it is state
   */
  private record Prepared(Module module, Map<String, Long> settled, OptionalLong capacity) {}

  /**
   * Like {@link #prepare(Compilation.Request)}, with a second entry point if the request asks for
   * chunks.
   *
   * @throws PartitaException also with {@link DriverCode#NO_CHUNKS} if the model isn't a decoder
   *     whose number of new tokens is dynamic
   */
  public Entries prepareEntries(Compilation.Request request) {
    if (request.chunk().isEmpty()) {
      return new Entries(prepare(request));
    }
    long tokens = request.chunk().getAsLong();
    if (isText(request)) {
      throw Entries.noChunks(
          "--chunk " + tokens,
          "an ONNX model, from which both entry points are made",
          "a .pir module, which is one entry point",
          "leave --chunk " + tokens + " out, or compile the ONNX model");
    }
    if (request.prompt().isPresent()) {
      return withPrompt(request, request.prompt().get(), tokens);
    }
    // Both entry points share the mapped weights.
    OnnxModel model = read(request);
    Set<String> symbols = newTokens(model, tokens);
    for (String symbol : symbols) {
      long extent = request.dims().getOrDefault(symbol, 1L);
      if (extent != 1) {
        throw Entries.noChunks(
            "--dim " + symbol + "=" + extent,
            "1: with --chunk, the decoder takes 1 or " + tokens + " tokens",
            Long.toString(extent),
            "leave --dim " + symbol + "=" + extent + " out");
      }
    }
    Prepared step = prepare(bound(request, symbols, 1), model, Map.of());
    progress.step("preparing it for " + tokens + " tokens at once");
    Compilation.Request several =
        bound(request.with(step.settled()).withCapacity(step.capacity()), symbols, tokens);
    Preparation quiet = new Preparation(Entries::requireCausal, progress);
    Map<String, Shape> masks = masks(model, step.settled(), tokens);
    return Entries.of(step.module(), quiet.prepare(several, model, masks).module(), tokens);
  }

  /** A decoder, and an export of the same model without cache for the prompt. */
  private Entries withPrompt(Compilation.Request request, Path prompt, long tokens) {
    Module step = prepare(request);
    progress.step("reading " + prompt.getFileName());
    OnnxModel model = OnnxModel.read(prompt);
    Compilation.Request several =
        new Compilation.Request(prompt, bound(model, tokens), request.values(), request.passes());
    Preparation quiet = new Preparation(note -> {}, progress);
    Module whole = quiet.prepare(several, model, Map.of()).module();
    Module entry = new PromptEntry(step, whole, "--prompt-model " + prompt).module();
    return Entries.of(step, entry, tokens);
  }

  /** The number of tokens of a prompt. */
  private static Map<String, Long> bound(OnnxModel model, long tokens) {
    Map<String, Long> dims = new LinkedHashMap<>();
    for (TensorType type : model.inputTypes().values()) {
      if (type.element().isInteger() && type.rank() == 2) {
        type.dim(1).symbols().forEach(symbol -> dims.put(symbol, tokens));
      }
    }
    return dims;
  }

  /**
   * The shapes of masks that are declared for the past plus one token, as some exporters do for any
   * number of tokens.
   */
  private static Map<String, Shape> masks(OnnxModel model, Map<String, Long> dims, long tokens) {
    Set<String> caches = DecoderDimensions.cache(model);
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

  private static Compilation.Request bound(
      Compilation.Request request, Set<String> symbols, long extent) {
    Map<String, Long> dims = new LinkedHashMap<>(request.dims());
    symbols.forEach(symbol -> dims.put(symbol, extent));
    return request.with(dims);
  }

  /**
   * The symbols of the number of tokens of a decoder: the lengths of inputs other than caches and
   * masks.
   */
  private static Set<String> newTokens(OnnxModel model, long tokens) {
    Set<String> caches = DecoderDimensions.cache(model);
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
          "--chunk " + tokens,
          "a decoder with a KV cache of dynamic length and a dynamic number of tokens",
          caches.isEmpty() ? "no such cache" : String.join(", ", inputs),
          "leave --chunk " + tokens + " out, or export the model with a dynamic number of tokens");
    }
    return symbols;
  }

  /** Returns the module for a backend: raised, with its KV cache as state and static shapes. */
  public Module prepare(Compilation.Request request) {
    if (isText(request)) {
      progress.step("reading " + request.model().getFileName());
      if (request.quantization().isPresent()) {
        throw QuantizePass.misplaced("a module in text form");
      }
      Pipeline pipeline =
          request.passes() == null
              ? StandardPasses.usual()
              : Pipeline.parse(request.passes(), StandardPasses.REGISTRY);
      return closed(run(pipeline, given(PirFile.read(request.model()), request)), Set.of());
    }
    return prepare(request, read(request), Map.of()).module();
  }

  /** Reads an ONNX model and quantizes it, if an option or the first pass says so. */
  private OnnxModel read(Compilation.Request request) {
    Optional<QuantizationStep> first =
        request.passes() == null
            ? Optional.empty()
            : QuantizePass.first(Pipeline.parse(request.passes(), StandardPasses.REGISTRY));
    if (first.isPresent() && request.quantization().isPresent()) {
      throw QuantizePass.misplaced("a model that --quantize has quantized");
    }
    return QuantizationStep.read(
        first.or(request::quantization),
        request.model(),
        request.dims(),
        request.values(),
        notes,
        progress);
  }

  /** Like {@link #prepare(Compilation.Request)}, for a changed model. */
  public Module prepare(Compilation.Request request, OnnxModel model) {
    return prepare(request, model, Map.of()).module();
  }

  private static boolean isText(Compilation.Request request) {
    return PirFile.isPir(request.model());
  }

  /** Applies the user's values to a module in text form. */
  private static Module given(Module module, Compilation.Request request) {
    SortedSet<String> symbols = module.graph().symbols();
    Map<String, Dim> extents = new TreeMap<>();
    request
        .dims()
        .forEach(
            (symbol, extent) -> {
              if (!symbols.contains(symbol) || extent < 0) {
                throw new PartitaException(
                    DriverCode.BAD_BINDING,
                    "--dim " + symbol + "=" + extent,
                    "an extent of 0 or more, of "
                        + (symbols.isEmpty() ? "no dimension" : String.join(", ", symbols)),
                    symbol + "=" + extent,
                    "leave --dim " + symbol + "=" + extent + " out");
              }
              extents.put(symbol, Dim.of(extent));
            });
    try {
      return extents.isEmpty() ? module : DimensionBinding.bind(module, extents);
    } catch (TypeMismatch misfit) {
      throw new PartitaException(
          DriverCode.BAD_BINDING,
          "--dim",
          misfit.expected(),
          misfit.found(),
          "leave --dim out, or give other extents");
    }
  }

  private Prepared prepare(
      Compilation.Request request, OnnxModel model, Map<String, Shape> shapes) {
    if (request.passes() != null) {
      return prepare(request, model, shapes, request.passes());
    }
    DimensionChoice.Chosen chosen = chosen(request, model, shapes);
    Module raised = run(StandardPasses.usual(), chosen.imported().orThrow());
    CacheAsState cache =
        new CacheAsState(notes, chosen.cache(), chosen.cacheDims(), chosen.stated());
    OptionalLong capacity = OptionalLong.empty();
    if (cache.applies(raised)) {
      progress.step("keeping the KV cache as state");
      CacheAsState.Kept kept = cache.keep(closed(raised, cache.ownSymbols(raised)));
      raised = kept.module();
      capacity = kept.capacity();
    }
    return new Prepared(closed(raised, Set.of()), chosen.settled(), capacity);
  }

  /** Runs passes that the user chose, which may turn a cache into state or not. */
  private Prepared prepare(
      Compilation.Request request, OnnxModel model, Map<String, Shape> shapes, String passes) {
    Pipeline pipeline =
        withNotes(QuantizePass.rest(Pipeline.parse(passes, StandardPasses.REGISTRY)));
    OptionalLong stated = OpenCache.stated(pipeline);
    DimensionChoice.Chosen chosen = chosen(request, model, shapes);
    Module module = chosen.imported().orThrow();
    if (stated.isPresent()) {
      chosen.capacity().ifPresent(capacity -> OpenCache.requireEqual(stated.getAsLong(), capacity));
    } else {
      module = withPast(module, chosen);
    }
    return new Prepared(closed(run(pipeline, module), Set.of()), chosen.settled(), stated);
  }

  /** The pass that turns a cache into state reports notes about it. */
  private Pipeline withNotes(Pipeline pipeline) {
    return new Pipeline(
        pipeline.passes().stream()
            .map(
                pass ->
                    pass instanceof KvStatePass state
                        ? new KvStatePass(state.capacity(), notes)
                        : pass)
            .toList());
  }

  /** A decoder that takes its past at each run, with the user's length. */
  private static Module withPast(Module module, DimensionChoice.Chosen chosen) {
    Map<String, Dim> extents = new TreeMap<>();
    chosen.cacheDims().forEach((symbol, extent) -> extents.put(symbol, Dim.of(extent)));
    return extents.isEmpty() ? module : DimensionBinding.bind(module, extents);
  }

  /**
   * Like {@link #prepareEntries(Compilation.Request)}, with a given capacity of the KV cache.
   *
   * @throws PartitaException with {@link DriverCode#BAD_BINDING} if the model has no cache of
   *     dynamic length
   */
  public Entries prepareEntries(Compilation.Request request, long capacity) {
    Set<String> cacheDims =
        isText(request) ? Set.of() : DecoderDimensions.cache(OnnxModel.read(request.model()));
    if (cacheDims.isEmpty()) {
      throw new PartitaException(
          DriverCode.BAD_BINDING,
          "--kv-capacity " + capacity,
          "a model with a KV cache of dynamic length",
          "none in " + request.model().getFileName(),
          "leave --kv-capacity " + capacity + " out");
    }
    return prepareEntries(request.withCapacity(OptionalLong.of(capacity)));
  }

  private DimensionChoice.Chosen chosen(
      Compilation.Request request, OnnxModel model, Map<String, Shape> shapes) {
    return new DimensionChoice(model, request.values(), shapes, notes)
        .of(request.dims(), request.capacity());
  }

  private Module run(Pipeline pipeline, Module module) {
    return pipeline.run(
        module, (pass, before, after) -> progress.step("running passes, after " + pass.name()));
  }

  static Diagnostic missing(String symbol) {
    return new Diagnostic(
        PassCode.SYMBOLIC_DIMENSION,
        "dimension " + symbol,
        "a number: a compiled program has fixed shapes",
        "no --dim for it, and no default value that the model takes",
        "add --dim " + symbol + "=N");
  }

  /** The module with default values for all symbols except some. */
  private Module closed(Module module, Set<String> open) {
    Graph graph = module.graph();
    SortedSet<String> symbols = new TreeSet<>(graph.symbols());
    symbols.removeAll(open);
    if (symbols.isEmpty()) {
      return module;
    }
    Map<String, Dim> extents = new LinkedHashMap<>();
    new DefaultExtents(graph, DecoderDimensions.of(module).tokens(), notes)
        .choose(Map.of(), open)
        .forEach((symbol, extent) -> extents.put(symbol, Dim.of(extent)));
    symbols.removeAll(extents.keySet());
    if (!symbols.isEmpty()) {
      throw new PartitaException(symbols.stream().map(Preparation::missing).toList());
    }
    return run(StandardPasses.tidy(), DimensionBinding.bind(module, extents));
  }
}
