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
 * The layouts that one operation reads and gives: splits from its factors; partial and varying axes
 * by {@link Linearity}. Where an operand is at one place of an axis, the operation runs there only.
 *
 * @param operands the layout that each operand must have
 */
public record NodeLayouts(FactorSplits splits, List<Layout> operands, List<Layout> results) {
  public NodeLayouts {
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  /**
   * The layouts nearest to the given ones: a given partial or varying operand stays so where the
   * rule allows it, and must else be whole.
   *
   * <p>An operand that is at one place of an axis stays there, and all others are needed at the
   * same place: one that is on all devices is there already, partial ones are reduced to it and
   * split ones gathered. When operands are at two places, that of the first one counts, and the
   * others are sent there. The results are at the place, and the axis splits no factor. Where a
   * value varies over the axis, it can't be had at one place, and what is at one place is
   * broadcast.
   *
   * <p>Where an operand varies over an axis, so do all results, whatever else the axis does: each
   * device computes its part or its term of the version of its place.
   *
   * @param given how the operands lie before; only what their axes do besides splitting counts
   */
  public static NodeLayouts resolve(FactorSplits splits, List<Layout> given) {
    Map<String, Integer> places = places(given);
    return resolve(splits.without(places.keySet()), places.keySet(), given).at(places);
  }

  /**
   * As {@link #resolve(FactorSplits, List)}; operations that begin or end a variation say
   * themselves what they give.
   *
   * @throws io.partita.ir.diagnostic.PartitaException when one can't take what is given
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
    // What factors reduce is partial in any case; what operands bring must agree with it.
    Set<String> axes = new LinkedHashSet<>(splits.reductions().keySet());
    splits.mesh().axes().forEach(axis -> axes.add(axis.name()));
    axes.removeAll(places);
    axes.forEach(axis -> resolve(axis, splits, given, operands, results));
    return new NodeLayouts(splits, operands, results);
  }

  /** The same at one place of some axes that do nothing to any operand or result. */
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

  /** Whether all devices along an axis run the operation on the same. */
  public boolean isFree(String axis) {
    return !splits.axes().contains(axis)
        && Stream.concat(operands.stream(), results.stream()).noneMatch(l -> l.uses(axis));
  }

  /** The devices that run the operation, ascending: those that hold something of its results. */
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

  /** Sums of maxima aren't maxima of sums: one kind at a time. */
  private static boolean mixes(ReductionKind kind, List<Layout> results) {
    return results.stream()
        .anyMatch(result -> !result.partial().isEmpty() && result.reduction() != kind);
  }

  /**
   * One operand for each term that no factor sums over: one that is partial, else the first. Null
   * where that can't be.
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
          // Which term of its version a device holds is not known before that is settled.
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
