package io.partita.passes.schedule;

import io.partita.ir.graph.Value;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.lower.Lowerings;
import io.partita.passes.schedule.lower.TensorView;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Decides whether a computation and its epilogues become one loop. One loop saves the transfer of
 * values to the home memory and back, but may have smaller tiles, because the operands of epilogues
 * need room too, and norms whole rows. Small constants count as {@linkplain NearValues near}, as
 * most of them are, so that a function isn't kept apart for the transfer of its scale.
 *
 * @param view the view of a value in the home memory
 * @param keepsConstants whether small constants are kept in the working memory
 */
record EpilogueFusion(
    LoopKernels kernels, Function<Value, TensorView> view, boolean keepsConstants) {

  /**
   * Returns the groups of the loops that take the least time: the group itself, or parts of it in
   * order.
   */
  List<Group> fastest(Group group) {
    if (group.epilogues() == 0) {
      return List.of(group);
    }
    List<Group> parts = group.apart().stream().flatMap(part -> fastest(part).stream()).toList();
    List<Optional<TileSpace>> apart = parts.stream().map(this::lower).toList();
    return kernels.isFaster(lower(group), apart) ? List.of(group) : parts;
  }

  private Optional<TileSpace> lower(Group group) {
    return Lowerings.lower(
            group,
            group.operands().stream().map(view).toList(),
            group.results().stream().map(view).toList(),
            kernels.arePaged())
        .map(space -> space.withNear(near(group, space)));
  }

  /** Returns the numbers of operands of the space that are small constants. */
  private Set<Integer> near(Group group, TileSpace space) {
    return IntStream.range(0, space.operands().size())
        .filter(i -> keepsConstants && isSmallConstant(group, space.operands().get(i).value()))
        .boxed()
        .collect(Collectors.toSet());
  }

  private static boolean isSmallConstant(Group group, int value) {
    return value < group.operands().size()
        && !group.operands().get(value).isInput()
        && group.operands().get(value).definition().constant().stream()
            .anyMatch(NearValues::isSmall);
  }
}
