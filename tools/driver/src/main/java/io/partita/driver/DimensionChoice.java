package io.partita.driver;

import io.partita.frontend.onnx.Choice;
import io.partita.frontend.onnx.DefaultSizes;
import io.partita.frontend.onnx.DerivedDimension;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.state.KvStatePass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The dimensions of a model to compile: the user's values, those derived from them, and defaults. A
 * decoder takes one token of one sequence at a time; the length of its past stays dynamic, and the
 * user's value for it is the capacity of its cache.
 */
final class DimensionChoice {
  private final OnnxModel model;
  private final Map<String, String> values;
  private final Map<String, Shape> shapes;
  private final Consumer<Diagnostic> notes;
  private final Map<String, Long> dims = new LinkedHashMap<>();
  private final List<CapacityOption> capacities = new ArrayList<>();

  /**
   * @param imported the model imported with these numbers
   * @param settled the numbers by name, except those of the cache and derived ones
   * @param cache the symbols of the lengths of the past, which are dynamic; empty unless it's a
   *     decoder
   * @param capacity positions of the cache, if the user sets them
   * @param stated the options that set them
   */
  record Chosen(
      ImportResult imported,
      Map<String, Long> settled,
      SortedSet<String> cache,
      OptionalLong capacity,
      List<CapacityOption> stated) {
    /** Maps each length of the past to the user's capacity, if any. */
    Map<String, Long> cacheDims() {
      Map<String, Long> extents = new TreeMap<>();
      cache.forEach(symbol -> capacity.ifPresent(number -> extents.put(symbol, number)));
      return extents;
    }
  }

  /**
   * @param values the values of inputs that determine shapes
   * @param shapes shapes of inputs that override the declared ones
   * @param notes receives notes about choices
   */
  DimensionChoice(
      OnnxModel model,
      Map<String, String> values,
      Map<String, Shape> shapes,
      Consumer<Diagnostic> notes) {
    this.shapes = shapes;
    this.model = model;
    this.values = values;
    this.notes = notes;
  }

  /**
   * Imports the model with the user's values.
   *
   * @param given extents by name
   * @param positions the capacity of the cache
   * @throws PartitaException if the model can't be imported, or the given values contradict each
   *     other
   */
  Chosen of(Map<String, Long> given, OptionalLong positions) {
    positions.ifPresent(
        number -> capacities.add(new CapacityOption("--kv-capacity ", number, number)));
    ImportResult open = ModelFile.examine(model, Map.of(), values);
    if (open.module().isEmpty()) {
      return withoutLook(given);
    }
    Module look = open.module().get();
    DecoderDimensions decoder = DecoderDimensions.of(look);
    Set<String> totals = totals(look, decoder);
    Map<String, Long> byTotal = new TreeMap<>();
    Map<String, DerivedDimension> derived = new HashMap<>();
    open.derived().forEach(dimension -> derived.put(dimension.name(), dimension));
    Map<String, Long> byCache = new TreeMap<>();
    given.forEach(
        (name, extent) -> {
          String symbol = open.symbol(name);
          if (decoder.past().contains(symbol)) {
            capacities.add(stated(name, extent, extent));
          } else if (totals.contains(symbol)) {
            byTotal.put(name, extent);
          } else if (derived.containsKey(symbol)
              && derived.get(symbol).extent().symbols().stream()
                  .anyMatch(decoder.past()::contains)) {
            byCache.put(name, extent);
          } else {
            dims.put(name, extent);
          }
        });
    chooseUsual(look, decoder, totals, given, open);
    keepChoices(open, given);
    byTotal.forEach(
        (name, extent) -> capacities.add(stated(name, extent, extent - newTokens(decoder))));
    byCache.forEach(
        (name, extent) -> capacity(name, extent, derived.get(open.symbol(name)), decoder));
    given.forEach(
        (name, extent) -> {
          DerivedDimension dimension = derived.get(open.symbol(name));
          if (dimension != null) {
            requireConsistent(name, extent, dimension, bound(dimension.extent()));
          }
        });
    ImportResult imported =
        new InvalidExtents(model, values, open, decoder, dims, given.keySet())
            .explain(
                dims.isEmpty() && shapes.isEmpty()
                    ? open
                    : ModelFile.examine(model, dims, values, shapes));
    requireNumbers(imported.orThrow().graph(), decoder, totals);
    tell(imported);
    Map<String, Long> settled = new LinkedHashMap<>(dims);
    settled.keySet().removeIf(name -> derived.containsKey(open.symbol(name)));
    return new Chosen(imported, settled, decoder.past(), capacity(), capacities);
  }

  /**
   * Symbols that implicitly denote past plus new tokens, such as the length of a mask that the
   * graph slices. They become apparent once attentions are raised.
   */
  private static Set<String> totals(Module look, DecoderDimensions decoder) {
    Set<String> others = new TreeSet<>(look.graph().symbols());
    others.removeAll(decoder.past());
    others.removeAll(decoder.tokens());
    others.removeIf(DefaultSizes::isBatch);
    if (!decoder.isDecoder() || others.isEmpty()) {
      return Set.of();
    }
    others.retainAll(
        KvStatePass.ownSymbols(StandardPasses.usual().run(look, (pass, before, after) -> {})));
    return others;
  }

  /** The tokens of a run: 1 if the model fixes their number. */
  private long newTokens(DecoderDimensions decoder) {
    return decoder.tokens().stream()
        .mapToLong(symbol -> dims.getOrDefault(symbol, 1L))
        .max()
        .orElse(1);
  }

  /**
   * Checks all dimensions except the length of the past and those derived from it, so that all
   * missing ones are reported at once.
   */
  private static void requireNumbers(Graph graph, DecoderDimensions decoder, Set<String> totals) {
    List<Diagnostic> missing = new ArrayList<>();
    for (String symbol : graph.symbols()) {
      if (!decoder.past().contains(symbol) && !totals.contains(symbol)) {
        missing.add(Preparation.missing(symbol));
      }
    }
    if (!missing.isEmpty()) {
      throw new PartitaException(missing);
    }
  }

  /** Imports a model that needs the user's values. */
  private Chosen withoutLook(Map<String, Long> given) {
    Map<String, Long> rest = new LinkedHashMap<>(given);
    Set<String> past = CacheAsState.lengths(model);
    past.forEach(
        symbol -> {
          if (rest.containsKey(symbol)) {
            long extent = rest.remove(symbol);
            capacities.add(stated(symbol, extent, extent));
          }
        });
    ImportResult imported = ModelFile.examine(model, rest, values, shapes);
    DecoderDimensions decoder = DecoderDimensions.of(imported.orThrow());
    tell(imported);
    return new Chosen(imported, rest, decoder.past(), capacity(), capacities);
  }

  private void chooseUsual(
      Module look,
      DecoderDimensions decoder,
      Set<String> totals,
      Map<String, Long> given,
      ImportResult open) {
    Set<String> needNone = new TreeSet<>(decoder.past());
    needNone.addAll(totals);
    Map<String, Long> known = new TreeMap<>();
    dims.forEach((name, extent) -> known.put(open.symbol(name), extent));
    given.keySet().stream()
        .map(open::symbol)
        .filter(symbol -> !known.containsKey(symbol))
        .forEach(needNone::add);
    dims.putAll(new DefaultExtents(look.graph(), decoder.tokens(), notes).choose(known, needNone));
  }

  /** Sizes that were found are reused, unless the user gives one of them. */
  private void keepChoices(ImportResult open, Map<String, Long> given) {
    boolean isOpen = open.choices().stream().noneMatch(choice -> given.containsKey(choice.name()));
    for (Choice choice : open.choices()) {
      if (isOpen && choice.isDimension()) {
        dims.put(choice.name(), choice.number());
        notes.accept(note(choice));
      }
    }
  }

  /** The capacity for which a dimension that grows with the past has the user's value. */
  private void capacity(
      String name, long extent, DerivedDimension dimension, DecoderDimensions decoder) {
    Dim open = bound(dimension.extent());
    String past = decoder.past().first();
    Dim rest = open.bind(Map.of(past, Dim.ZERO));
    Dim positions = Dim.of(extent).minus(rest);
    if (open.equals(Dim.symbol(past).plus(rest)) && positions.isStatic()) {
      capacities.add(stated(name, extent, positions.value()));
    }
  }

  private static CapacityOption stated(String name, long extent, long positions) {
    return new CapacityOption("--dim " + name + "=", extent, positions);
  }

  private Dim bound(Dim extent) {
    Map<String, Dim> numbers = new HashMap<>();
    dims.forEach((symbol, number) -> numbers.put(symbol, Dim.of(number)));
    return extent.bind(numbers);
  }

  private static void requireConsistent(
      String name, long given, DerivedDimension dimension, Dim extent) {
    if (extent.isStatic() && !extent.is(given)) {
      throw new PartitaException(
          DriverCode.DIMENSION_CONFLICT,
          "--dim " + name + "=" + given,
          extent + ", as " + dimension.equation() + " (required by " + dimension.requiredBy() + ")",
          Long.toString(given),
          "leave --dim " + name + "=" + given + " out: it is derived from the others");
    }
  }

  private OptionalLong capacity() {
    capacities.sort(Comparator.comparing(CapacityOption::option));
    for (CapacityOption each : capacities) {
      CapacityOption first = capacities.getFirst();
      if (each.positions() != first.positions()) {
        throw new PartitaException(
            DriverCode.DIMENSION_CONFLICT,
            each.option(),
            first.positions() + " positions in the KV cache, as " + first.option() + " says",
            each.positions() + " positions",
            "leave " + each.option() + " out");
      }
    }
    return capacities.stream().mapToLong(CapacityOption::positions).findFirst();
  }

  /** Reports the dimensions that the import derived and chose. */
  private void tell(ImportResult imported) {
    for (DerivedDimension dimension : imported.derived()) {
      notes.accept(
          new Diagnostic(
              DriverCode.DERIVED_DIMENSION,
              "dimension " + dimension.name(),
              dimension.declared(),
              dimension.equation() + ", required by " + dimension.requiredBy(),
              ""));
    }
    for (Choice choice : imported.choices()) {
      notes.accept(note(choice));
    }
  }

  private static Diagnostic note(Choice choice) {
    return new Diagnostic(
        DriverCode.CHOSEN_NUMBER,
        (choice.isDimension() ? "dimension " : "input ") + choice.name(),
        "",
        "not given; it becomes " + choice.number() + ": " + choice.reason(),
        "choose it with " + choice.option());
  }
}
