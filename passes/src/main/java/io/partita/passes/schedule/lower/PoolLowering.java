package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Contraction.Pool;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Lowers poolings to {@code convolution.h}. */
final class PoolLowering {
  private static final Set<ElementType> LARGEST =
      Set.of(ElementType.F32, ElementType.I8, ElementType.U8, ElementType.I32);

  private PoolLowering() {}

  static Optional<TileSpace> lower(Pool pool, List<TensorView> operands, List<TensorView> results) {
    ElementType element = operands.getFirst().element();
    boolean hasKernel =
        pool.window().spatialRank() <= 2
            && (pool.largest() ? LARGEST.contains(element) : element == ElementType.F32);
    return hasKernel ? Optional.of(space(pool, operands.getFirst(), results)) : Optional.empty();
  }

  private static TileSpace space(Pool pool, TensorView data, List<TensorView> results) {
    TensorView result = results.getFirst();
    String name = (pool.largest() ? "max_pool_" : "mean_pool_") + data.element().text();
    TileSpaceBuilder space = new TileSpaceBuilder(name);
    // Indices count from the start of the whole tensor, so the tile must contain all of it.
    boolean isWhole = pool.indices();
    List<BoxDimension> dataBox = new ArrayList<>();
    List<BoxDimension> resultBox = new ArrayList<>();
    TileExpression planes = TileExpression.of(1);
    List<String> names = List.of("batch", "channels");
    for (int dimension = 0; dimension < 2; dimension++) {
      long extent = data.shape().get(dimension);
      int axis = space.axis(names.get(dimension), extent, isWhole ? extent : 1);
      dataBox.add(BoxDimension.along(axis, extent, data.strides().get(dimension)));
      resultBox.add(BoxDimension.along(axis, extent, result.strides().get(dimension)));
      planes = planes.times(TileExpression.size(axis));
    }
    long rows = WindowTiles.places(result, 2);
    long columns = WindowTiles.places(result, 1);
    int y = space.axis("y", rows, isWhole ? rows : 1);
    int x = space.axis("x", columns, isWhole ? columns : 1);
    WindowTiles tiles = new WindowTiles(pool.window(), data, result, y, x, isWhole);
    dataBox.addAll(tiles.box());
    resultBox.addAll(tiles.resultBox());
    List<Argument> arguments = new ArrayList<>();
    arguments.add(pointer("x", space.load("x", 0, data.element(), dataBox)));
    arguments.add(pointer("out", space.store("out", 1, result.element(), resultBox)));
    if (isWhole) {
      TensorView places = results.get(1);
      List<BoxDimension> box = new ArrayList<>();
      for (int dimension = 0; dimension < 2; dimension++) {
        BoxDimension along = resultBox.get(dimension);
        long stride = places.strides().get(dimension);
        box.add(new BoxDimension(along.start(), along.size(), along.extent(), stride));
      }
      box.addAll(new WindowTiles(pool.window(), data, places, y, x, true).resultBox());
      int indices = space.store("indices", 2, ElementType.I64, box);
      arguments.add(pointer("indices", indices));
    }
    arguments.add(tiles.arguments());
    arguments.add(integer("planes", planes));
    if (!pool.largest()) {
      arguments.add(integer("count_padding", pool.countPadding() ? 1 : 0));
    }
    space.call(name, arguments);
    return space.build();
  }
}
