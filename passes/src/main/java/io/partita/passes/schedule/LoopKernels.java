package io.partita.passes.schedule;

import io.partita.ir.schedule.TiledKernel;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.tile.TileChoice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** The distinct loops of a role. */
final class LoopKernels {
  private final TileChoice choice;
  private final Map<TileSpace, Integer> indices = new LinkedHashMap<>();
  private final List<TiledKernel> kernels = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  LoopKernels(TileChoice choice) {
    this.choice = choice;
  }

  /**
   * Returns the number of the loop of a space.
   *
   * @param where the node of the loop
   * @throws io.partita.ir.diagnostic.PartitaException if its smallest tiles don't fit
   */
  int index(TileSpace space, String where) {
    Integer known = indices.get(space);
    if (known != null) {
      return known;
    }
    kernels.add(named(choice.choose(space, where)));
    indices.put(space, kernels.size() - 1);
    return kernels.size() - 1;
  }

  /**
   * Whether one loop is faster than several, each of which stores its result in the home memory for
   * the next one.
   *
   * @param together the single loop; empty if there is none
   */
  boolean isFaster(Optional<TileSpace> together, List<Optional<TileSpace>> apart) {
    OptionalDouble one = together.map(choice::cycles).orElse(OptionalDouble.empty());
    double sum = 0;
    for (Optional<TileSpace> each : apart) {
      OptionalDouble own = each.map(choice::cycles).orElse(OptionalDouble.empty());
      sum += own.orElse(Double.POSITIVE_INFINITY);
    }
    return one.isPresent() && one.getAsDouble() <= sum;
  }

  private TiledKernel named(TiledKernel kernel) {
    String name = kernel.name();
    for (int i = 2; !names.add(name); i++) {
      name = kernel.name() + "_" + i;
    }
    return new TiledKernel(
        name,
        kernel.axes(),
        kernel.operands(),
        kernel.scratch(),
        kernel.calls(),
        kernel.stages(),
        kernel.workingBytes());
  }

  List<TiledKernel> kernels() {
    return List.copyOf(kernels);
  }
}
