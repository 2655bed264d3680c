package io.partita.ir.schedule;

import java.util.List;
import java.util.TreeSet;

/**
 * Sample values of an integer that is known only at run time: those next to where expressions of it
 * change, and some distant ones.
 */
final class ScalarSamples {
  private static final long FAR = 1 << 20;

  private ScalarSamples() {}

  /** Returns the samples; only 0 if the loop reads none. */
  static List<Long> of(TiledKernel kernel) {
    boolean hasScalar =
        kernel.operands().stream().anyMatch(each -> each.direction() == Direction.SCALAR);
    if (!hasScalar) {
      return List.of(0L);
    }
    TreeSet<Long> values = new TreeSet<>(List.of(-FAR, -1L, 0L, 1L, FAR));
    for (TileAxis axis : kernel.axes()) {
      if (axis.limit().isPresent()) {
        addAround(values, axis.tile());
        addAround(values, axis.extent());
      }
    }
    for (TileOperand operand : kernel.operands()) {
      for (BoxDimension dimension : operand.box()) {
        if (dimension.start().readsScalar() || dimension.size().readsScalar()) {
          addAround(values, dimension.extent());
          addAround(values, -dimension.extent());
        }
      }
    }
    return List.copyOf(values);
  }

  private static void addAround(TreeSet<Long> values, long value) {
    values.addAll(List.of(value - 1, value, value + 1));
  }
}
