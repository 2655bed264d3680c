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
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Decides whether a computation and its epilogues become one loop. One loop saves the transfer of
 * values to the home memory and back, but may have smaller tiles, because the operands of epilogues
 * need room too, and norms whole rows. Small constants count as {@linkplain NearValues near}, as
 * most of them are, so that a function isn't kept apart for the transfer of its scale.
 *
 * <p>Where a norm could be apart, other small values count as near, too. A norm that only uses near
 * values is prepared while the kernel before it runs, and itself leaves the control core free,
 * which can start copies of weights earlier than behind one long loop.
 *
 * @param view the view of a value in the home memory
 * @param keepsConstants whether small constants are kept in the working memory
 * @param mayBeNear whether a value that isn't a constant may be kept there
 */
record EpilogueFusion(
    LoopKernels kernels,
    Function<Value, TensorView> view,
    boolean keepsConstants,
    Predicate<Value> mayBeNear) {
  /**
   * Returns the groups of the loops that take the least time: the group itself, or parts of it in
   * order.
   */
  List<Group> fastest(Group group) {
    if (group.epilogues() == 0) {
      return List.of(group);
    }
    List<Group> parts = group.apart().stream().flatMap(part -> fastest(part).stream()).toList();
    boolean splitsNorm = group.normalises();
    Predicate<Value> isNear =
        value -> isSmallConstant(value) || splitsNorm && mayBeNear.test(value);
    List<Optional<TileSpace>> apart = parts.stream().map(part -> lower(part, isNear)).toList();
    long prepared =
        parts.stream().skip(1).filter(part -> splitsNorm && values(part).allMatch(isNear)).count();
    return kernels.isFaster(lower(group, isNear), apart, prepared) ? List.of(group) : parts;
  }

  private Optional<TileSpace> lower(Group group, Predicate<Value> isNear) {
    List<Value> values = values(group).toList();
    return Lowerings.lower(
            group,
            group.operands().stream().map(view).toList(),
            group.results().stream().map(view).toList(),
            kernels.arePaged())
        .map(space -> space.withNear(near(space, values, isNear)));
  }

  /** Returns the operands and results of a group, in the order of their numbers. */
  private static Stream<Value> values(Group group) {
    return Stream.concat(group.operands().stream(), group.results().stream());
  }

  /** Returns the numbers of the operands of a space that are near. */
  private static Set<Integer> near(TileSpace space, List<Value> values, Predicate<Value> isNear) {
    return IntStream.range(0, space.operands().size())
        .filter(i -> isNear.test(values.get(space.operands().get(i).value())))
        .boxed()
        .collect(Collectors.toSet());
  }

  private boolean isSmallConstant(Value value) {
    return keepsConstants
        && !value.isInput()
        && value.definition().constant().stream().anyMatch(NearValues::isSmall);
  }
}
