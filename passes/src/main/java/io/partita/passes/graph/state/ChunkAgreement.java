package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Checks that a token attends to the same keys in a chunk as alone. It doesn't if the exported mask
 * is valid for a single token only.
 */
public final class ChunkAgreement {
  /** The distance to the largest score of a row at which the exponential is zero in f32. */
  private static final double HIDDEN = -1e4;

  /**
   * The rounding error of a few f32 operations, relative to values that differ by a constant per
   * row.
   */
  private static final double TOLERANCE = 1e-4;

  private ChunkAgreement() {}

  /**
   * Returns an attention of the chunk that differs from that of the step; empty if all comparable
   * ones agree.
   *
   * @param step the decoder for one token, with its cache as state
   * @param chunk the decoder for several tokens
   */
  public static Optional<Node> difference(Module step, Module chunk) {
    List<Node> single = attentions(step.graph());
    List<Node> several = attentions(chunk.graph());
    if (single.size() != several.size()) {
      return Optional.empty();
    }
    Masks one = new Masks(step);
    Masks more = new Masks(chunk);
    Set<List<Object>> seen = new HashSet<>();
    for (int i = 0; i < single.size(); i++) {
      boolean isNew = seen.add(List.of(rules(single.get(i)), rules(several.get(i))));
      if (isNew && !agree(one, single.get(i), more, several.get(i))) {
        return Optional.of(several.get(i));
      }
    }
    return Optional.empty();
  }

  private static List<Object> rules(Node attention) {
    Structured.Attention op = (Structured.Attention) attention.op();
    return op.mask() ? List.of(op, attention.operand(3)) : List.of(op);
  }

  private static List<Node> attentions(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Structured.Attention of && of.keyLength())
        .toList();
  }

  private static boolean agree(Masks one, Node single, Masks more, Node several) {
    long n = several.operand(0).type().dim(2).value();
    long capacity = several.operand(1).type().dim(2).value();
    SortedSet<Long> starts = new TreeSet<>(List.of(0L, 1L, 2L, 5L, capacity / 2, capacity - n));
    for (long start : starts) {
      for (long row : new TreeSet<>(List.of(0L, 1L, n - 1))) {
        if (start < 0 || start + n > capacity || row >= n) {
          continue;
        }
        Optional<double[][]> alone = one.rows(single, start + row, 0);
        Optional<double[][]> inside = more.rows(several, start, row);
        if (alone.isPresent() && inside.isPresent() && !agree(alone.get(), inside.get())) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean agree(double[][] alone, double[][] inside) {
    int groups = Math.max(alone.length, inside.length);
    for (int group = 0; group < groups; group++) {
      double[] left = alone[group % alone.length];
      double[] right = inside[group % inside.length];
      double shift = Double.NaN;
      for (int key = 0; key < right.length; key++) {
        double expected = key < left.length ? left[key] : Double.NEGATIVE_INFINITY;
        boolean isHidden = expected == Double.NEGATIVE_INFINITY;
        if (isHidden != (right[key] == Double.NEGATIVE_INFINITY)) {
          return false;
        }
        if (!isHidden) {
          double difference = right[key] - expected;
          shift = Double.isNaN(shift) ? difference : shift;
          double scale = Math.max(1, Math.abs(expected));
          if (!(Math.abs(difference - shift) <= TOLERANCE * scale)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /** The biases of the attentions of a module, by position. */
  private static final class Masks {
    private final Positional positional;

    Masks(Module module) {
      GraphEditor graph = new GraphEditor(module.graph());
      Set<Value> caches = new HashSet<>();
      List<String> states = module.states().stream().map(Module.State::input).toList();
      graph.inputs().stream().filter(input -> states.contains(input.name())).forEach(caches::add);
      positional = new Positional(graph, "", new FilledInputs(graph.inputs(), caches, ""));
    }

    /**
     * Returns the bias of the scores of all keys up to the last new one, for each sequence and
     * head; minus infinity for hidden keys. Empty if it depends on more than the position.
     *
     * @param start the position of the first new token
     * @param row the index of the query among the new tokens
     */
    Optional<double[][]> rows(Node node, long start, long row) {
      Structured.Attention attention = (Structured.Attention) node.op();
      int total = Math.toIntExact(start + node.operand(0).type().dim(2).value());
      List<Tensor> masks = List.of();
      if (attention.mask()) {
        if (!positional.contains(node.operand(3))) {
          return Optional.empty();
        }
        masks = positional.at(List.of(node.operand(3)), start);
      }
      List<double[]> rows = new ArrayList<>();
      int groups = masks.isEmpty() ? 1 : groups(masks.getFirst().shape());
      for (int group = 0; group < groups; group++) {
        double[] values = new double[total];
        for (int key = 0; key < total; key++) {
          values[key] = masks.isEmpty() ? 0 : value(masks.getFirst(), group, row, key);
        }
        hide(values, attention, start + row);
        rows.add(values);
      }
      return Optional.of(rows.toArray(double[][]::new));
    }

    private static int groups(Shape shape) {
      long last = extent(shape, 0) * extent(shape, 1);
      return Math.toIntExact(shape.elements() / last);
    }

    private static long extent(Shape shape, int fromEnd) {
      return shape.rank() > fromEnd ? shape.fromEnd(fromEnd).value() : 1;
    }

    private static double value(Tensor mask, int group, long row, int key) {
      long columns = extent(mask.shape(), 0);
      long queries = extent(mask.shape(), 1);
      long line = group * queries + (queries == 1 ? 0 : row);
      int index = Math.toIntExact(line * columns + (columns == 1 ? 0 : key));
      if (mask.element() == ElementType.BOOL) {
        return mask.getBoolean(index) ? 0 : Double.NEGATIVE_INFINITY;
      }
      return mask.getDouble(index);
    }

    private static void hide(double[] values, Structured.Attention attention, long query) {
      double highest = Double.NEGATIVE_INFINITY;
      for (int key = 0; key < values.length; key++) {
        boolean isHidden =
            attention.causal() && key > query
                || attention.window() > 0 && query - key >= attention.window();
        values[key] = isHidden ? Double.NEGATIVE_INFINITY : values[key];
        highest = Math.max(highest, values[key]);
      }
      for (int key = 0; key < values.length; key++) {
        if (values[key] - highest <= HIDDEN) {
          values[key] = Double.NEGATIVE_INFINITY;
        }
      }
    }
  }
}
