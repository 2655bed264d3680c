package io.partita.ir.factor;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The layouts of the operands and results of an operation: splits from its factors, and partial and
 * varying axes from its {@link Linearity}. If an operand is at one place of an axis, the operation
 * runs only there.
 *
 * @param operands the layout that each operand must have
 */
public record NodeLayouts(FactorSplits splits, List<Layout> operands, List<Layout> results) {
  public NodeLayouts {
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  /**
   * Returns the layouts closest to the given ones: partial and varying operands stay so if the rule
   * allows it, and must otherwise be whole.
   *
   * <p>An operand at one place of an axis stays there, and all others are needed at the same place:
   * replicated ones are already there, partial ones are reduced to it, and split ones gathered. If
   * operands are at different places, that of the first one is used, and the others are sent there.
   * The results are at this place, and the axis splits no factor. A value that varies over the axis
   * can't be at one place, so operands at one place are broadcast.
   *
   * <p>If an operand varies over an axis, so do all results: each device computes its part or its
   * term of the version of its place.
   *
   * @param given the layouts of operands, in which only effects of axes other than splits are used
   */
  public static NodeLayouts resolve(FactorSplits splits, List<Layout> given) {
    Map<String, Integer> places = places(given);
    return resolve(splits.without(places.keySet()), places.keySet(), given).at(places);
  }

  /**
   * Like {@link #resolve(FactorSplits, List)}; operations that begin or end a variation define
   * their results themselves.
   *
   * @throws io.partita.ir.diagnostic.PartitaException if one of these can't take the given layouts
   */
  public static NodeLayouts of(Op op, FactorSplits splits, List<Layout> given) {
    if (!(op instanceof Communication.Variation variation)) {
      return resolve(splits, given);
    }
    List<Layout> operands = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      operands.add(given.get(i).with(splits.operand(i).splits()));
    }
    return new NodeLayouts(splits, operands, List.of(variation.layout(operands)));
  }

  private static Map<String, Integer> places(List<Layout> given) {
    Map<String, Integer> places = new LinkedHashMap<>();
    given.forEach(layout -> layout.at().forEach(places::putIfAbsent));
    given.forEach(layout -> places.keySet().removeAll(layout.varying()));
    return places;
  }

  private static NodeLayouts resolve(FactorSplits splits, Set<String> places, List<Layout> given) {
    FactorRule rule = splits.rule();
    List<Layout> operands = new ArrayList<>();
    for (int i = 0; i < rule.operands().size(); i++) {
      operands.add(splits.operand(i));
    }
    List<Layout> results = new ArrayList<>();
    for (int i = 0; i < rule.results().size(); i++) {
      results.add(splits.result(i));
    }
    // Reduced factors always make the result partial; partial operands must agree.
    Set<String> axes = new LinkedHashSet<>(splits.reductions().keySet());
    splits.mesh().axes().forEach(axis -> axes.add(axis.name()));
    axes.removeAll(places);
    axes.forEach(axis -> resolve(axis, splits, given, operands, results));
    return new NodeLayouts(splits, operands, results);
  }

  /** Returns the layouts at one place of axes without effect on operands and results. */
  public NodeLayouts at(Map<String, Integer> places) {
    return places.isEmpty()
        ? this
        : new NodeLayouts(splits, at(operands, places), at(results, places));
  }

  private static List<Layout> at(List<Layout> layouts, Map<String, Integer> places) {
    return layouts.stream()
        .map(
            layout -> {
              Map<String, Integer> all = new LinkedHashMap<>(layout.at());
              all.putAll(places);
              return layout.withAt(all);
            })
        .toList();
  }

  /** Whether all devices along an axis run the operation on the same data. */
  public boolean isFree(String axis) {
    return !splits.axes().contains(axis)
        && Stream.concat(operands.stream(), results.stream()).noneMatch(l -> l.uses(axis));
  }

  /**
   * Returns the devices that run the operation, which hold any of its results, in ascending order.
   */
  public List<Integer> devices() {
    return results.getFirst().holders();
  }

  private static void resolve(
      String axis,
      FactorSplits splits,
      List<Layout> given,
      List<Layout> operands,
      List<Layout> results) {
    boolean isSplit = splits.axes().contains(axis);
    ReductionKind kind = splits.reductions().get(axis);
    if (!isSplit || kind != null) {
      join(axis, kind, splits.rule(), given, operands, results);
    }
    if (given.stream().anyMatch(layout -> layout.varying().contains(axis))) {
      for (int i = 0; i < operands.size(); i++) {
        if (given.get(i).varying().contains(axis)) {
          operands.set(i, operands.get(i).withVarying(axis));
        }
      }
      results.replaceAll(result -> result.withVarying(axis));
    }
  }

  private static void join(
      String axis,
      ReductionKind reduced,
      FactorRule rule,
      List<Layout> given,
      List<Layout> operands,
      List<Layout> results) {
    boolean isReduced = reduced != null;
    ReductionKind kind = reduced;
    for (int i = 0; kind == null && i < given.size(); i++) {
      kind = given.get(i).partial().get(axis);
    }
    Set<Integer> partial =
        kind == null ? null : partialOperands(axis, kind, isReduced, rule, given);
    boolean mixes = partial != null && mixes(kind, results);
    if (partial != null && !mixes && (isReduced || !partial.isEmpty())) {
      ReductionKind found = kind;
      partial.forEach(i -> operands.set(i, operands.get(i).withPartial(axis, found)));
      results.replaceAll(result -> result.withPartial(axis, found));
    }
  }

  /** Only one kind of reduction is possible: sums of maxima aren't maxima of sums. */
  private static boolean mixes(ReductionKind kind, List<Layout> results) {
    return results.stream()
        .anyMatch(result -> !result.partial().isEmpty() && result.reduction() != kind);
  }

  /**
   * Returns one operand of each term over which no factor is summed: a partial one, or else the
   * first. Null if this is impossible.
   */
  private static Set<Integer> partialOperands(
      String axis, ReductionKind kind, boolean isReduced, FactorRule rule, List<Layout> given) {
    Linearity linearity = rule.linearity();
    List<Set<Integer>> terms = linearity.terms();
    if (!isReduced && !linearity.kinds().contains(kind)) {
      return null;
    }
    Set<Integer> chosen = new TreeSet<>();
    boolean any = isReduced;
    for (int term = 0; term < terms.size(); term++) {
      if (term == 0 && isReduced) {
        continue;
      }
      Set<Integer> candidates = new TreeSet<>(terms.get(term));
      candidates.removeIf(i -> given.get(i).partial().get(axis) != kind);
      any |= !candidates.isEmpty();
      if (candidates.isEmpty()) {
        candidates.addAll(terms.get(term));
        if (!isReduced) {
          // The term of its version that a device holds is unknown before it is settled.
          candidates.removeIf(i -> given.get(i).varying().contains(axis));
        }
      }
      if (candidates.isEmpty()) {
        return null;
      }
      chosen.add(Collections.min(candidates));
    }
    return any ? chosen : null;
  }
}
