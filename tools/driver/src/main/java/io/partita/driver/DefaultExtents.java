package io.partita.driver;

import io.partita.frontend.onnx.DefaultSizes;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.state.PositionTables;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Default extents of a graph's inputs: one sequence, one token of a decoder, images of a common
 * size, and sequences of 128 elements, or fewer if the model has fewer positions.
 */
final class DefaultExtents {
  private static final long LENGTH = DefaultSizes.LENGTHS.getFirst();

  private final Graph graph;
  private final SortedSet<String> tokens;
  private final Consumer<Diagnostic> notes;
  private final Map<String, Long> chosen = new LinkedHashMap<>();
  private final Map<String, Dim> extents = new HashMap<>();
  private PositionTables tables;

  /**
   * @param tokens the symbols of the number of tokens of a decoder
   * @param notes receives notes about choices
   */
  DefaultExtents(Graph graph, SortedSet<String> tokens, Consumer<Diagnostic> notes) {
    this.graph = graph;
    this.tokens = tokens;
    this.notes = notes;
  }

  /**
   * Returns the extents of all symbols for which one is found that the graph takes.
   *
   * @param given the extents that are already chosen
   * @param open the symbols that need no number
   */
  Map<String, Long> choose(Map<String, Long> given, Set<String> open) {
    given.forEach((symbol, extent) -> extents.put(symbol, Dim.of(extent)));
    SortedSet<String> missing = new TreeSet<>(graph.symbols());
    missing.removeAll(given.keySet());
    missing.removeAll(open);
    for (String symbol : List.copyOf(missing)) {
      if (chooseOne(symbol)) {
        missing.remove(symbol);
      }
    }
    SortedSet<String> images = images();
    images.retainAll(missing);
    chooseImage(images);
    missing.removeAll(images);
    missing.forEach(this::chooseLength);
    return chosen;
  }

  private boolean chooseOne(String symbol) {
    if (DefaultSizes.isBatch(symbol)
        || !tokens.contains(symbol) && DefaultSizes.isBatch(symbol, inputTypes())) {
      chooseBatch(symbol);
    } else if (tokens.contains(symbol)) {
      choose(symbol, 1, DriverCode.DEFAULT_EXTENT, "a decoder takes 1 token at a time");
    } else if (!read(graph).contains(symbol)) {
      choose(symbol, 1, DriverCode.DEFAULT_EXTENT, "it becomes 1, since nothing reads it");
    } else if (isCount(symbol)) {
      choose(symbol, 1, DriverCode.DEFAULT_EXTENT, "it becomes 1: it counts sequences");
    } else {
      return false;
    }
    return true;
  }

  /** Chooses one sequence, or as many as the model was made for. */
  private void chooseBatch(String symbol) {
    for (long batch : DefaultSizes.BATCHES) {
      if (fits(Set.of(symbol), batch)) {
        boolean isUsual = batch == DefaultSizes.BATCHES.getFirst();
        String reason = "it becomes " + batch + (isUsual ? "" : ", the first that the model takes");
        choose(symbol, batch, DriverCode.DEFAULT_BATCH, reason);
        return;
      }
    }
    choose(symbol, 1, DriverCode.DEFAULT_BATCH, "it becomes 1");
  }

  /**
   * Whether position tables have enough rows for a graph with the chosen lengths. Its batch may be
   * dynamic; tables that grow with the number of sequences count as long enough.
   */
  static boolean hasRows(Graph graph) {
    Map<String, Dim> batches = new HashMap<>();
    graph.symbols().stream()
        .filter(DefaultSizes::isBatch)
        .forEach(symbol -> batches.put(symbol, Dim.of(DefaultSizes.BATCHES.getLast())));
    return PositionTables.of(graph).reach(batches);
  }

  /** Whether it counts sequences, such as choices: a dimension of ids follows it. */
  private boolean isCount(String symbol) {
    return places(
        symbol,
        (type, axis) -> type.element().isInteger() && type.rank() > 2 && axis < type.rank() - 1);
  }

  private List<TensorType> inputTypes() {
    return graph.inputs().stream().map(Value::type).toList();
  }

  private interface Place {
    boolean test(TensorType input, int axis);
  }

  /** Whether the symbol is an extent of some input, and always in such a position. */
  private boolean places(String symbol, Place expected) {
    boolean any = false;
    for (Value input : graph.inputs()) {
      for (int axis = 0; axis < input.type().rank(); axis++) {
        if (input.type().dim(axis).symbols().contains(symbol)) {
          if (!expected.test(input.type(), axis)) {
            return false;
          }
          any = true;
        }
      }
    }
    return any;
  }

  /**
   * The heights and widths of images: the last two of four or more dimensions, if both are dynamic
   * and occur nowhere else.
   */
  private SortedSet<String> images() {
    SortedSet<String> images = new TreeSet<>(graph.symbols());
    images.removeIf(symbol -> !places(symbol, DefaultExtents::isSize));
    return images;
  }

  private static boolean isSize(TensorType type, int axis) {
    int rank = type.rank();
    return rank >= 4
        && axis >= rank - 2
        && type.element().isFloat()
        && !type.shape().fromEnd(0).isStatic()
        && !type.shape().fromEnd(1).isStatic();
  }

  private void chooseImage(Set<String> images) {
    if (images.isEmpty()) {
      return;
    }
    for (long size : DefaultSizes.IMAGES) {
      if (fits(images, size)) {
        String reason = "it becomes " + size + ", a common size of images";
        images.forEach(symbol -> choose(symbol, size, DriverCode.DEFAULT_EXTENT, reason));
        return;
      }
    }
  }

  private void chooseLength(String symbol) {
    if (fits(Set.of(symbol), LENGTH)) {
      choose(symbol, LENGTH, DriverCode.DEFAULT_EXTENT, "it becomes " + LENGTH);
      return;
    }
    OptionalLong most = most(symbol, LENGTH);
    if (most.isPresent()) {
      String reason = "it becomes " + most.getAsLong() + ", the most that the model takes";
      choose(symbol, most.getAsLong(), DriverCode.DEFAULT_EXTENT, reason);
      return;
    }
    DefaultSizes.LENGTHS.stream()
        .filter(length -> fits(Set.of(symbol), length))
        .findFirst()
        .ifPresent(
            length -> {
              String reason = "it becomes " + length + ", the first common length that fits";
              choose(symbol, length, DriverCode.DEFAULT_EXTENT, reason);
            });
  }

  /** The largest extent below one that doesn't fit; empty if bisection doesn't find it. */
  private OptionalLong most(String symbol, long misfit) {
    long fits = 0;
    long fails = misfit;
    while (fails - fits > 1) {
      long middle = (fits + fails) / 2;
      if (fits(Set.of(symbol), middle)) {
        fits = middle;
      } else {
        fails = middle;
      }
    }
    return fits == 0 ? OptionalLong.empty() : OptionalLong.of(fits);
  }

  /** The largest extent that fits in place of one that doesn't, together with the known ones. */
  OptionalLong mostInPlaceOf(String symbol, long misfit, Map<String, Long> given) {
    given.forEach((name, extent) -> extents.put(name, Dim.of(extent)));
    extents.remove(symbol);
    return most(symbol, misfit);
  }

  private void choose(String symbol, long extent, DriverCode code, String reason) {
    chosen.put(symbol, extent);
    extents.put(symbol, Dim.of(extent));
    notes.accept(
        new Diagnostic(
            code,
            "dimension " + symbol,
            "",
            "no --dim; " + reason,
            "choose it with --dim " + symbol + "=" + extent));
  }

  /** Whether the graph can be computed with such extents, and computes something. */
  private boolean fits(Set<String> symbols, long extent) {
    Map<String, Dim> trial = new HashMap<>(extents);
    symbols.forEach(symbol -> trial.put(symbol, Dim.of(extent)));
    Graph bound;
    try {
      bound = DimensionBinding.bind(graph, trial);
    } catch (TypeMismatch | ArithmeticException | IllegalArgumentException misfit) {
      return false;
    }
    for (int i = 0; i < bound.nodes().size(); i++) {
      for (int result = 0; result < bound.nodes().get(i).results().size(); result++) {
        TensorType before = graph.nodes().get(i).results().get(result).type();
        TensorType after = bound.nodes().get(i).results().get(result).type();
        if (before.element().isFloat() && !isEmpty(before) && isEmpty(after)) {
          return false;
        }
      }
    }
    tables = tables == null ? PositionTables.of(graph) : tables;
    return tables.reach(trial, symbols);
  }

  private static boolean isEmpty(TensorType type) {
    return type.shape().dims().stream().anyMatch(dim -> dim.isStatic() && dim.value() <= 0);
  }

  /** The symbols of inputs that a node or output reads, and of values computed from them. */
  private static SortedSet<String> read(Graph graph) {
    SortedSet<String> symbols = new TreeSet<>();
    Set<Value> readers = graph.readers().keySet();
    for (Value input : graph.inputs()) {
      if (readers.contains(input)
          || graph.outputs().stream().anyMatch(output -> output.value() == input)) {
        input.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
      }
    }
    for (Node node : graph.nodes()) {
      for (Value result : node.results()) {
        result.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
      }
    }
    return symbols;
  }
}
