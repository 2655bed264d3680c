package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;
import static io.partita.ir.schedule.kernel.TileExpression.size;

import io.partita.ir.op.Contraction.NearestCentroid;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code nearest_centroid.h}: rows, groups and centroids are tiled. The least distances stay in the
 * working memory along centroids.
 */
final class NearestCentroidLowering {
  private static final String KERNEL = "nearest_centroid_f32";

  /** The centroids of which the kernel sums distances at the same time. */
  private static final long CENTROIDS = 4;

  private NearestCentroidLowering() {}

  static TileSpace lower(NearestCentroid op, TensorView x, TensorView centroids, TensorView out) {
    int last = out.shape().size() - 1;
    long groups = op.groups();
    long perGroup = centroids.shape().getFirst() / groups;
    long width = centroids.shape().get(1);
    long rowStride = centroids.strides().get(0);
    TileSpaceBuilder space = new TileSpaceBuilder(KERNEL);
    TileGrid grid =
        TileGrid.of(
            out.shape().subList(0, last),
            List.of(x.strides().subList(0, last), out.strides().subList(0, last)),
            List.of());
    List<Integer> rows = grid.axes(space, "rows", 1, grid.rank());
    int group = space.axis("group", groups, 1);
    int k = space.reduction("centroid", perGroup, CENTROIDS);
    List<BoxDimension> xBox = rows(grid, 0, rows);
    xBox.add(BoxDimension.along(group, groups, width));
    xBox.add(BoxDimension.whole(width, 1));
    List<BoxDimension> centroidBox =
        List.of(
            BoxDimension.along(group, groups, perGroup * rowStride),
            BoxDimension.along(k, perGroup, rowStride),
            BoxDimension.whole(width, centroids.strides().get(1)));
    List<BoxDimension> outBox = rows(grid, 1, rows);
    outBox.add(BoxDimension.along(group, groups, 1));
    int vectors = space.load("x", 0, x.element(), xBox);
    int book = space.load("centroids", 1, centroids.element(), TileGrid.closed(centroidBox));
    int indices = space.store("out", 2, ElementType.I32, outBox);
    TileExpression results = TileGrid.elements(rows).times(size(group));
    space.call(
        KERNEL,
        List.of(
            pointer("x", vectors),
            pointer("centroids", book),
            scratch("distances", space.scratch("distances", results.times(Float.BYTES))),
            pointer("out", indices),
            integer("rows", TileGrid.elements(rows)),
            integer("groups", size(group)),
            integer("size", size(k)),
            integer("width", width),
            integer("start", TileExpression.start(k)),
            integer("first", TileExpression.first(k)),
            integer("more", TileExpression.of(1).minus(new TileExpression.Last(k)))));
    return space.build();
  }

  private static List<BoxDimension> rows(TileGrid grid, int tensor, List<Integer> axes) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      box.add(
          BoxDimension.along(
              axes.get(i), grid.extents().get(i), grid.strides().get(tensor).get(i)));
    }
    return box;
  }
}
