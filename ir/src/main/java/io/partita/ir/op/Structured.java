package io.partita.ir.op;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Locale;

/**
 * The building blocks of transformers. Exporters write them as many small nodes, from which the
 * {@code raise} pass recovers them. Partitioning and scheduling work on these operations.
 */
public sealed interface Structured extends Op {
  /**
   * {@code x[…, in] × weight[in, out] (+ bias[out]) -> […, out]}; a {@code transposed} weight is
   * {@code [out, in]}.
   */
  record Linear(boolean transposed, boolean bias) implements Structured {
    @Override
    public String mnemonic() {
      return "linear";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.flag("transposed", transposed);
      attributes.flag("bias", bias);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, bias ? 3 : 2);
      TensorType x = operands.get(0);
      TensorType weight = operands.get(1);
      Require.sameElement(x, weight);
      Require.atLeastRank(x, 1, "x");
      Require.rank(weight, 2, "a weight");
      Dim in = weight.dim(transposed ? 1 : 0);
      Dim out = weight.dim(transposed ? 0 : 1);
      Require.equal(x.shape().fromEnd(0), in, "x with " + in + " features", x);
      if (bias) {
        requireVector(operands.get(2), x.element(), out, "a bias");
      }
      return List.of(x.with(x.shape().with(x.rank() - 1, out)));
    }
  }

  private static void requireVector(TensorType type, ElementType element, Dim extent, String what) {
    String expected = what + " " + element + "[" + extent + "]";
    Require.that(type.element() == element, expected, type);
    Require.equal(type.shape(), Shape.of(extent), expected, type);
  }

  /** The statistics of a {@link Norm}. */
  enum NormKind {
    /** {@code (x - mean) / √(variance + ε)}. */
    LAYER,
    /** {@code x / √(mean of squares + ε)}. */
    RMS
  }

  /**
   * Normalises over the dimensions from {@code axis} to the last, then multiplies by an optional
   * scale and adds an optional bias, each of these dimensions or broadcasting to them. Statistics
   * are in f32 or wider.
   */
  record Norm(NormKind kind, int axis, double epsilon, boolean scale, boolean bias)
      implements Structured {
    @Override
    public String mnemonic() {
      return kind.name().toLowerCase(Locale.ROOT) + "_norm";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.number("epsilon", epsilon);
      attributes.flag("scale", scale);
      attributes.flag("bias", bias);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1 + (scale ? 1 : 0) + (bias ? 1 : 0));
      TensorType x = operands.getFirst();
      Require.that(x.element().isFloat(), "a floating-point operand", x);
      Require.axis(axis, x.rank());
      for (TensorType vector : operands.subList(1, operands.size())) {
        Require.sameElement(x, vector);
        Require.broadcastsTo(vector.shape(), x.shape().range(axis, x.rank()));
      }
      return List.of(x);
    }
  }

  /**
   * {@code softmax(scale q kᵀ + mask) v} for each head.
   *
   * <p>Operands: {@code q [batch, heads, seq, d]}, {@code k [batch, kvHeads, keys, d]}, {@code v
   * [batch, kvHeads, keys, dv]}, then if {@code mask} a boolean (true takes part) or additive mask
   * that broadcasts to {@code [batch, heads, seq, keys]}, then if {@code keyLength} an i64 {@code
   * [batch]} vector: keys from that position on are not valid. Result: {@code [batch, heads, seq,
   * dv]}. Heads are a multiple of kv heads; head h reads kv head h / (heads / kvHeads).
   *
   * <p>Query i has position {@code offset + i}, or with {@code keyLength} position {@code keyLength
   * - seq + i}. If causal, it attends to keys up to its own position; with a window w > 0, only to
   * those less than w before it. A query that attends to no key gives zeros.
   *
   * <p>Queries, keys and values are floats, or i8 with a result in f32; {@link IntegerAttention}
   * defines the latter.
   *
   * @param softCap if positive, scores s become {@code softCap tanh(s / softCap)} before the mask
   * @param valueScale what a unit of i8 values stands for; 0 for floats
   */
  record Attention(
      double scale,
      double softCap,
      boolean causal,
      Dim offset,
      long window,
      boolean mask,
      boolean keyLength,
      double valueScale)
      implements Structured {
    /** An attention of floats. */
    public Attention(
        double scale,
        double softCap,
        boolean causal,
        Dim offset,
        long window,
        boolean mask,
        boolean keyLength) {
      this(scale, softCap, causal, offset, window, mask, keyLength, 0);
    }

    /** Whether queries, keys and values are integers. */
    public boolean isInteger() {
      return valueScale != 0;
    }

    public Attention withOffset(Dim other) {
      return new Attention(scale, softCap, causal, other, window, mask, keyLength, valueScale);
    }

    @Override
    public String mnemonic() {
      return "attention";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.number("scale", scale);
      attributes.number("soft_cap", softCap);
      attributes.flag("causal", causal);
      attributes.dims("offset", List.of(offset));
      attributes.integer("window", window);
      attributes.flag("mask", mask);
      attributes.flag("key_length", keyLength);
      attributes.flag("integer", isInteger());
      if (isInteger()) {
        attributes.number("value_scale", valueScale);
      }
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3 + (mask ? 1 : 0) + (keyLength ? 1 : 0));
      TensorType q = operands.get(0);
      TensorType k = operands.get(1);
      TensorType v = operands.get(2);
      if (isInteger()) {
        Require.that(q.element() == ElementType.I8, "queries of i8", q);
        Require.that(softCap == 0, "no soft cap of integers", softCap);
        Require.that(scale > 0 && valueScale > 0, "positive scales", scale + " and " + valueScale);
      } else {
        Require.that(q.element().isFloat(), "floating-point queries", q);
      }
      Require.sameElement(q, k);
      Require.sameElement(q, v);
      Require.rank(q, 4, "queries");
      Require.rank(k, 4, "keys");
      Require.rank(v, 4, "values");
      Require.equal(
          Shape.of(k.dim(0), k.dim(3)),
          Shape.of(q.dim(0), q.dim(3)),
          "keys with the queries' batch and head size",
          q + " and " + k);
      Require.equal(
          v.shape().range(0, 3),
          k.shape().range(0, 3),
          "values with the keys' batch, heads and length",
          k + " and " + v);
      Require.that(
          q.dim(1).dividedExactlyBy(k.dim(1)) != null,
          "a multiple of the kv heads",
          q.dim(1) + " and " + k.dim(1));
      Require.that(window >= 0, "a window of 0 or more", window);
      ElementType result = isInteger() ? ElementType.F32 : q.element();
      if (mask) {
        TensorType type = operands.get(3);
        Require.that(
            type.element() == ElementType.BOOL || type.element() == result,
            "a mask of bool or " + result,
            type);
        Require.broadcastsTo(type.shape(), Shape.of(q.dim(0), q.dim(1), q.dim(2), k.dim(2)));
      }
      if (keyLength) {
        requireVector(operands.getLast(), ElementType.I64, q.dim(0), "key lengths");
      }
      return List.of(new TensorType(result, q.shape().with(3, v.dim(3))));
    }
  }

  /**
   * Rotates pairs of features of {@code x [batch, heads, seq, d]} by position: with {@code c, s} of
   * shape {@code [batch or 1, seq, r/2]}, where r ≤ d features are rotated and the rest pass
   * through. Pairs are {@code (i, i + r/2)}, or {@code (2i, 2i+1)} when {@code interleaved}: {@code
   * (a, b) -> (a c - b s, b c + a s)}.
   */
  record RotaryEmbedding(boolean interleaved) implements Structured {
    @Override
    public String mnemonic() {
      return "rotary_embedding";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.flag("interleaved", interleaved);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType x = operands.get(0);
      TensorType cosines = operands.get(1);
      Require.rank(x, 4, "x");
      Require.rank(cosines, 3, "cosines");
      Require.that(cosines.equals(operands.get(2)), "sines of type " + cosines, operands.get(2));
      Require.sameElement(x, cosines);
      Require.equal(
          cosines.shape().range(0, 2),
          Shape.of(cosines.dim(0).is(1) ? Dim.ONE : x.dim(0), x.dim(2)),
          "cosines [" + x.dim(0) + " or 1," + x.dim(2) + ",·]",
          cosines);
      Require.that(
          x.dim(3).minus(cosines.dim(2).times(Dim.of(2))).isAtLeast(0),
          "at most half as many cosines as features",
          cosines);
      return List.of(x);
    }
  }

  /**
   * A feed-forward network: {@code act(x up) down}, or {@code (act(x gate) * (x up)) down} when
   * gated. Operands: {@code x […, e]}, then for each of gate (if gated), up, down its weight {@code
   * [in, out]} and, where flagged, its bias {@code [out]}.
   */
  record Ffn(
      UnaryFunction activation, boolean gated, boolean gateBias, boolean upBias, boolean downBias)
      implements Structured {
    @Override
    public String mnemonic() {
      return gated ? "gated_ffn" : "ffn";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.word("activation", activation.text());
      attributes.flag("gate_bias", gateBias);
      attributes.flag("up_bias", upBias);
      attributes.flag("down_bias", downBias);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      int weights = gated ? 3 : 2;
      int biases = (gated && gateBias ? 1 : 0) + (upBias ? 1 : 0) + (downBias ? 1 : 0);
      Require.count(operands, 1 + weights + biases);
      TensorType x = operands.getFirst();
      int next = 1;
      TensorType inner = x;
      if (gated) {
        int count = gateBias ? 2 : 1;
        inner = linear(x, operands.subList(next, next + count));
        next += count;
      }
      int count = upBias ? 2 : 1;
      TensorType up = linear(x, operands.subList(next, next + count));
      Require.that(!gated || up.equals(inner), "a gate of type " + up, inner);
      next += count;
      return List.of(linear(up, operands.subList(next, operands.size())));
    }

    private static TensorType linear(TensorType x, List<TensorType> parameters) {
      List<TensorType> operands = new java.util.ArrayList<>(parameters);
      operands.addFirst(x);
      return new Linear(false, parameters.size() == 2).resultTypes(operands).getFirst();
    }
  }

  /** {@code table[vocabulary, e]} at {@code ids […]}: {@code […, e]}. */
  record Embedding() implements Structured {
    @Override
    public String mnemonic() {
      return "embedding";
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      Require.rank(operands.get(0), 2, "a table");
      return new Movement.Gather(0).resultTypes(operands);
    }
  }

  /**
   * Splits an image {@code [batch, c, height, width]} into patches of the size of the weight {@code
   * [e, c, ph, pw]} and projects each: {@code [batch, patches, e]}, patches in row-major order. The
   * bias {@code [e]} is optional.
   */
  record PatchEmbedding(boolean bias) implements Structured {
    @Override
    public String mnemonic() {
      return "patch_embedding";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.flag("bias", bias);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, bias ? 3 : 2);
      TensorType image = operands.get(0);
      TensorType weight = operands.get(1);
      Require.sameElement(image, weight);
      Require.rank(image, 4, "an image");
      Require.rank(weight, 4, "a weight");
      Require.equal(image.dim(1), weight.dim(1), weight.dim(1) + " channels", image);
      Dim rows = image.dim(2).dividedExactlyBy(weight.dim(2));
      Dim columns = image.dim(3).dividedExactlyBy(weight.dim(3));
      Require.that(rows != null && columns != null, "an image of whole patches", image);
      if (bias) {
        requireVector(operands.get(2), image.element(), weight.dim(0), "a bias");
      }
      return List.of(image.with(Shape.of(image.dim(0), rows.times(columns), weight.dim(0))));
    }
  }

  /**
   * A copy of the cache {@code [batch, …, capacity, d]} with {@code update [batch, …, n, d]}
   * written along {@code axis}, beginning at position {@code start[batch]} (i64); {@code circular}
   * positions wrap. ONNX TensorScatter.
   */
  record CacheUpdate(int axis, boolean circular) implements Structured {
    @Override
    public String mnemonic() {
      return "cache_update";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("axis", axis);
      attributes.flag("circular", circular);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType cache = operands.get(0);
      TensorType update = operands.get(1);
      Require.sameElement(cache, update);
      Require.that(axis >= 1 && axis < cache.rank(), "an axis after the batch axis", axis);
      Require.that(
          update.rank() == cache.rank()
              && update.shape().with(axis, Dim.ONE).equals(cache.shape().with(axis, Dim.ONE)),
          "an update with the shape of " + cache + " except for axis " + axis,
          update);
      requireVector(operands.get(2), ElementType.I64, cache.dim(0), "start positions");
      return List.of(cache);
    }
  }
}
