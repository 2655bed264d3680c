package io.partita.ir.factor;

import io.partita.ir.factor.Factor.Use;
import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.op.Contraction;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Products are linear in each operand, and summed indices may be split. */
final class ContractionFactors {
  private ContractionFactors() {}

  static FactorRule rule(Contraction op, List<TensorType> operands, List<TensorType> results) {
    return switch (op) {
      case Contraction.MatMul product -> matMul(operands, results.getFirst());
      case Contraction.Einsum einsum -> einsum(einsum, operands);
      case Contraction.Convolution convolution ->
          convolution(convolution.groups(), operands, results.getFirst());
      case Contraction.TransposedConvolution convolution ->
          transposed(convolution.groups(), operands, results.getFirst());
      case Contraction.Pool pool -> pool(pool, operands.getFirst(), results);
      case Contraction.NibbleMatMul product -> nibbleMatMul(operands);
      case Contraction.NearestCentroid nearest -> nearestCentroid(nearest.groups(), operands);
    };
  }

  private static FactorRule matMul(List<TensorType> operands, TensorType result) {
    TensorType left = operands.get(0);
    TensorType right = operands.get(1);
    Builder rule = new Builder();
    int[] out = rule.parallel(result.shape());
    int inner = rule.sum(left.shape().fromEnd(0));
    int[] batch = java.util.Arrays.copyOf(out, out.length - 2);
    rule.operand(joined(batch, left, out[out.length - 2], inner));
    rule.operand(joined(batch, right, inner, out[out.length - 1]));
    // A sum that wraps before it widens differs from the wide sum: only equal types are linear.
    boolean linear = left.element() == result.element() && right.element() == result.element();
    Linearity linearity = Linearity.of(Linearity.SUM, Set.of(0, 1));
    return rule.result(out).finish(linear ? linearity : Linearity.of(Linearity.SUM, Set.of()));
  }

  /** Adds batch dimensions, some of which the operand broadcasts, and two more. */
  private static int[] joined(int[] batch, TensorType type, int rows, int columns) {
    int rank = type.rank() - 2;
    int[] dims = new int[type.rank()];
    for (int dim = 0; dim < rank; dim++) {
      dims[dim] = type.dim(dim).is(1) ? Builder.NONE : batch[batch.length - rank + dim];
    }
    dims[rank] = rows;
    dims[rank + 1] = columns;
    return dims;
  }

  private static FactorRule einsum(Contraction.Einsum einsum, List<TensorType> operands) {
    Builder rule = new Builder();
    Map<Character, Integer> factors = new HashMap<>();
    List<String> inputs = einsum.inputs();
    for (int i = 0; i < inputs.size(); i++) {
      String letters = inputs.get(i);
      for (int dim = 0; dim < letters.length(); dim++) {
        char letter = letters.charAt(dim);
        TensorType type = operands.get(i);
        int at = dim;
        factors.computeIfAbsent(letter, key -> rule.factor(use(einsum, letter), type.dim(at)));
      }
    }
    inputs.forEach(input -> rule.operand(input.chars().map(c -> factors.get((char) c)).toArray()));
    rule.result(einsum.output().chars().map(c -> factors.get((char) c)).toArray());
    Set<Integer> all = new java.util.HashSet<>();
    for (int i = 0; i < inputs.size(); i++) {
      all.add(i);
    }
    return rule.finish(Linearity.of(Linearity.SUM, all));
  }

  /** A diagonal can't be split, because both of its dimensions would be. */
  private static Use use(Contraction.Einsum einsum, char letter) {
    List<String> terms = new ArrayList<>(einsum.inputs());
    terms.add(einsum.output());
    for (String term : terms) {
      if (term.indexOf(letter) != term.lastIndexOf(letter)) {
        return Use.WHOLE;
      }
    }
    return einsum.output().indexOf(letter) >= 0 ? Use.PARALLEL : Use.SUM;
  }

  /** {@code [n (g c) S…] [(g f) c K…] [(g f)] -> [n (g f) P…]}, c summed. */
  private static FactorRule convolution(long groups, List<TensorType> operands, TensorType result) {
    TensorType data = operands.get(0);
    TensorType weight = operands.get(1);
    Builder rule = new Builder();
    int batch = rule.parallel(data.dim(0));
    int group = rule.factor(Use.PARALLEL, groups);
    int channel = rule.sum(weight.dim(1));
    int filter = rule.factor(Use.PARALLEL, weight.dim(0).value() / groups);
    rule.operand(dims(rule, data, new int[] {batch}, new int[] {group, channel}));
    rule.operand(dims(rule, weight, new int[] {group, filter}, new int[] {channel}));
    return withBias(rule, operands, new int[] {group, filter})
        .result(dims(rule, result, new int[] {batch}, new int[] {group, filter}))
        .finish(linearity(operands, result));
  }

  /** {@code [n (g c) S…] [(g c) f K…] [(g f)] -> [n (g f) P…]}, c summed. */
  private static FactorRule transposed(long groups, List<TensorType> operands, TensorType result) {
    TensorType data = operands.get(0);
    TensorType weight = operands.get(1);
    Builder rule = new Builder();
    int batch = rule.parallel(data.dim(0));
    // If the channels aren't a multiple of the groups, each group has the quotient.
    boolean even = data.dim(1).value() % groups == 0;
    int group = rule.factor(even ? Use.PARALLEL : Use.WHOLE, groups);
    int filter = rule.factor(even ? Use.PARALLEL : Use.WHOLE, weight.dim(1));
    int[] channels =
        even
            ? new int[] {group, rule.factor(Use.SUM, data.dim(1).value() / groups)}
            : new int[] {rule.whole(data.dim(1))};
    rule.operand(dims(rule, data, new int[] {batch}, channels));
    rule.operand(dims(rule, weight, channels, new int[] {filter}));
    return withBias(rule, operands, new int[] {group, filter})
        .result(dims(rule, result, new int[] {batch}, new int[] {group, filter}))
        .finish(linearity(operands, result));
  }

  private static Builder withBias(Builder rule, List<TensorType> operands, int[] filters) {
    return operands.size() == 3 ? rule.operand(List.of(filters)) : rule;
  }

  private static Linearity linearity(List<TensorType> operands, TensorType result) {
    boolean linear = operands.stream().allMatch(operand -> operand.element() == result.element());
    Set<Integer> product = linear ? Set.of(0, 1) : Set.of();
    return operands.size() == 3
        ? Linearity.of(Linearity.SUM, product, Set.of(2))
        : Linearity.of(Linearity.SUM, product);
  }

  /**
   * Adds the first two dimensions, and the spatial ones, which are whole because windows overlap.
   */
  private static List<int[]> dims(Builder rule, TensorType type, int[] first, int[] second) {
    List<int[]> dims = new ArrayList<>(List.of(first, second));
    Shape spatial = type.shape().range(2, type.rank());
    spatial.forEach(extent -> dims.add(new int[] {rule.whole(extent)}));
    return dims;
  }

  /** {@code […, (g r)] [p g b] [p g c] -> […, (p c)]}, g summed, and r, b and c whole. */
  private static FactorRule nibbleMatMul(List<TensorType> operands) {
    TensorType x = operands.get(0);
    TensorType codes = operands.get(1);
    Builder rule = new Builder();
    List<int[]> rows = new ArrayList<>();
    for (int dim = 0; dim < x.rank() - 1; dim++) {
      rows.add(new int[] {rule.parallel(x.dim(dim))});
    }
    List<int[]> out = new ArrayList<>(rows);
    int panel = rule.parallel(codes.dim(0));
    int group = rule.sum(codes.dim(1));
    int inner = rule.factor(Use.WHOLE, NibblePanels.rows(codes.dim(2).value()));
    int column = rule.factor(Use.WHOLE, NibblePanels.COLUMNS);
    rows.add(new int[] {group, inner});
    out.add(new int[] {panel, column});
    return rule.operand(rows)
        .operand(panel, group, rule.whole(codes.dim(2)))
        .operand(panel, group, column)
        .result(out)
        .finish(Linearity.of(Linearity.SUM, Set.of()));
  }

  /** {@code […, (g w)] [(g k) w] -> […, g]}, each index depending on all of w and k. */
  private static FactorRule nearestCentroid(long groups, List<TensorType> operands) {
    TensorType x = operands.get(0);
    TensorType centroids = operands.get(1);
    Builder rule = new Builder();
    List<int[]> vectors = new ArrayList<>();
    for (int dim = 0; dim < x.rank() - 1; dim++) {
      vectors.add(new int[] {rule.parallel(x.dim(dim))});
    }
    List<int[]> indices = new ArrayList<>(vectors);
    int group = rule.factor(Use.PARALLEL, groups);
    int size = rule.factor(Use.WHOLE, centroids.dim(0).value() / groups);
    int width = rule.whole(centroids.dim(1));
    vectors.add(new int[] {group, width});
    indices.add(new int[] {group});
    return rule.operand(vectors)
        .operand(List.of(new int[] {group, size}, new int[] {width}))
        .result(indices)
        .finish(Linearity.NONE);
  }

  /** Indices refer to the whole operand, so nothing can be split with them. */
  private static FactorRule pool(Contraction.Pool pool, TensorType x, List<TensorType> results) {
    Builder rule = new Builder();
    Use use = pool.indices() ? Use.WHOLE : Use.PARALLEL;
    int[] batch = {rule.factor(use, x.dim(0))};
    int[] channel = {rule.factor(use, x.dim(1))};
    rule.operand(dims(rule, x, batch, channel));
    results.forEach(result -> rule.result(dims(rule, result, batch, channel)));
    boolean sum = !pool.largest() && x.element().isFloat();
    return rule.finish(sum ? Linearity.of(Linearity.SUM, Set.of(0)) : Linearity.NONE);
  }
}
