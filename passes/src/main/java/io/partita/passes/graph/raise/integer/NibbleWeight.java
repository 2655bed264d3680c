package io.partita.passes.graph.raise.integer;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A constant matrix of 4-bit integers with a scale for each group of rows of a column.
 *
 * @param integers i8 {@code [in, out]}, from -8 to 7
 * @param scale f32 {@code [in / group, out]}
 */
record NibbleWeight(Tensor integers, Tensor scale, int group) {
  /** Half the range of u4: a zero point that turns into none if the integers become signed. */
  private static final int MIDDLE = 8;

  /**
   * Reads a dequantized constant, of which movements may follow; empty if there is none, or its
   * zero points aren't zero, or its groups aren't whole or can't be stored.
   *
   * @param weight {@code [in, out]}, or {@code [out, in]} if {@code transposed}
   */
  static Optional<NibbleWeight> of(Value weight, boolean transposed, GraphEditor graph) {
    DequantizedConstant found = DequantizedConstant.of(weight, transposed, graph).orElse(null);
    if (found == null || !NibblePanels.isGroup(found.op().block())) {
      return Optional.empty();
    }
    ElementType element = found.integers().element();
    boolean isCentred = element == ElementType.U4 && found.zero().isFilledWith(MIDDLE);
    boolean isSigned = element == ElementType.I4 && found.zero().isFilledWith(0);
    if (!isCentred && !isSigned) {
      return Optional.empty();
    }
    int group = Math.toIntExact(found.op().block());
    Tensor integers = bytes(found.integers(), isCentred ? MIDDLE : 0);
    Tensor scale = found.scale();
    int along = found.op().axis();
    for (Op movement : found.movements()) {
      Op scaled = movement;
      if (movement instanceof Movement.Slice slice) {
        if (!isOfGroups(slice, along, group)) {
          return Optional.empty();
        }
        scaled = ofGroups(slice, along, group);
      } else {
        along = 1 - along;
      }
      integers = IntegerWeight.moved(movement, integers);
      scale = IntegerWeight.moved(scaled, scale);
    }
    return along == 0 && integers.shape().extent(0) % group == 0
        ? Optional.of(new NibbleWeight(integers, scale, group))
        : Optional.empty();
  }

  private static Tensor bytes(Tensor nibbles, int middle) {
    return Tensor.deferred(
        nibbles.type().with(ElementType.I8),
        () -> {
          Op cast = new Elementwise.Cast(ElementType.I8);
          Tensor bytes = OpEvaluator.evaluate(cast, List.of(nibbles)).getFirst();
          byte[] signed = bytes.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
          for (int i = 0; i < signed.length; i++) {
            signed[i] -= (byte) middle;
          }
          return MemorySegment.ofArray(signed);
        });
  }

  /** Whether a slice of the matrix has whole groups. */
  private static boolean isOfGroups(Movement.Slice slice, int axis, long group) {
    Dim start = slice.starts().get(axis);
    Dim size = slice.sizes().get(axis);
    return slice.steps().get(axis) == 1
        && start.isStatic()
        && size.isStatic()
        && start.value() % group == 0
        && size.value() % group == 0;
  }

  /** Returns the slice of the scales. */
  private static Movement.Slice ofGroups(Movement.Slice slice, int axis, long group) {
    List<Dim> starts = new ArrayList<>(slice.starts());
    List<Dim> sizes = new ArrayList<>(slice.sizes());
    starts.set(axis, Dim.of(starts.get(axis).value() / group));
    sizes.set(axis, Dim.of(sizes.get(axis).value() / group));
    return new Movement.Slice(starts, sizes, slice.steps());
  }

  int rows() {
    return Math.toIntExact(integers.shape().extent(0));
  }

  int columns() {
    return Math.toIntExact(integers.shape().extent(1));
  }

  private int panels() {
    return Math.ceilDiv(columns(), NibblePanels.COLUMNS);
  }

  private int groups() {
    return rows() / group;
  }

  /** Returns the stored integers, {@code u8[panels, groups, 4 group]}. */
  Tensor codes() {
    TensorType type = TensorType.of(ElementType.U8, panels(), groups(), NibblePanels.bytes(group));
    return Tensor.deferred(
        type,
        () -> {
          byte[] bytes = integers.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
          int columns = columns();
          return MemorySegment.ofArray(
              NibblePanels.pack(
                  (row, column) -> bytes[row * columns + column], rows(), columns, group));
        });
  }

  /**
   * Returns the scales as they are stored, {@code [panels, groups, 8]}: in bf16 if that has the
   * same values, with zeros for columns that fill the last panel.
   */
  Tensor storedScale() {
    float[] given = scale.floats();
    Shape shape = Shape.of(panels(), groups(), NibblePanels.COLUMNS);
    double[] stored = new double[Math.toIntExact(shape.elements())];
    int next = 0;
    for (int panel = 0; panel < panels(); panel++) {
      for (int row = 0; row < groups(); row++) {
        for (int i = 0; i < NibblePanels.COLUMNS; i++) {
          int column = panel * NibblePanels.COLUMNS + i;
          stored[next++] = column < columns() ? given[row * columns() + column] : 0;
        }
      }
    }
    Tensor half = Tensor.ofDoubles(new TensorType(ElementType.BF16, shape), stored);
    return java.util.Arrays.equals(half.doubles(), stored)
        ? half
        : Tensor.ofDoubles(new TensorType(ElementType.F32, shape), stored);
  }

  /** Returns {@code -zero Σ weight} of each column in f32, {@code [out]}. */
  Tensor correction(long zero) {
    TensorType type = TensorType.of(ElementType.F32, columns());
    return Tensor.deferred(
        type,
        () -> {
          byte[] bytes = integers.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
          float[] scales = scale.floats();
          int columns = columns();
          double[] sums = new double[columns];
          for (int i = 0; i < bytes.length; i++) {
            int column = i % columns;
            sums[column] -=
                zero * bytes[i] * (double) scales[i / columns / group * columns + column];
          }
          return Tensor.ofDoubles(type, sums).bytes();
        });
  }
}
