package io.partita.ir.factor;

import io.partita.ir.factor.Factor.Use;
import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.op.Structured;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Rules of the building blocks of transformers, which split by heads, inner features, vocabulary
 * and tokens.
 */
final class StructuredFactors {
  private StructuredFactors() {}

  static FactorRule rule(Structured op, List<TensorType> operands, List<TensorType> results) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case Structured.Linear linear -> linear(linear, x, results.getFirst());
      case Structured.Norm norm -> norm(norm.axis(), operands);
      case Structured.Attention attention -> attention(attention, operands);
      case Structured.RotaryEmbedding rotary -> rotary(x, operands.get(1));
      case Structured.Ffn ffn -> ffn(ffn, x, operands.get(1), results.getFirst());
      case Structured.Embedding embedding -> MovementFactors.gather(0, x, operands.get(1));
      case Structured.PatchEmbedding patches ->
          patchEmbedding(patches, x, operands.get(1), results.getFirst());
      case Structured.CacheUpdate update -> cacheUpdate(update.axis(), x, operands.get(1));
    };
  }

  /** {@code [t… i] [i o] [o] -> [t… o]}, i summed; the bias is a separate term. */
  private static FactorRule linear(Structured.Linear op, TensorType x, TensorType result) {
    Builder rule = new Builder();
    int[] out = rule.parallel(result.shape());
    int last = out.length - 1;
    int[] in = out.clone();
    in[last] = rule.sum(x.shape().fromEnd(0));
    rule.operand(in);
    rule.operand(
        op.transposed() ? new int[] {out[last], in[last]} : new int[] {in[last], out[last]});
    if (op.bias()) {
      rule.operand(out[last]);
    }
    return rule.result(out).finish(product(op.bias()));
  }

  private static Linearity product(boolean bias) {
    return bias
        ? Linearity.of(Linearity.SUM, Set.of(0, 1), Set.of(2))
        : Linearity.of(Linearity.SUM, Set.of(0, 1));
  }

  private static FactorRule norm(int axis, List<TensorType> operands) {
    Builder rule = new Builder();
    int[] dims = FactorRules.along(rule, operands.getFirst(), axis);
    rule.operand(dims);
    operands.subList(1, operands.size()).forEach(vector -> rule.broadcast(vector, dims));
    return rule.result(dims).finish(Linearity.NONE);
  }

  /**
   * {@code [b (h g) s d] [b h k d] [b h k v] -> [b (h g) s v]} with kv heads h, and g query heads
   * for each. With fewer kv heads than devices, g is split too, and keys and values are replicated.
   */
  private static FactorRule attention(Structured.Attention op, List<TensorType> operands) {
    TensorType q = operands.get(0);
    TensorType k = operands.get(1);
    Builder rule = new Builder();
    int batch = rule.parallel(q.dim(0));
    int kvHead = rule.parallel(k.dim(1));
    int group = rule.factor(Use.PARALLEL, groupSize(q, k));
    int feature = rule.whole(q.dim(3));
    int key = rule.whole(k.dim(2));
    int value = rule.parallel(operands.get(2).dim(3));
    // The key length is also the place of the last query. A part of the queries takes a shorter
    // one,
    // which only those keys exceed that come after these queries; a window alone would let them in.
    boolean placed = op.keyLength() && op.window() > 0 && !op.causal();
    int query = rule.factor(placed ? Use.WHOLE : Use.PARALLEL, q.dim(2));
    int[] heads = {kvHead, group};
    rule.operand(List.of(new int[] {batch}, heads, new int[] {query}, new int[] {feature}));
    rule.operand(batch, kvHead, key, feature);
    rule.operand(batch, kvHead, key, value);
    if (op.mask()) {
      List<int[]> full = List.of(new int[] {batch}, heads, new int[] {query}, new int[] {key});
      rule.operand(mask(operands.get(3), full));
    }
    if (op.keyLength()) {
      rule.operand(batch);
    }
    return rule.result(List.of(new int[] {batch}, heads, new int[] {query}, new int[] {value}))
        .finish(op.isInteger() ? Linearity.NONE : Linearity.of(Linearity.SUM, Set.of(2)));
  }

  private static long groupSize(TensorType q, TensorType k) {
    return k.dim(1).is(0) ? 1 : q.dim(1).value() / k.dim(1).value();
  }

  private static List<int[]> mask(TensorType mask, List<int[]> full) {
    List<int[]> dims = new ArrayList<>();
    for (int dim = 0; dim < mask.rank(); dim++) {
      dims.add(mask.dim(dim).is(1) ? new int[0] : full.get(full.size() - mask.rank() + dim));
    }
    return dims;
  }

  /** {@code [b h s d] [b s r] [b s r] -> [b h s d]}. */
  private static FactorRule rotary(TensorType x, TensorType cosines) {
    Builder rule = new Builder();
    int[] dims = FactorRules.along(rule, x, 3);
    int batch = cosines.dim(0).is(1) ? Builder.NONE : dims[0];
    int half = rule.whole(cosines.dim(2));
    return rule.operand(dims)
        .operand(batch, dims[2], half)
        .operand(batch, dims[2], half)
        .result(dims)
        .finish(Linearity.of(Linearity.SUM, Set.of(0)));
  }

  /** {@code [t… e] ([e f] [f]) [e f] [f] [f o] [o] -> [t… o]}, f summed. */
  private static FactorRule ffn(
      Structured.Ffn op, TensorType x, TensorType firstWeight, TensorType result) {
    Builder rule = new Builder();
    int[] out = rule.parallel(result.shape());
    int last = out.length - 1;
    int[] in = out.clone();
    in[last] = rule.whole(x.shape().fromEnd(0));
    int inner = rule.sum(firstWeight.dim(1));
    rule.operand(in);
    int count = 1;
    for (boolean bias :
        op.gated() ? new boolean[] {op.gateBias(), op.upBias()} : new boolean[] {op.upBias()}) {
      rule.operand(in[last], inner);
      count++;
      if (bias) {
        rule.operand(inner);
        count++;
      }
    }
    rule.operand(inner, out[last]);
    Set<Integer> down = Set.of(count);
    if (op.downBias()) {
      rule.operand(out[last]);
    }
    return rule.result(out)
        .finish(
            op.downBias()
                ? Linearity.of(Linearity.SUM, down, Set.of(count + 1))
                : Linearity.of(Linearity.SUM, down));
  }

  /** {@code [n c (r H) (w W)] [e c H W] [e] -> [n (r w) e]}, c summed. */
  private static FactorRule patchEmbedding(
      Structured.PatchEmbedding op, TensorType image, TensorType weight, TensorType result) {
    Builder rule = new Builder();
    int batch = rule.parallel(image.dim(0));
    int channel = rule.sum(image.dim(1));
    int height = rule.whole(weight.dim(2));
    int width = rule.whole(weight.dim(3));
    int row = rule.parallel(image.dim(2).dividedExactlyBy(weight.dim(2)));
    int column = rule.parallel(image.dim(3).dividedExactlyBy(weight.dim(3)));
    int feature = rule.parallel(result.dim(2));
    rule.operand(
        List.of(
            new int[] {batch},
            new int[] {channel},
            new int[] {row, height},
            new int[] {column, width}));
    rule.operand(feature, channel, height, width);
    if (op.bias()) {
      rule.operand(feature);
    }
    return rule.result(List.of(new int[] {batch}, new int[] {row, column}, new int[] {feature}))
        .finish(product(op.bias()));
  }

  /** The written axis is whole, and all others are parallel: a cache is split by heads. */
  private static FactorRule cacheUpdate(int axis, TensorType cache, TensorType update) {
    Builder rule = new Builder();
    int[] dims = new int[cache.rank()];
    for (int dim = 0; dim < dims.length; dim++) {
      dims[dim] = dim == axis ? rule.whole(cache.dim(dim)) : rule.parallel(cache.dim(dim));
    }
    int[] written = Arrays.copyOf(dims, dims.length);
    written[axis] = rule.whole(update.dim(axis));
    return rule.operand(dims)
        .operand(written)
        .operand(dims[0])
        .result(dims)
        .finish(Linearity.of(Linearity.ANY, Set.of(0), Set.of(1)));
  }
}
