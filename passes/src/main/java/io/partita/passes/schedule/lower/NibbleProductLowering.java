package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.TileExpression.size;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.tensor.NibblePanels;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code nibble_gemm.h}: rows, panels of columns and groups are tiled. Sums stay in the working
 * memory along groups.
 */
final class NibbleProductLowering {
  private static final long COLUMNS = NibblePanels.COLUMNS;

  /** The index in the grid of the operands of epilogues, after x and the result. */
  private static final int FIRST_OTHER = 2;

  private final TensorView x;
  private final TensorView codes;
  private final TensorView scale;
  private final TensorView out;
  private final TileEpilogues epilogues;
  private final TileGrid grid;
  private final TileSpaceBuilder space;
  private final List<Integer> rows;
  private final int panel;
  private final int group;

  private NibbleProductLowering(
      List<TensorView> operands, TensorView out, TileEpilogues epilogues) {
    this.x = operands.get(0);
    this.codes = operands.get(1);
    this.scale = operands.get(2);
    this.out = out;
    this.epilogues = epilogues;
    int last = out.shape().size() - 1;
    List<Long> shape = out.shape().subList(0, last);
    List<List<Long>> strides = new ArrayList<>();
    strides.add(x.strides().subList(0, last));
    strides.add(out.strides().subList(0, last));
    epilogues.placed().forEach(view -> strides.add(leading(view, shape)));
    grid = TileGrid.of(shape, strides, List.of());
    space = new TileSpaceBuilder("nibble_gemm_" + x.element() + "_" + scale.element());
    rows = grid.axes(space, "rows", 1, grid.rank());
    long panels = codes.shape().get(0);
    panel = space.axis("panels", panels, epilogues.granule(1, panels));
    group = space.reduction("groups", codes.shape().get(1), 1);
  }

  /** Returns the strides along the dimensions of the result except the last. */
  private static List<Long> leading(TensorView view, List<Long> shape) {
    int before = Math.max(0, view.shape().size() - 1);
    return TileGrid.broadcast(
        new TensorView(
            view.element(), view.shape().subList(0, before), view.strides().subList(0, before)),
        shape);
  }

  /**
   * @param operands x, codes and scales, and then those of epilogues
   */
  static TileSpace lower(List<TensorView> operands, TensorView out, TileEpilogues epilogues) {
    return new NibbleProductLowering(operands, out, epilogues).build();
  }

  private TileSpace build() {
    long panels = codes.shape().get(0);
    long groups = codes.shape().get(1);
    long bytes = codes.shape().get(2);
    long inner = NibblePanels.rows(bytes);
    long xStride = x.strides().getLast();
    // The kernel has no strides for rows of x.
    List<BoxDimension> xBox = grid.all(0, rows);
    xBox.add(BoxDimension.along(group, groups, inner * xStride));
    xBox.add(BoxDimension.whole(inner, xStride));
    List<BoxDimension> outBox = leadingBox(1);
    outBox.addAll(columns(out.strides().getLast()));
    int vectors = space.load("x", 0, x.element(), TileGrid.closed(xBox));
    int weights = space.load("codes", 1, codes.element(), panelBox(codes, panels, groups));
    int scales = space.load("scales", 2, scale.element(), panelBox(scale, panels, groups));
    TileEpilogues.Loaded others = epilogues.load(space, places());
    int result = space.store("out", 3 + others.count(), out.element(), TileGrid.closed(outBox));
    List<TileExpression> sizes = new ArrayList<>(TileGrid.sizes(rows));
    sizes.add(size(panel).times(COLUMNS));
    TileEpilogues.Values values = others.values(result, out.element(), sizes);
    space.call(
        "nibble_gemm_" + x.element() + "_" + scale.element(),
        List.of(
            pointer("x", vectors),
            pointer("codes", weights),
            pointer("scales", scales),
            new Argument("out", values.first(out.element())),
            integer("rows", TileGrid.elements(rows)),
            integer("panels", size(panel)),
            integer("groups", size(group)),
            integer("group", inner),
            integer("accumulate", TileExpression.of(1).minus(TileExpression.first(group)))));
    values.call(List.of(group));
    return space.build();
  }

  private List<BoxDimension> panelBox(TensorView view, long panels, long groups) {
    return TileGrid.closed(
        List.of(
            BoxDimension.along(panel, panels, view.strides().get(0)),
            BoxDimension.along(group, groups, view.strides().get(1)),
            BoxDimension.whole(view.shape().get(2), view.strides().get(2))));
  }

  private List<BoxDimension> columns(long stride) {
    return List.of(
        BoxDimension.along(panel, codes.shape().get(0), COLUMNS * stride),
        BoxDimension.whole(COLUMNS, stride));
  }

  private List<BoxDimension> leadingBox(int tensor) {
    return new ArrayList<>(grid.walked(tensor, rows));
  }

  /**
   * Returns the tiles of {@link TileEpilogues#placed}, without dimensions along which they
   * broadcast.
   */
  private List<TileEpilogues.Place> places() {
    List<TileEpilogues.Place> places = new ArrayList<>();
    for (int i = 0; i < epilogues.placed().size(); i++) {
      TensorView view = epilogues.placed().get(i);
      boolean isAlong =
          !view.shape().isEmpty() && view.shape().getLast().equals(out.shape().getLast());
      List<BoxDimension> box = leadingBox(FIRST_OTHER + i);
      TileExpression inner = TileExpression.of(1);
      if (isAlong) {
        box.addAll(columns(view.strides().getLast()));
        inner = size(panel).times(COLUMNS);
      }
      List<TileExpression> strides = new ArrayList<>();
      strides.add(TileExpression.of(isAlong ? 1 : 0));
      for (TileExpression stride : grid.tileStrides(FIRST_OTHER + i, rows).reversed()) {
        strides.addFirst(stride.times(inner));
      }
      places.add(new TileEpilogues.Place(TileGrid.closed(box), strides));
    }
    return places;
  }
}
