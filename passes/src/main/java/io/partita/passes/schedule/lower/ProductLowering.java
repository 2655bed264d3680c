package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.TileExpression.size;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lowers matrix products to {@code gemm.h}.
 *
 * <p>The dimensions of the result before the last one are of three kinds. The innermost are rows,
 * along which the right matrix is the same. Before them are batch dimensions, along which it
 * differs. The loop iterates over any further dimensions that don't continue the batch.
 */
final class ProductLowering {
  /** The least depth of a tile. */
  private static final long DEPTH = 8;

  /** The index in the grid of the operands of epilogues, after left, right and the result. */
  private static final int FIRST_OTHER = 3;

  private static final Set<String> KERNELS = Set.of("f32_f32", "i32_i32");

  private final String kernel;
  private final TileSpaceBuilder space;
  private final TileGrid grid;
  private final List<Integer> axes = new ArrayList<>();
  private final TileEpilogues epilogues;
  private final int firstRow;
  private final int firstBatch;

  private ProductLowering(
      TensorView left, TensorView right, TileGrid grid, TileEpilogues epilogues) {
    this.grid = grid;
    this.epilogues = epilogues;
    int row = grid.rank();
    while (row > 0 && rightStride(row - 1) == 0 && leftStride(row - 1) != 0) {
      row--;
    }
    int batch = row;
    while (batch > 0
        && rightStride(batch - 1) != 0
        && (leftStride(batch - 1) == 0) == (leftStride(row - 1) == 0)) {
      batch--;
    }
    firstRow = row;
    firstBatch = batch;
    this.kernel = ProductCall.kernel(isVector(), left, right);
    this.space = new TileSpaceBuilder(kernel);
  }

  private boolean isVector() {
    return firstRow == grid.rank();
  }

  private long leftStride(int i) {
    return grid.strides().get(0).get(i);
  }

  private long rightStride(int i) {
    return grid.strides().get(1).get(i);
  }

  /**
   * @param left the left matrix {@code [batch…, m, k]}
   * @param right the right matrix {@code [batch…, k, n]}, or {@code [n, k]} if transposed, of which
   *     rows or columns are contiguous
   * @param bias the bias {@code [n]}, or null
   */
  static Optional<TileSpace> lower(
      TensorView left,
      TensorView right,
      boolean transposed,
      TensorView bias,
      TensorView out,
      TileEpilogues epilogues) {
    String types = left.element() + "_" + right.element();
    ElementType sums = left.element().isFloat() ? ElementType.F32 : ElementType.I32;
    if (!KERNELS.contains(types) || out.element() != sums) {
      return Optional.empty();
    }
    int rank = out.shape().size();
    List<Long> shape = out.shape().subList(0, rank - 1);
    List<List<Long>> strides = new ArrayList<>();
    strides.add(leading(left, 1, shape));
    strides.add(leading(right, 2, shape));
    strides.add(out.strides().subList(0, rank - 1));
    epilogues.placed().forEach(view -> strides.add(leading(view, 1, shape)));
    TileGrid grid = TileGrid.of(shape, strides, List.of());
    ProductLowering lowering = new ProductLowering(left, right, grid, epilogues);
    return Optional.of(
        transposed && hasContiguousColumns(right)
            ? lowering.build(left, turned(right), false, bias, out)
            : lowering.build(left, right, transposed, bias, out));
  }

  private static boolean hasContiguousColumns(TensorView matrix) {
    return matrix.shape().getLast() > 1 && matrix.strides().getLast() != 1;
  }

  /** Swaps the last two dimensions. */
  private static TensorView turned(TensorView matrix) {
    return new TensorView(matrix.element(), turned(matrix.shape()), turned(matrix.strides()));
  }

  private static List<Long> turned(List<Long> dimensions) {
    List<Long> swapped = new ArrayList<>(dimensions);
    Collections.swap(swapped, swapped.size() - 1, swapped.size() - 2);
    return swapped;
  }

  /** Returns the strides along the dimensions of the result except the last. */
  private static List<Long> leading(TensorView tensor, int inner, List<Long> shape) {
    int rank = Math.max(inner, tensor.shape().size());
    if (tensor.shape().isEmpty()) {
      return TileGrid.broadcast(tensor, shape);
    }
    List<Long> extents = new ArrayList<>(tensor.shape().subList(0, rank - inner));
    List<Long> strides = new ArrayList<>(tensor.strides().subList(0, rank - inner));
    if (inner == 2) {
      extents.add(1L);
      strides.add(0L);
    }
    return TileGrid.broadcast(new TensorView(tensor.element(), extents, strides), shape);
  }

  private TileSpace build(
      TensorView left, TensorView right, boolean transposed, TensorView bias, TensorView out) {
    addLeadingAxes();
    long columns = out.shape().getLast();
    long depth = left.shape().getLast();
    int n = space.axis("n", columns, epilogues.granule(ProductCall.BLOCK, columns));
    int k = space.reduction("k", depth, DEPTH);
    List<BoxDimension> leftBox = leadingBox(0);
    leftBox.add(BoxDimension.along(k, depth, 1));
    List<BoxDimension> rightBox = leadingBox(1);
    int rank = right.shape().size();
    rightBox.add(along(transposed ? n : k, right, rank - 2));
    rightBox.add(along(transposed ? k : n, right, rank - 1));
    List<BoxDimension> outBox = leadingBox(2);
    outBox.add(BoxDimension.along(n, columns, 1));
    int x = space.load("left", 0, left.element(), leftBox);
    int weight = space.load("right", 1, right.element(), rightBox);
    Argument vector =
        bias == null
            ? none("bias")
            : ProductCall.bias(space, bias.element(), BoxDimension.along(n, columns, 1), k);
    TileEpilogues.Loaded others = epilogues.load(space, places(out, n));
    int value = (bias == null ? 2 : 3) + others.count();
    int result = space.store("out", value, out.element(), outBox);
    TileExpression m = TileGrid.elements(axes.subList(firstRow, axes.size()));
    TileExpression batch = TileGrid.elements(axes.subList(firstBatch, firstRow));
    boolean isLeftCommon = firstRow > firstBatch && leftStride(firstRow - 1) == 0;
    ProductCall call =
        new ProductCall(
            batch,
            m,
            size(n),
            size(k),
            isLeftCommon ? TileExpression.of(0) : m.times(size(k)),
            m.times(size(n)),
            transposed);
    List<Argument> arguments = new ArrayList<>();
    arguments.add(pointer("left", x));
    arguments.add(pointer("right", weight));
    arguments.add(vector);
    List<TileExpression> sizes = new ArrayList<>(TileGrid.sizes(axes));
    sizes.add(size(n));
    TileEpilogues.Values values = others.values(result, out.element(), sizes);
    arguments.add(new Argument("out", values.first(out.element())));
    arguments.addAll(call.extents(k));
    space.call(kernel, arguments);
    values.call(List.of(k));
    return space.build();
  }

  /**
   * Returns the tiles of {@link TileEpilogues#placed}, without dimensions along which they
   * broadcast.
   */
  private List<TileEpilogues.Place> places(TensorView out, int n) {
    List<TileEpilogues.Place> places = new ArrayList<>();
    List<TensorView> views = epilogues.placed();
    long columns = out.shape().getLast();
    for (int i = 0; i < views.size(); i++) {
      TensorView view = views.get(i);
      boolean isAlong = !view.shape().isEmpty() && view.shape().getLast() == columns;
      List<BoxDimension> box = leadingBox(FIRST_OTHER + i);
      List<TileExpression> strides = new ArrayList<>();
      TileExpression inner = TileExpression.of(1);
      if (isAlong) {
        box.add(BoxDimension.along(n, columns, 1));
      }
      strides.add(TileExpression.of(isAlong ? 1 : 0));
      inner = isAlong ? size(n) : inner;
      for (int axis = grid.rank() - 1; axis >= 0; axis--) {
        boolean isWalked = grid.strides().get(FIRST_OTHER + i).get(axis) != 0;
        strides.addFirst(isWalked ? inner : TileExpression.of(0));
        inner = isWalked ? inner.times(size(axes.get(axis))) : inner;
      }
      places.add(new TileEpilogues.Place(TileGrid.closed(box), strides));
    }
    return places;
  }

  private void addLeadingAxes() {
    for (int i = 0; i < grid.rank(); i++) {
      boolean isRow = i >= firstRow;
      long extent = grid.extents().get(i);
      long granule = isRow && i == grid.rank() - 1 ? Math.min(ProductCall.BLOCK, extent) : 1;
      long largest = i < firstBatch ? 1 : extent;
      String name = (isRow ? "m" : "batch") + i;
      axes.add(
          space.axis(new TileSpace.Axis(name, extent, granule, largest, false, Optional.empty())));
    }
  }

  private List<BoxDimension> leadingBox(int tensor) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      long stride = grid.strides().get(tensor).get(i);
      if (stride != 0) {
        box.add(BoxDimension.along(axes.get(i), grid.extents().get(i), stride));
      }
    }
    return box;
  }

  private static BoxDimension along(int axis, TensorView tensor, int dimension) {
    return BoxDimension.along(axis, tensor.shape().get(dimension), tensor.strides().get(dimension));
  }
}
