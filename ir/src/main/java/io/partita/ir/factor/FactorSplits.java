package io.partita.ir.factor;

import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The splits of the factors of an operation over a mesh, and the resulting splits of the dimensions
 * of its operands and results. Immutable.
 */
public final class FactorSplits {
  private final Mesh mesh;
  private final FactorRule rule;
  private final Map<Integer, Split> splits;

  private FactorSplits(Mesh mesh, FactorRule rule, Map<Integer, Split> splits) {
    this.mesh = mesh;
    this.rule = rule;
    this.splits = splits;
  }

  public static FactorSplits none(Mesh mesh, FactorRule rule) {
    return new FactorSplits(mesh, rule, Map.of());
  }

  /**
   * Returns the splits of operands with these layouts. Splits that conflict with a previous operand
   * or dimension are omitted, so that {@link #operand} gives the layout that the operand needs.
   */
  public static FactorSplits of(Mesh mesh, FactorRule rule, List<Layout> operands) {
    FactorSplits found = none(mesh, rule);
    for (int i = 0; i < operands.size(); i++) {
      List<Split> dims = operands.get(i).splits();
      for (int dim = 0; dim < dims.size(); dim++) {
        if (!dims.get(dim).isNone()) {
          found = found.with(rule.operands().get(i).get(dim), dims.get(dim)).orElse(found);
        }
      }
    }
    return found;
  }

  public FactorRule rule() {
    return rule;
  }

  public Mesh mesh() {
    return mesh;
  }

  /** Returns the split of a factor. */
  public Split of(int factor) {
    return splits.getOrDefault(factor, Split.NONE);
  }

  /** Returns the split factors, in ascending order. */
  public Map<Integer, Split> all() {
    return splits;
  }

  /**
   * Returns these splits and another one; empty if the factor must be whole or has another split,
   * an axis would split two factors, or the parts of a dimension would not be consecutive.
   */
  public Optional<FactorSplits> with(int factor, Split split) {
    if (!rule.factors().get(factor).isSplittable()) {
      return Optional.empty();
    }
    Split before = of(factor);
    if (before.refines(mesh, split)) {
      return Optional.of(this);
    }
    if (!before.isNone() && !split.refines(mesh, before)) {
      return Optional.empty();
    }
    Map<Integer, Split> changed = new TreeMap<>(splits);
    changed.put(factor, split);
    Set<String> axes = new HashSet<>();
    for (Split each : changed.values()) {
      for (String axis : each.axes()) {
        if (!axes.add(axis)) {
          return Optional.empty();
        }
      }
    }
    FactorSplits splits = new FactorSplits(mesh, rule, changed);
    return splits.isExpressible() ? Optional.of(splits) : Optional.empty();
  }

  /**
   * Returns these splits and those of the factors of {@code dimension} for a split of it; empty if
   * it can't be decomposed, or as for one factor.
   */
  public Optional<FactorSplits> with(List<Integer> dimension, Split split) {
    Optional<Map<Integer, Split>> taken = take(dimension, split);
    Optional<FactorSplits> after = taken.map(all -> this);
    for (Map.Entry<Integer, Split> each : taken.orElse(Map.of()).entrySet()) {
      after = after.flatMap(all -> all.with(each.getKey(), each.getValue()));
    }
    return after;
  }

  /**
   * Returns coarser splits without these axes: each split keeps the axes before the first of them.
   */
  public FactorSplits without(Set<String> axes) {
    FactorSplits kept = none(mesh, rule);
    for (Map.Entry<Integer, Split> entry : splits.entrySet()) {
      Split split = entry.getValue();
      long count = split.axes().stream().takeWhile(axis -> !axes.contains(axis)).count();
      Split major = split.major(mesh, (int) count);
      kept = major.isNone() ? kept : kept.with(entry.getKey(), major).orElse(kept);
    }
    return kept;
  }

  private boolean isExpressible() {
    for (List<List<List<Integer>>> values : List.of(rule.operands(), rule.results())) {
      for (List<List<Integer>> dims : values) {
        if (!dims.stream().allMatch(dimension -> join(dimension).isPresent())) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns the splits of an operand, without partial or varying axes. */
  public Layout operand(int index) {
    return layout(rule.operands().get(index));
  }

  /** Returns the splits of a result, without partial axes. */
  public Layout result(int index) {
    return layout(rule.results().get(index));
  }

  private Layout layout(List<List<Integer>> dims) {
    List<Split> joined = dims.stream().map(dim -> join(dim).orElseThrow()).toList();
    return new Layout(mesh, joined, Map.of(), List.of());
  }

  /** Returns the axes over which the first term of the result is partial, with their reduction. */
  public Map<String, io.partita.ir.function.ReductionKind> reductions() {
    Map<String, io.partita.ir.function.ReductionKind> reductions = new LinkedHashMap<>();
    splits.forEach(
        (factor, split) ->
            rule.factors()
                .get(factor)
                .reduction()
                .ifPresent(kind -> split.axes().forEach(axis -> reductions.put(axis, kind))));
    return reductions;
  }

  /** Returns the mesh axes that split any factor. */
  public Set<String> axes() {
    Set<String> axes = new HashSet<>();
    splits.values().forEach(split -> axes.addAll(split.axes()));
    return axes;
  }

  /** Composes the splits of factors to that of their dimension. */
  private Optional<Split> join(List<Integer> dimension) {
    Split joined = Split.NONE;
    long extent = 1;
    for (int factor : dimension.reversed()) {
      Split split = of(factor);
      if (joined.isNone()) {
        joined = split.isNone() ? Split.NONE : split.times(extent);
      } else if (split.isNone()) {
        return Optional.empty();
      } else {
        Optional<Split> nested = nest(split, joined, extent);
        if (nested.isEmpty()) {
          return nested;
        }
        joined = nested.get();
      }
      extent *= rule.factors().get(factor).extent();
    }
    return Optional.of(joined);
  }

  /** Splits each unit of {@code major}, of length {@code extent}, like {@code minor}. */
  private static Optional<Split> nest(Split major, Split minor, long extent) {
    List<String> axes = new ArrayList<>(major.axes());
    axes.addAll(minor.axes());
    List<Long> cuts = new ArrayList<>(List.of(0L));
    for (int part = 0; part < major.parts(); part++) {
      if (major.size(part) > 1) {
        return Optional.empty();
      }
      for (int inner = 0; inner < minor.parts(); inner++) {
        long within = major.size(part) == 0 ? 0 : minor.to(inner);
        cuts.add(major.from(part) * extent + within);
      }
    }
    return Optional.of(new Split(axes, cuts));
  }

  /**
   * Decomposes the split of a dimension into those of its factors; empty if a cut is inside a
   * factor that isn't split into single units.
   */
  private Optional<Map<Integer, Split>> take(List<Integer> dimension, Split split) {
    Map<Integer, Split> taken = new LinkedHashMap<>();
    List<Integer> rest = dimension;
    Split open = split;
    while (!open.isNone()) {
      if (rest.isEmpty()) {
        return Optional.empty();
      }
      long minor = rule.extent(rest.subList(1, rest.size()));
      if (minor == 0) {
        return Optional.empty();
      }
      Optional<Split> all = open.dividedBy(minor);
      if (all.isPresent()) {
        taken.put(rest.getFirst(), all.get());
        break;
      }
      int count = singleUnits(open, minor);
      if (count == 0) {
        return Optional.empty();
      }
      Split major = open.major(mesh, count);
      taken.put(rest.getFirst(), major.dividedBy(minor).orElseThrow());
      open = within(open, major).orElse(null);
      if (open == null) {
        return Optional.empty();
      }
      rest = rest.subList(1, rest.size());
    }
    return Optional.of(taken);
  }

  /**
   * Returns the number of first axes that split the dimension into parts of {@code unit} or empty
   * ones.
   */
  private int singleUnits(Split split, long unit) {
    for (int count = split.axes().size() - 1; count > 0; count--) {
      Split major = split.major(mesh, count);
      boolean single = true;
      for (int part = 0; part < major.parts(); part++) {
        single &= major.from(part) % unit == 0 && major.size(part) <= unit;
      }
      if (single && major.extent() % unit == 0) {
        return count;
      }
    }
    return 0;
  }

  /**
   * Returns the split of each part of {@code major} by the remaining axes, if it is the same for
   * all.
   */
  private Optional<Split> within(Split split, Split major) {
    List<String> axes = split.axes().subList(major.axes().size(), split.axes().size());
    int inner = mesh.size(axes);
    Split found = null;
    for (int part = 0; part < major.parts(); part++) {
      if (major.size(part) == 0) {
        continue;
      }
      long from = major.from(part);
      List<Long> cuts = new ArrayList<>();
      for (int i = 0; i <= inner; i++) {
        cuts.add(split.cuts().get(part * inner + i) - from);
      }
      Split own = new Split(axes, cuts);
      if (found != null && !found.equals(own)) {
        return Optional.empty();
      }
      found = own;
    }
    return Optional.ofNullable(found);
  }
}
