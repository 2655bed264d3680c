package io.partita.driver;

import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Module;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import io.partita.passes.graph.state.CapacityBeyondModel;
import io.partita.passes.graph.state.KvStatePass;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Turns a decoder's KV cache into state, or states why it stays inputs and outputs. */
final class CacheAsState {
  private final Consumer<Diagnostic> notes;
  private final Set<String> lengths;
  private final Map<String, Long> dims;
  private final List<CapacityOption> stated;

  /**
   * @param lengths the symbols of the lengths of the past
   * @param dims the user's values for them
   * @param stated the options that gave these values
   */
  CacheAsState(
      Consumer<Diagnostic> notes,
      Set<String> lengths,
      Map<String, Long> dims,
      List<CapacityOption> stated) {
    this.stated = stated;
    this.notes = notes;
    this.lengths = lengths;
    this.dims = dims;
  }

  /**
   * The symbols of the lengths of inputs named past keys or values, except those that other inputs
   * also have.
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

  /** The symbols that need no number yet. */
  Set<String> ownSymbols(Module raised) {
    Set<String> symbols = new TreeSet<>(lengths);
    symbols.addAll(KvStatePass.ownSymbols(raised));
    return symbols;
  }

  /**
   * A decoder.
   *
   * @param capacity positions of its cache; empty if the cache isn't state
   */
  record Kept(Module module, OptionalLong capacity) {}

  /**
   * Returns the module, with its cache as state if possible.
   *
   * @param raised the raised module, with numbers for all symbols but {@link #ownSymbols}
   */
  Kept keep(Module raised) {
    if (!KvStatePass.applies(raised)) {
      String found = KvStatePass.unraised(raised, lengths).orElse("none");
      return asInputs(raised, "attention over a past input concatenated with new keys", found);
    }
    if (KvStatePass.hasOwnCapacity(raised)) {
      return new Kept(KvStatePass.withOwnCapacity(raised), OptionalLong.empty());
    }
    OptionalLong fixed = KvStatePass.fixedPast(raised);
    if (fixed.isPresent()) {
      notes.accept(fixedPast(fixed.getAsLong()));
      return new Kept(raised, OptionalLong.empty());
    }
    try {
      Module open = DimensionBinding.bind(raised, given(KvStatePass.ownSymbols(raised)));
      return kept(open, KvStatePass.pastLength(open));
    } catch (PartitaException refused) {
      Diagnostic why = refused.diagnostics().getFirst();
      if (why.code() != PassCode.NO_CACHE) {
        throw refused;
      }
      return asInputs(raised, why.expected(), why.found() + ", at " + why.where());
    }
  }

  /** The user's values for symbols that aren't the cache's length. */
  private Map<String, Dim> given(Set<String> cache) {
    Map<String, Dim> given = new TreeMap<>();
    for (String symbol : lengths) {
      if (!cache.contains(symbol) && dims.containsKey(symbol)) {
        given.put(symbol, Dim.of(dims.get(symbol)));
      }
    }
    return given;
  }

  private Kept asInputs(Module raised, String expected, String found) {
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
            "pass the past to the program at each run, or export the model in another way"));
    return new Kept(DimensionBinding.bind(raised, extents), OptionalLong.empty());
  }

  private Kept kept(Module open, String past) {
    if (!dims.containsKey(past)) {
      return withUsualCapacity(open, past);
    }
    long positions = dims.get(past);
    if (positions < 1) {
      throw new PartitaException(
          DriverCode.BAD_BINDING,
          stated.getFirst().option(),
          "1 or more, the capacity of the KV cache in positions",
          Long.toString(positions),
          "choose " + options(usual(open).positions()));
    }
    try {
      return new Kept(new KvStatePass(positions, notes).keep(open), OptionalLong.of(positions));
    } catch (CapacityBeyondModel beyond) {
      throw beyond.diagnosed("choose " + options(beyond.positions()) + ", or less");
    }
  }

  /** The options for another capacity. */
  private String options(long positions) {
    return stated.stream().map(each -> each.optionFor(positions)).collect(Collectors.joining(" "));
  }

  private Kept withUsualCapacity(Module open, String past) {
    Usual usual = usual(open);
    notes.accept(usualCapacity(past, usual.positions()));
    usual.notes().forEach(notes);
    return new Kept(usual.module(), OptionalLong.of(usual.positions()));
  }

  private record Usual(Module module, long positions, List<Diagnostic> notes) {}

  /** Uses the default number of positions, or the model's maximum if that is smaller. */
  private static Usual usual(Module open) {
    long positions = Preparation.DEFAULT_CAPACITY;
    while (true) {
      List<Diagnostic> held = new ArrayList<>();
      try {
        Module kept = new KvStatePass(positions, held::add).keep(open);
        return new Usual(kept, positions, held);
      } catch (CapacityBeyondModel beyond) {
        if (beyond.positions() < 1 || beyond.positions() >= positions) {
          throw beyond.diagnosed("report this as a bug in Partita, with the model");
        }
        positions = beyond.positions();
      }
    }
  }

  private static Diagnostic usualCapacity(String past, long positions) {
    boolean isUsual = positions == Preparation.DEFAULT_CAPACITY;
    return new Diagnostic(
        DriverCode.DEFAULT_CAPACITY,
        "dimension " + past,
        "",
        "no --kv-capacity; the KV cache gets "
            + positions
            + " positions"
            + (isUsual ? "" : ", the maximum of the model"),
        "choose it with --kv-capacity " + positions);
  }

  private static Diagnostic fixedPast(long positions) {
    return new Diagnostic(
        DriverCode.FIXED_PAST,
        "the inputs of past keys and values",
        "",
        "a past of exactly " + positions + " positions",
        "for a decoder that keeps its cache, export the model with a dynamic length of the past");
  }
}
