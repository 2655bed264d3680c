package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The constant tables of a model from which it takes rows by positions that it counts itself, such
 * as learned position embeddings. Extents of the model's inputs must not lead beyond their last
 * row.
 */
final class PositionTables {
  private static final int MOST_STEPS = 2_000;

  /** A count of real tokens begins behind tokens of padding, which often have this number. */
  private static final int NO_PADDING = 2;

  /**
   * A table.
   *
   * @param indices what computes the indices of rows, its only output
   */
  private record Table(long rows, Graph indices) {}

  private final List<Table> tables;

  private PositionTables(List<Table> tables) {
    this.tables = tables;
  }

  /** The tables of a graph whose extents may be symbols. */
  static PositionTables of(Graph graph) {
    List<Table> tables = new ArrayList<>();
    for (Node node : graph.nodes()) {
      int axis = axis(node.op());
      if (axis >= 0
          && node.operand(0).type().dim(axis).isStatic()
          && isConstant(node.operand(0))
          && isCounted(node.operand(1))) {
        long rows = node.operand(0).type().dim(axis).value();
        tables.add(new Table(rows, alone(graph, node.operand(1))));
      }
    }
    return new PositionTables(tables);
  }

  /** What computes a value, with the inputs that it needs. */
  private static Graph alone(Graph graph, Value value) {
    GraphEditor editor = new GraphEditor(graph);
    editor.addOutput("indices of rows", value);
    graph.outputs().forEach(output -> editor.removeOutput(output.name()));
    editor.dropDead();
    List.copyOf(editor.inputs()).stream()
        .filter(input -> editor.uses(input) == 0 && input != value)
        .forEach(editor::removeInput);
    return editor.freeze();
  }

  private static int axis(Op op) {
    return switch (op) {
      case Movement.Gather(int axis) -> axis;
      case Structured.Embedding embedding -> 0;
      default -> -1;
    };
  }

  private static boolean isConstant(Value value) {
    return !value.isInput() && value.definition().op() instanceof Source.Constant;
  }

  /** Whether integers follow from extents and from integer inputs alone, by counting. */
  private static boolean isCounted(Value indices) {
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Value> work = new ArrayDeque<>(List.of(indices));
    boolean counts = false;
    while (!work.isEmpty()) {
      Value value = work.pop();
      if (!seen.add(value)) {
        continue;
      }
      boolean isData = value.isInput() && value.type().element().isFloat();
      if (isData || seen.size() > MOST_STEPS) {
        return false;
      }
      if (value.isInput()) {
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
    return counts;
  }

  /**
   * Whether all rows exist that are taken at these extents; also where that isn't known.
   *
   * @param tried the symbols in question: tables that don't depend on them count as long enough
   */
  boolean reach(Map<String, Dim> extents, Set<String> tried) {
    return tables.stream()
        .filter(table -> !Collections.disjoint(table.indices().symbols(), tried))
        .allMatch(table -> reaches(table, extents));
  }

  private static boolean reaches(Table table, Map<String, Dim> extents) {
    Tensor positions;
    try {
      Graph bound = DimensionBinding.bind(table.indices(), extents);
      if (!bound.symbols().isEmpty()) {
        return true;
      }
      List<Tensor> inputs = new ArrayList<>();
      for (Value input : bound.inputs()) {
        boolean isMask = input.name().toLowerCase(Locale.ROOT).contains("mask");
        inputs.add(Tensor.filled(input.type(), isMask ? 1 : NO_PADDING));
      }
      positions = Evaluator.run(bound, inputs).getFirst();
    } catch (TypeMismatch
        | PartitaException
        | ArithmeticException
        | IllegalArgumentException
        | IndexOutOfBoundsException outside) {
      return false;
    }
    for (int i = 0; i < positions.size(); i++) {
      if (positions.getLong(i) >= table.rows() || positions.getLong(i) < -table.rows()) {
        return false;
      }
    }
    return true;
  }
}
