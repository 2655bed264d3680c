package io.partita.driver;

import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Module;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import io.partita.passes.state.KvStatePass;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Keeps a decoder's KV cache as state, or says why it stays inputs and outputs. */
final class CacheAsState {
  private final Consumer<Diagnostic> notes;
  private final Set<String> lengths;
  private final Map<String, Long> dims;

  /**
   * @param lengths symbols of the lengths of the past
   * @param dims what the user gave
   */
  CacheAsState(Consumer<Diagnostic> notes, Set<String> lengths, Map<String, Long> dims) {
    this.notes = notes;
    this.lengths = lengths;
    this.dims = dims;
  }

  /**
   * The symbols of the lengths of inputs that are called past keys or values, but for those that
   * other inputs have too.
   */
  static Set<String> lengths(OnnxModel model) {
    Set<String> symbols = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    for (Map.Entry<String, TensorType> input : model.inputTypes().entrySet()) {
      TensorType type = input.getValue();
      boolean isCache =
          input.getKey().toLowerCase(Locale.ROOT).contains("past") && type.rank() >= 3;
      boolean isToken = type.element().isInteger() && type.rank() >= 1;
      if (isCache) {
        type.shape().dims().forEach(dim -> symbols.addAll(dim.symbols()));
      } else if (isToken && !input.getKey().toLowerCase(Locale.ROOT).contains("mask")) {
        type.shape().dims().forEach(dim -> others.addAll(dim.symbols()));
      }
    }
    symbols.removeAll(others);
    return symbols;
  }

  boolean applies(Module raised) {
    return KvStatePass.applies(raised) || !lengths.isEmpty();
  }

  /** Symbols that need no number yet. */
  Set<String> ownSymbols(Module raised) {
    Set<String> symbols = new TreeSet<>(lengths);
    symbols.addAll(KvStatePass.ownSymbols(raised));
    return symbols;
  }

  /**
   * The module with its cache as state where that can be.
   *
   * @param raised all of whose symbols but {@link #ownSymbols} are numbers
   */
  Module keep(Module raised) {
    if (!KvStatePass.applies(raised)) {
      return asInputs(raised, "attention over a past input joined with new keys", "none");
    }
    OptionalLong fixed = KvStatePass.fixedPast(raised);
    if (fixed.isPresent()) {
      notes.accept(fixedPast(fixed.getAsLong()));
      return raised;
    }
    try {
      Module open = DimensionBinding.bind(raised, given(KvStatePass.ownSymbols(raised)));
      return new KvStatePass(capacity(KvStatePass.pastLength(open)), notes).run(open);
    } catch (PartitaException refused) {
      Diagnostic why = refused.diagnostics().getFirst();
      if (why.code() != PassCode.NO_CACHE) {
        throw refused;
      }
      return asInputs(raised, why.expected(), why.found() + ", at " + why.where());
    }
  }

  /** What the user gave for symbols that turned out not to be the cache's length. */
  private Map<String, Dim> given(Set<String> cache) {
    Map<String, Dim> given = new TreeMap<>();
    for (String symbol : lengths) {
      if (!cache.contains(symbol) && dims.containsKey(symbol)) {
        given.put(symbol, Dim.of(dims.get(symbol)));
      }
    }
    return given;
  }

  private Module asInputs(Module raised, String expected, String found) {
    Map<String, Dim> extents = new LinkedHashMap<>();
    for (String symbol : ownSymbols(raised)) {
      if (dims.containsKey(symbol)) {
        extents.put(symbol, Dim.of(dims.get(symbol)));
      }
    }
    notes.accept(
        new Diagnostic(
            PassCode.CACHE_NOT_KEPT,
            "the inputs of past keys and values",
            expected,
            found,
            "give the program its past at each run, or export the model otherwise"));
    return DimensionBinding.bind(raised, extents);
  }

  private long capacity(String past) {
    if (dims.containsKey(past)) {
      if (dims.get(past) < 1) {
        throw new PartitaException(
            DriverCode.BAD_BINDING,
            "--dim " + past + "=" + dims.get(past),
            "1 or more: it is the capacity of the KV cache, in positions",
            Long.toString(dims.get(past)),
            "add --dim " + past + "=" + Compilation.DEFAULT_CAPACITY);
      }
      return dims.get(past);
    }
    notes.accept(
        new Diagnostic(
            DriverCode.DEFAULT_CAPACITY,
            "dimension " + past,
            "",
            "no --kv-capacity; the KV cache gets " + Compilation.DEFAULT_CAPACITY + " positions",
            "choose another capacity with --kv-capacity N"));
    return Compilation.DEFAULT_CAPACITY;
  }

  private static Diagnostic fixedPast(long positions) {
    return new Diagnostic(
        DriverCode.FIXED_PAST,
        "the inputs of past keys and values",
        "",
        "a past of " + positions + " positions, no more and no less",
        "for a decoder that keeps its cache, export the model with a dynamic length of the past");
  }
}
