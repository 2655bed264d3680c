package io.partita.passes.graph.state;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Recognises a mask by its values at successive positions. Hidden keys and biases of visible ones
 * are examined separately; a constant for a whole row of scores doesn't affect its softmax.
 */
final class MaskSweep {
  /** The distance to the largest score of a row at which the exponential is zero in f32. */
  private static final double HIDDEN = -1e4;

  /**
   * The rounding error of a few f32 operations, relative to values that differ by a constant per
   * row.
   */
  private static final double TOLERANCE = 1e-6;

  /** The largest number of elements of a table of all rows. */
  private static final long MAX_TABLE = 1 << 22;

  private final int n;
  private final int capacity;
  private final long attributeWindow;
  private final boolean attributeCausal;
  private final ElementType element;

  private int batch;
  private int heads;
  private int rows;
  private boolean causal = true;
  private boolean whole = true;
  private boolean regular = true;
  private boolean uniform = true;
  private boolean byKey = true;
  private boolean byDistance = true;
  private boolean skipped;
  private long looked;
  private long window;
  private long farthest;
  private double[][] keys;
  private double[][] distances;
  private List<float[]> table = new ArrayList<>();
  private String reason = "";

  /**
   * @param n the number of new tokens
   * @param capacity the capacity of the cache
   * @param causal whether the attention itself hides later keys
   * @param window if positive, the distance before the query at which the attention itself hides
   *     keys
   * @param element the element type of the scores
   */
  MaskSweep(long n, long capacity, boolean causal, long window, ElementType element) {
    this.n = Math.toIntExact(n);
    this.capacity = Math.toIntExact(capacity);
    this.attributeCausal = causal;
    this.attributeWindow = window;
    this.element = element;
  }

  /** Adds the mask for the first new token at {@code position}. */
  void accept(long position, Tensor mask) {
    if (!reason.isEmpty()) {
      return;
    }
    Shape shape = mask.shape();
    int total = Math.toIntExact(position + n);
    if (keys == null) {
      begin(shape);
    }
    int columns = shape.rank() > 0 ? Math.toIntExact(shape.fromEnd(0).value()) : 1;
    if (columns != 1 && columns != total) {
      reason = "a mask of " + columns + " keys where there are " + total;
      return;
    }
    float[] all = new float[batch * heads * rows(n) * capacity];
    double[] row = new double[total];
    for (int group = 0; group < batch * heads; group++) {
      for (int i = 0; i < n; i++) {
        int at = (group * rows + (rows == 1 ? 0 : i)) * columns;
        for (int j = 0; j < total; j++) {
          row[j] = value(mask, at + (columns == 1 ? 0 : j));
        }
        look(row, group, Math.toIntExact(position), i);
        if (i < rows(n)) {
          store(row, all, (group * rows(n) + i) * capacity);
        }
      }
    }
    keep(position, all);
  }

  /** Returns the row of a query, combined with the causality and window of the attention. */
  private int rows(int queries) {
    return rows == 1 && !attributeCausal && attributeWindow == 0 ? 1 : queries;
  }

  private void begin(Shape shape) {
    batch = extent(shape, 3);
    heads = extent(shape, 2);
    rows = extent(shape, 1);
    keys = new double[batch * heads][capacity];
    distances = new double[batch * heads][capacity + n];
    for (int group = 0; group < batch * heads; group++) {
      Arrays.fill(keys[group], Double.NaN);
      Arrays.fill(distances[group], Double.NaN);
    }
  }

  private static int extent(Shape shape, int fromEnd) {
    return shape.rank() > fromEnd ? Math.toIntExact(shape.fromEnd(fromEnd).value()) : 1;
  }

  private static double value(Tensor mask, int index) {
    if (mask.element() == ElementType.BOOL) {
      return mask.getBoolean(index) ? 0 : Double.NEGATIVE_INFINITY;
    }
    return mask.getDouble(index);
  }

  /** Marks hidden keys by minus infinity, and examines them and the biases of the others. */
  private void look(double[] row, int group, int position, int i) {
    int query = position + i;
    double highest = Double.NEGATIVE_INFINITY;
    for (int j = 0; j < row.length; j++) {
      if (attributeCausal && j > query || attributeWindow > 0 && query - j >= attributeWindow) {
        row[j] = Double.NEGATIVE_INFINITY;
      }
      if (Double.isNaN(row[j])) {
        reason = "a mask that isn't a number for the query at position " + query;
        return;
      }
      highest = Math.max(highest, row[j]);
    }
    if (!(highest > HIDDEN)) {
      reason = "a query at position " + query + " that sees no key";
      return;
    }
    int low = -1;
    int high = -1;
    int seen = 0;
    for (int j = 0; j < row.length; j++) {
      if (row[j] - highest <= HIDDEN) {
        row[j] = Double.NEGATIVE_INFINITY;
      } else {
        low = low < 0 ? j : low;
        high = j;
        seen++;
      }
    }
    lookAtRange(query, low, high, seen, row.length);
    lookAtBias(row, group, query, low, high);
  }

  private void lookAtRange(int query, int low, int high, int seen, int total) {
    regular &= seen == high - low + 1;
    causal &= high == query;
    whole &= high == total - 1;
    if (low == 0) {
      farthest = Math.max(farthest, query);
    } else if (window == 0) {
      window = query - low + 1;
    }
    regular &= window == 0 || low == Math.max(0, query - window + 1);
  }

  private void lookAtBias(double[] row, int group, int query, int low, int high) {
    double[] known = keys[group];
    double shift = Double.NaN;
    for (int j = low; j <= high && Double.isNaN(shift); j++) {
      shift = row[j] - known[j];
    }
    shift = Double.isNaN(shift) ? row[low] : shift;
    for (int j = low; j <= high; j++) {
      if (row[j] == Double.NEGATIVE_INFINITY) {
        continue;
      }
      uniform &= isClose(row[j], row[low]);
      known[j] = Double.isNaN(known[j]) ? row[j] - shift : known[j];
      byKey &= isClose(row[j] - shift, known[j]);
      int distance = query - j + n - 1;
      double before = distances[group][distance];
      distances[group][distance] = Double.isNaN(before) ? row[j] : before;
      byDistance &= isClose(row[j], distances[group][distance]);
    }
  }

  private static boolean isClose(double left, double right) {
    return Math.abs(left - right)
        <= TOLERANCE * Math.max(1, Math.max(Math.abs(left), Math.abs(right)));
  }

  private static void store(double[] row, float[] all, int from) {
    for (int j = 0; j < row.length; j++) {
      all[from + j] = (float) row[j];
    }
  }

  /** The rows of all positions, up to a limit; empty if positions are skipped. */
  private void keep(long position, float[] all) {
    skipped |= position != looked++;
    boolean isNext = table != null && !skipped;
    if (isNext && (long) all.length * (capacity - n + 1) <= MAX_TABLE) {
      table.add(all);
    } else {
      table = null;
    }
  }

  /** Why the mask has no form; empty if it has one. */
  String reason() {
    return reason;
  }

  /** Returns the form after all positions have been added. */
  Optional<MaskForm> form() {
    if (!reason.isEmpty()) {
      return Optional.empty();
    }
    boolean isWindow = window > 0 && farthest < window;
    boolean isRange = regular && (causal || whole && window == 0) && (window == 0 || isWindow);
    boolean hidesLater = causal && (n > 1 || window > 0);
    if (isRange && uniform) {
      return Optional.of(MaskForm.of(hidesLater, window));
    }
    if (isRange && byKey && isKnown(keys, 0)) {
      return form(hidesLater, new MaskForm.Bias.ByKey(byKey()));
    }
    if (isRange && byDistance && isKnown(distances, n - 1)) {
      return form(hidesLater, byDistance());
    }
    if (table != null) {
      return Optional.of(
          new MaskForm(false, 0, Optional.of(new MaskForm.Bias.ByPosition(byPosition()))));
    }
    reason = "a mask that isn't a function of positions and is too large for a table";
    return Optional.empty();
  }

  /** Whether all needed values have been seen. Keys that no query attends to may have any value. */
  private boolean isKnown(double[][] values, int from) {
    if (!skipped) {
      return true;
    }
    boolean isAll = true;
    int to = values == distances && window > 0 ? from + Math.toIntExact(window) : capacity;
    for (double[] group : values) {
      for (int i = from; i < Math.min(to, capacity); i++) {
        isAll &= !Double.isNaN(group[i]);
      }
    }
    return isAll;
  }

  private Optional<MaskForm> form(boolean hidesLater, MaskForm.Bias bias) {
    return Optional.of(new MaskForm(hidesLater, window, Optional.of(bias)));
  }

  private Tensor byKey() {
    double[] values = new double[batch * heads * capacity];
    for (int group = 0; group < batch * heads; group++) {
      for (int j = 0; j < capacity; j++) {
        values[group * capacity + j] = known(keys[group][j]);
      }
    }
    return Tensor.ofDoubles(new TensorType(element, Shape.of(batch, heads, 1, capacity)), values);
  }

  private MaskForm.Bias byDistance() {
    int groups = batch * heads;
    double[] values = new double[(capacity + n) * groups];
    for (int group = 0; group < groups; group++) {
      for (int distance = 0; distance < capacity + n; distance++) {
        values[distance * groups + group] = known(distances[group][distance]);
      }
    }
    Tensor table =
        Tensor.ofDoubles(new TensorType(element, Shape.of(capacity + n, groups)), values);
    return new MaskForm.Bias.ByDistance(table, n - 1, batch, heads);
  }

  private static double known(double value) {
    return Double.isNaN(value) ? 0 : value;
  }

  private Tensor byPosition() {
    int length = table.getFirst().length;
    double[] values = new double[table.size() * length];
    for (int position = 0; position < table.size(); position++) {
      for (int i = 0; i < length; i++) {
        values[position * length + i] = table.get(position)[i];
      }
    }
    Shape shape = Shape.of(table.size(), batch, heads, rows(n), capacity);
    return Tensor.ofDoubles(new TensorType(element, shape), values);
  }
}
