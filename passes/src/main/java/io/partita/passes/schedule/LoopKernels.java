package io.partita.passes.schedule;

import io.partita.ir.schedule.TiledKernel;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.tile.TileChoice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;

/** The distinct loops of a role. */
final class LoopKernels {
  private final TileChoice choice;
  private final Function<TileSpace, Optional<TiledKernel>> find;
  private final List<TileSpace> spaces = new ArrayList<>();
  private final Map<TileSpace, Integer> indices = new LinkedHashMap<>();
  private final Map<TileSpace, Optional<TiledKernel>> trials = new HashMap<>();
  private final List<TiledKernel> kernels = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  LoopKernels(TileChoice choice) {
    this(choice, choice::find);
  }

  private LoopKernels(TileChoice choice, Function<TileSpace, Optional<TiledKernel>> find) {
    this.choice = choice;
    this.find = find;
  }

  /** Returns whether tiles are stored in pages of rows and columns. */
  boolean arePaged() {
    return choice.arePaged();
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
    kernels.add(named(find(space).orElseGet(() -> choice.choose(space, where))));
    spaces.add(space);
    indices.put(space, kernels.size() - 1);
    return kernels.size() - 1;
  }

  /**
   * Whether one loop is faster than several, each of which stores its result in the home memory for
   * the next one.
   *
   * @param together the single loop; empty if there is none
   * @param prepared the number of loops that are prepared while the kernel before them runs
   */
  boolean isFaster(Optional<TileSpace> together, List<Optional<TileSpace>> apart, long prepared) {
    OptionalDouble one = together.map(choice::cycles).orElse(OptionalDouble.empty());
    double sum = -choice.loopCycles() * prepared;
    for (Optional<TileSpace> each : apart) {
      OptionalDouble own = each.map(choice::cycles).orElse(OptionalDouble.empty());
      sum += own.orElse(Double.POSITIVE_INFINITY);
    }
    return one.isPresent() && one.getAsDouble() <= sum;
  }

  /** Returns the space of a loop. */
  TileSpace space(int index) {
    return spaces.get(index);
  }

  /** Returns whether the smallest tiles of a space fit. */
  boolean fits(TileSpace space) {
    return find(space).isPresent();
  }

  /** Returns the loop that a space would have; empty if its smallest tiles don't fit. */
  Optional<TiledKernel> find(TileSpace space) {
    Integer known = indices.get(space);
    return known == null ? trials.computeIfAbsent(space, find) : Optional.of(kernels.get(known));
  }

  /**
   * Returns a list for loops that use fewer bytes of the working memory: the same tiles where they
   * fit.
   *
   * @param smaller chooses tiles within these bytes
   */
  LoopKernels within(TileChoice smaller, long bytes) {
    return new LoopKernels(
        smaller,
        space ->
            choice
                .find(space)
                .filter(kernel -> kernel.workingBytes() <= bytes)
                .or(() -> smaller.find(space)));
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
