package io.partita.passes.graph.state;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Tables whose rows a model takes by positions that it counts from the extents of its inputs, such
 * as learned position embeddings. The extents must not lead beyond the last row.
 */
public final class PositionTables {
  private static final int MAX_STEPS = 2_000;

  /** The largest number of elements of a value that is computed for this check. */
  private static final long MAX_ELEMENTS = 1 << 22;

  /** The usual id of padding, after which a count of real tokens begins. */
  private static final int NO_PADDING = 2;

  /** A placeholder for a table that isn't constant. */
  private static final String TABLE = "the table";

  /**
   * A use of one table.
   *
   * @param part the graph that computes the rows, its only output
   * @param symbols the symbols on which positions and the table depend
   */
  private record Lookup(Graph part, Set<String> symbols) {
    Lookup(Graph part) {
      this(part, PartialGraph.symbols(part));
    }

    /** Whether positions are independent of the values of inputs. */
    boolean isCertain() {
      return part.inputs().stream().allMatch(input -> input.name().equals(TABLE));
    }
  }

  /**
   * A missing row.
   *
   * @param node the node that uses it
   * @param expected the existing rows
   * @param found the row that is used
   */
  public record MissingRow(String node, String expected, String found) {}

  private final List<Lookup> lookups;

  private PositionTables(List<Lookup> lookups) {
    this.lookups = lookups;
  }

  /** Returns the tables of a graph whose extents may be symbols. */
  public static PositionTables of(Graph graph) {
    GraphEditor editor = new GraphEditor(graph);
    return new PositionTables(
        graph.nodes().stream()
            .filter(node -> isLookup(node.op()) && isCounted(node.operand(1)))
            .map(node -> lookup(editor, node))
            .toList());
  }

  /** Whether an operation gathers elements of its first operand by indices in the second one. */
  static boolean isLookup(Op op) {
    return op instanceof Movement.Gather
        || op instanceof Movement.GatherElements
        || op instanceof Movement.GatherNd
        || op instanceof Structured.Embedding;
  }

  private static Lookup lookup(GraphEditor graph, Node node) {
    GraphBuilder builder = new GraphBuilder("positions");
    Value table = node.operand(0);
    List<Value> wanted = isConstant(table) ? node.operands() : node.operands().subList(1, 2);
    Map<Value, Value> copies = PartialGraph.copy(graph, wanted, builder);
    Value rows = isConstant(table) ? copies.get(table) : builder.input(TABLE, table.type());
    builder.at(node);
    builder.output("rows", builder.add(node.op(), rows, copies.get(node.operand(1))));
    return new Lookup(builder.finish());
  }

  private static boolean isConstant(Value value) {
    return !value.isInput() && value.definition().op() instanceof Source.Constant;
  }

  /** Whether integers are counted from extents, masks and integer inputs alone. */
  private static boolean isCounted(Value indices) {
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(indices));
    boolean counts = false;
    boolean reads = false;
    while (!work.isEmpty()) {
      Value value = work.pop();
      if (!seen.add(value)) {
        continue;
      }
      if (isData(value) || seen.size() > MAX_STEPS) {
        return false;
      }
      if (value.isInput()) {
        reads = true;
        counts |= Position.isPosition(value);
        continue;
      }
      Node node = value.definition();
      boolean isLearned = node.op() instanceof Contraction || node.op() instanceof Structured;
      if (isLearned) {
        return false;
      }
      counts |=
          node.op() instanceof Source.Iota
              || node.op() instanceof Source.Extent
              || node.op() instanceof Reduction.Cumulative
              || node.op() instanceof Movement.Slice && isConstant(node.operand(0));
      work.addAll(node.operands());
    }
    return counts || !reads;
  }

  private static boolean isData(Value value) {
    return value.isInput() && value.type().element().isFloat() && !isMask(value);
  }

  private static boolean isMask(Value input) {
    return input.name().toLowerCase(Locale.ROOT).contains("mask");
  }

  /**
   * Whether all rows that are used for these extents exist, or this is unknown.
   *
   * @param tried the symbols in question; tables that don't depend on them are assumed long enough
   */
  public boolean reach(Map<String, Dim> extents, Set<String> tried) {
    return lookups.stream()
        .filter(lookup -> !Collections.disjoint(lookup.symbols(), tried))
        .allMatch(lookup -> missing(lookup, extents).isEmpty());
  }

  /** Whether all rows that are used for these extents exist, or this is unknown. */
  public boolean reach(Map<String, Dim> extents) {
    return lookups.stream().allMatch(lookup -> missing(lookup, extents).isEmpty());
  }

  /** Returns a row that is missing for these extents, for any values of inputs. */
  public Optional<MissingRow> missing(Map<String, Dim> extents) {
    return lookups.stream()
        .filter(Lookup::isCertain)
        .flatMap(lookup -> missing(lookup, extents).stream())
        .findFirst();
  }

  private static Optional<MissingRow> missing(Lookup lookup, Map<String, Dim> extents) {
    String node = lookup.part().nodes().getLast().name();
    try {
      Graph bound = DimensionBinding.bind(lookup.part(), extents);
      if (isComputable(bound)) {
        Evaluator.run(bound, bound.inputs().stream().map(PositionTables::usual).toList());
      }
      return Optional.empty();
    } catch (PartitaException outside) {
      Diagnostic why = outside.diagnostics().getFirst();
      return Optional.of(new MissingRow(node, why.expected(), why.found()));
    } catch (TypeMismatch misfit) {
      return Optional.of(new MissingRow(node, misfit.expected(), misfit.found()));
    } catch (ArithmeticException
        | IllegalArgumentException
        | IndexOutOfBoundsException impossible) {
      return Optional.of(new MissingRow(node, "another extent", impossible.getMessage()));
    }
  }

  private static boolean isComputable(Graph bound) {
    List<TensorType> types = new ArrayList<>();
    bound.inputs().forEach(input -> types.add(input.type()));
    for (Node node : bound.nodes()) {
      if (!(node.op() instanceof Source.Constant)) {
        node.results().forEach(result -> types.add(result.type()));
      }
    }
    return PartialGraph.symbols(bound).isEmpty()
        && types.stream()
            .allMatch(type -> type.isStatic() && type.shape().elements() <= MAX_ELEMENTS);
  }

  /** Returns the value of an input without padding. */
  private static Tensor usual(Value input) {
    TensorType type = input.type();
    if (isMask(input) || input.name().equals(TABLE)) {
      return Tensor.filled(type, 1);
    }
    if (!Position.isPosition(input)) {
      return Tensor.filled(type, NO_PADDING);
    }
    return FilledInputs.positions(type, 0);
  }
}
