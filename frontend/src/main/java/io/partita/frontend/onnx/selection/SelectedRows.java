package io.partita.frontend.onnx.selection;

import io.partita.frontend.onnx.ImportCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.Dim;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Removes extents that depend on data: instead of the rows that a NonZero finds, all rows are
 * computed, and a mask selects the valid ones when they are scattered or summed.
 *
 * <p>Exporters write mixtures of experts in this way: each expert gathers the tokens that selected
 * it, computes, and adds its results at their positions. Instead, all experts compute all tokens,
 * and results of unselected experts aren't added.
 */
public final class SelectedRows {
  private final Map<String, Selection> selections = new HashMap<>();
  private final Map<Value, Value> copies = new IdentityHashMap<>();
  private final Map<Value, Rows> rows = new IdentityHashMap<>();
  private final RowBuilder of;
  private final Function<Value, Optional<List<Dim>>> known;

  private SelectedRows(GraphBuilder graph, Function<Value, Optional<List<Dim>>> known) {
    this.of = new RowBuilder(graph);
    this.known = known;
  }

  /**
   * Returns the graph without the inputs for selections and without their symbols.
   *
   * @param known returns the elements of an integer value, if known
   * @throws PartitaException if rows are used in another way than row by row
   */
  public static Graph resolve(
      Graph graph, List<Selection> selections, Function<Value, Optional<List<Dim>>> known) {
    if (selections.isEmpty()) {
      return graph;
    }
    GraphBuilder builder = new GraphBuilder(graph.name());
    SelectedRows pass = new SelectedRows(builder, known);
    Set<Value> standIns = new HashSet<>();
    for (Selection selection : selections) {
      pass.selections.put(selection.count().toString(), selection);
      standIns.add(selection.coordinates());
    }
    for (Value input : graph.inputs()) {
      if (!standIns.contains(input)) {
        pass.copies.put(input, builder.input(input.name(), input.type()));
      }
    }
    Set<Node> live = pass.live(graph);
    for (Node node : graph.nodes()) {
      if (live.contains(node)) {
        builder.at(node);
        pass.convert(node);
      }
    }
    for (Graph.Output output : graph.outputs()) {
      Value value = pass.copies.get(output.value());
      if (value == null) {
        throw unsupported("output \"" + output.name() + "\"", "an output of this extent");
      }
      builder.output(output.name(), value);
    }
    return builder.finish();
  }

  /**
   * Returns the nodes on which outputs depend, also through masks; other nodes may use rows in any
   * way.
   */
  private Set<Node> live(Graph graph) {
    Map<Value, Value> masks = new IdentityHashMap<>();
    selections.values().forEach(each -> masks.put(each.coordinates(), each.mask()));
    Set<Node> live = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>();
    graph.outputs().forEach(output -> work.push(output.value()));
    while (!work.isEmpty()) {
      Value value = work.pop();
      if (masks.containsKey(value)) {
        work.push(masks.get(value));
      } else if (!value.isInput() && live.add(value.definition())) {
        value.definition().operands().forEach(work::push);
        work.addAll(masksOf(value.definition()));
      }
    }
    return live;
  }

  /** Returns the masks of extents that are only in attributes of a node. */
  private List<Value> masksOf(Node node) {
    Stream<Dim> counted =
        node.op() instanceof Source.Extent(Dim size) ? Stream.of(size) : Stream.empty();
    Stream<Dim> extents =
        node.results().stream().flatMap(result -> result.type().shape().dims().stream());
    return Stream.concat(counted, extents)
        .flatMap(dim -> selection(dim).stream())
        .map(Selection::mask)
        .toList();
  }

  private static PartitaException unsupported(String where, String what) {
    return new PartitaException(
        ImportCode.UNSUPPORTED_USE,
        where,
        "",
        what + ", which depends on data through a NonZero",
        "select by a mask (torch.where, or a product with 0 and 1) instead of by indices");
  }

  /** Returns the selection whose symbol an extent has, if any. */
  Optional<Selection> selection(Dim dim) {
    return dim.symbols().stream().filter(selections::containsKey).findFirst().map(selections::get);
  }

  boolean depends(Dim dim) {
    return selection(dim).isPresent();
  }

  /** Returns the mask of a selection in the new graph. */
  Value mask(Selection selection) {
    return copies.get(selection.mask());
  }

  RowBuilder of() {
    return of;
  }

  Optional<Rows> rows(Value value) {
    Rows found = rows.get(value);
    if (found == null && value.isInput() && !copies.containsKey(value)) {
      Selection selection =
          selections.values().stream()
              .filter(each -> each.coordinates() == value)
              .findFirst()
              .orElseThrow();
      found = of.coordinates(selection);
      rows.put(value, found);
    }
    return Optional.ofNullable(found);
  }

  /** Returns the counterpart of a value without rows in the new graph. */
  Value plain(Value value) {
    Value copy = copies.get(value);
    if (copy == null) {
      throw new UnsupportedRows("rows of a selection as an operand");
    }
    return copy;
  }

  Optional<List<Dim>> known(Value value) {
    return known.apply(value);
  }

  void give(Value value, Value copy) {
    copies.put(value, copy);
  }

  void give(Value value, Rows result) {
    rows.put(value, result);
  }

  private void convert(Node node) {
    boolean selected =
        node.operands().stream().anyMatch(operand -> rows(operand).isPresent())
            || node.results().stream()
                .anyMatch(result -> result.type().shape().dims().stream().anyMatch(this::depends))
            || RowOperations.counts(node.op(), this);
    try {
      if (selected) {
        new RowOperations(this, node).convert();
      } else {
        List<Value> operands = node.operands().stream().map(this::plain).toList();
        Node copy = of.graph().addNode(node.op(), operands);
        for (Value result : node.results()) {
          give(result, copy.results().get(result.index()));
        }
      }
    } catch (UnsupportedRows
        | TypeMismatch
        | IndexOutOfBoundsException
        | ArithmeticException failure) {
      String what = failure instanceof UnsupportedRows ? failure.getMessage() : "this extent";
      throw unsupported("node \"" + node.name() + "\" (" + node.op().mnemonic() + ")", what);
    }
  }

  /** A use of selected rows that isn't supported on all rows. */
  static final class UnsupportedRows extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnsupportedRows(String what) {
      super(what, null, false, false);
    }
  }
}
