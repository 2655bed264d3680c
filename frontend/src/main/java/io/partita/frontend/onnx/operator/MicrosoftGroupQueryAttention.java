package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.AttentionValues.splitHeads;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * GroupQueryAttention of com.microsoft, with kv heads, a cache and rotary embedding.
 *
 * <p>Operand 5 is the last key position of each sequence, operand 6 the number of keys of the
 * longest. New keys follow the valid keys of a sequence, which may be fewer than those in the
 * cache.
 */
final class MicrosoftGroupQueryAttention {
  private MicrosoftGroupQueryAttention() {}

  static void register(OperatorRegistry registry) {
    registry.add(
        OperatorRegistry.MICROSOFT,
        "GroupQueryAttention",
        1,
        MicrosoftGroupQueryAttention::convert);
  }

  private static void convert(NodeScope node) {
    requireSupported(node);
    List<Value> qkv = separate(node);
    Dim seq = qkv.getFirst().type().dim(2);
    Cache cache = Cache.of(node, qkv.get(1).type().shape());
    if (node.flag("do_rotary", false)) {
      Value at = rotaryPositions(node, cache, seq);
      boolean interleaved = node.flag("rotary_interleaved", false);
      for (int i = 0; i < 2; i++) {
        qkv.set(i, MicrosoftRotaryEmbedding.rotate(node, qkv.get(i), at, 7, interleaved));
      }
    }
    qkv.set(1, cache.extend(node, 3, qkv.get(1)));
    qkv.set(2, cache.extend(node, 4, qkv.get(2)));
    node.output(1, qkv.get(1));
    node.output(2, qkv.get(2));
    long window = node.integer("local_window_size", -1);
    Structured.Attention plain =
        new Structured.Attention(
            AttentionValues.scale(node, qkv.getFirst()),
            node.number("softcap", 0),
            node.flag("causal", true),
            cache.before(),
            Math.max(0, window),
            false,
            false);
    Optional<Value> bias = node.optionalInput(10);
    if (node.has(11) || node.flag("smooth_softmax", false)) {
      node.output(0, withSink(node, plain, qkv, bias, cache));
    } else {
      Optional<Value> mask = bias.isEmpty() ? cache.valid() : bias;
      if (bias.isPresent() && cache.valid().isPresent()) {
        Value added =
            AttentionValues.select(
                node,
                cache.valid().get(),
                bias.get().type().element(),
                0,
                Double.NEGATIVE_INFINITY);
        mask = AttentionValues.sum(node, bias, Optional.of(added));
      }
      node.output(0, AttentionValues.attend(node, plain, qkv, mask, cache.keyLength()));
    }
  }

  /**
   * Returns the positions for the rotation. For a prompt, ONNX Runtime uses the first given
   * position and counts from it in all sequences.
   */
  private static Value rotaryPositions(NodeScope node, Cache cache, Dim seq) {
    Arithmetic of = new Arithmetic(node);
    if (!node.has(9)) {
      return cache.queries(node, seq);
    }
    Value given = of.cast(node.input(9), ElementType.I64);
    if (cache.keyLength().isPresent() || !cache.before().is(0)) {
      return given;
    }
    Value first = of.slice(of.slice(given, 0, Dim.ZERO, Dim.ONE), 1, Dim.ZERO, Dim.ONE);
    return of.add(first, of.iota(seq, ElementType.I64));
  }

  private static void requireSupported(NodeScope node) {
    if (node.wants(3)) {
      throw node.unsupported("GroupQueryAttention's output of scores", "export without output_qk");
    }
    for (int input = 12; input < node.inputs(); input++) {
      if (node.has(input)) {
        throw node.unsupported(
            "GroupQueryAttention with a quantised cache or norms of q and k",
            "export the cache in the model's float type and the norms as nodes");
      }
    }
  }

  /** Returns q, k and v by head, from three operands or a packed one. */
  private static List<Value> separate(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Dim heads = Dim.of(node.integer("num_heads"));
    Dim kvHeads = Dim.of(node.integer("kv_num_heads"));
    Value query = node.input(0);
    if (node.has(1)) {
      return new ArrayList<>(
          List.of(
              splitHeads(node, query, heads),
              splitHeads(node, node.input(1), kvHeads),
              splitHeads(node, node.input(2), kvHeads)));
    }
    Dim all = heads.plus(kvHeads).plus(kvHeads);
    Value split = splitHeads(node, query, all);
    return new ArrayList<>(
        List.of(
            of.slice(split, 1, Dim.ZERO, heads),
            of.slice(split, 1, heads, kvHeads),
            of.slice(split, 1, heads.plus(kvHeads), kvHeads)));
  }

  /**
   * The placement of new keys.
   *
   * @param before the position of the first query, if equal in all sequences
   * @param keys the extent of the present keys
   * @param start the first new position of each sequence, i64 {@code [batch]}; empty if all follow
   *     the whole past
   * @param keyLength the number of keys of each sequence, i64 {@code [batch]}, if its last query is
   *     at its last key; empty if queries begin at {@code before}
   * @param valid which keys are not padding, {@code [batch, 1, 1, keys]}; empty if all are valid
   */
  private record Cache(
      Dim before,
      Dim keys,
      Optional<Value> start,
      Optional<Value> keyLength,
      Optional<Value> valid) {
    /** Returns the placement of new keys of shape {@code fresh [batch, kvHeads, seq, d]}. */
    static Cache of(NodeScope node, Shape fresh) {
      Dim batch = fresh.dim(0);
      Dim seq = fresh.dim(2);
      Dim past = node.has(3) ? node.shape(3).dim(2) : Dim.ZERO;
      Dim total = past.is(0) ? seq : node.dim(6, past.plus(seq));
      if (!total.isStatic()) {
        node.equate(total, past.plus(seq));
      }
      boolean alike = alike(node, batch, total);
      Value lengths = lengths(node, batch);
      if (total.equals(seq)) {
        Dim keys = past.is(0) ? seq : past;
        Optional<Value> start =
            past.is(0)
                ? Optional.empty()
                : Optional.of(QuantizedValues.zeros(node, ElementType.I64, Shape.of(batch)));
        Optional<Value> valid =
            alike && keys.equals(seq) ? Optional.empty() : Optional.of(below(node, keys, lengths));
        return new Cache(Dim.ZERO, keys, start, Optional.empty(), valid);
      }
      if (alike && total.equals(past.plus(seq))) {
        return new Cache(past, total, Optional.empty(), Optional.empty(), Optional.empty());
      }
      Value start = new Arithmetic(node).sub(lengths, extent(node, seq));
      Dim keys = past.minus(total).isAtLeast(0) ? past : total;
      return new Cache(Dim.ZERO, keys, Optional.of(start), Optional.of(lengths), Optional.empty());
    }

    /** Whether every sequence is known to have {@code total} keys. */
    private static boolean alike(NodeScope node, Dim batch, Dim total) {
      Optional<List<Dim>> last = node.knownDims(node.input(5));
      return batch.is(1)
          || last.isPresent()
              && last.get().stream().allMatch(position -> position.plus(1).equals(total));
    }

    private static Value lengths(NodeScope node, Dim batch) {
      Arithmetic of = new Arithmetic(node);
      Value last = of.reshape(of.cast(node.input(5), ElementType.I64), Shape.of(batch));
      return of.add(last, node.scalarLike(last, 1));
    }

    private static Value extent(NodeScope node, Dim dim) {
      return node.add(new Source.Extent(dim));
    }

    /** {@code [batch, 1, 1, keys]}: whether positions are below the bound of each sequence. */
    private static Value below(NodeScope node, Dim keys, Value bound) {
      Arithmetic of = new Arithmetic(node);
      Value position = of.iota(keys, ElementType.I64);
      Shape column = Shape.of(bound.type().dim(0), Dim.ONE, Dim.ONE, Dim.ONE);
      return of.binary(BinaryFunction.LESS, position, of.reshape(bound, column));
    }

    /** Returns the positions of the queries, {@code [batch or 1, seq]}. */
    Value queries(NodeScope node, Dim seq) {
      Arithmetic of = new Arithmetic(node);
      Value steps = of.iota(seq, ElementType.I64);
      if (start.isPresent()) {
        Shape column = start.get().type().shape().insert(1, Dim.ONE);
        return of.add(of.reshape(start.get(), column), steps);
      }
      if (!before.is(0)) {
        steps = of.add(steps, extent(node, before));
      }
      return of.reshape(steps, Shape.of(Dim.ONE, seq));
    }

    /** Returns the past in operand {@code input} with the new keys or values. */
    Value extend(NodeScope node, int input, Value fresh) {
      Arithmetic of = new Arithmetic(node);
      if (!node.has(input) || node.shape(input).dim(2).is(0)) {
        return fresh;
      }
      Value past = node.input(input);
      if (start.isEmpty()) {
        return of.concat(2, past, fresh);
      }
      // Invalid elements of the past are not in the present.
      Dim length = past.type().dim(2);
      Shape column = Shape.of(past.type().dim(0), Dim.ONE, length, Dim.ONE);
      Value used = of.reshape(below(node, length, start.get()), column);
      past = node.add(new Elementwise.Select(), used, past, node.scalarLike(past, 0));
      Dim room = keys.minus(length);
      if (!room.is(0)) {
        Shape shape = past.type().shape().with(2, room);
        past = of.concat(2, past, QuantizedValues.zeros(node, past.type().element(), shape));
      }
      return node.add(new Structured.CacheUpdate(2, false), past, fresh, start.get());
    }
  }

  /**
   * Computes attention whose softmax has an additional term, a logit per head or 0. It is an
   * additional key with that score and a value of zeros. Because all queries see it, causality,
   * window and length are in the mask.
   */
  private static Value withSink(
      NodeScope node,
      Structured.Attention plain,
      List<Value> qkv,
      Optional<Value> bias,
      Cache cache) {
    Value q = qkv.getFirst();
    ElementType element = q.type().element();
    Dim seq = q.type().dim(2);
    Dim keys = qkv.get(1).type().dim(2);
    Value visible = visible(node, plain, cache, seq, keys);
    Value mask = AttentionValues.select(node, visible, element, 0, Double.NEGATIVE_INFINITY);
    mask = AttentionValues.sum(node, Optional.of(mask), bias).orElseThrow();
    Dim heads = q.type().dim(1);
    Shape full = Shape.of(q.type().dim(0), heads, seq, keys);
    mask = node.add(new Movement.Broadcast(full), mask);
    Value logit =
        node.has(11)
            ? new Arithmetic(node)
                .reshape(node.input(11), Shape.of(Dim.ONE, heads, Dim.ONE, Dim.ONE))
            : node.constant(Tensor.scalar(element, 0));
    logit =
        node.add(
            new Movement.Broadcast(full.with(3, Dim.ONE)),
            new Arithmetic(node).cast(logit, element));
    mask = new Arithmetic(node).concat(3, mask, logit);
    List<Value> extended = new ArrayList<>(List.of(q));
    for (Value value : qkv.subList(1, 3)) {
      Shape shape = value.type().shape().with(2, Dim.ONE);
      extended.add(
          new Arithmetic(node).concat(2, value, QuantizedValues.zeros(node, element, shape)));
    }
    Structured.Attention unmasked =
        new Structured.Attention(plain.scale(), plain.softCap(), false, Dim.ZERO, 0, false, false);
    return AttentionValues.attend(node, unmasked, extended, Optional.of(mask), Optional.empty());
  }

  /** Returns the keys that each query sees, {@code [batch or 1, 1, seq, keys]}. */
  private static Value visible(
      NodeScope node, Structured.Attention plain, Cache cache, Dim seq, Dim keys) {
    Value key = new Arithmetic(node).iota(keys, ElementType.I64);
    Value query = cache.queries(node, seq);
    Shape rows = Shape.of(query.type().dim(0), Dim.ONE, seq, Dim.ONE);
    query = new Arithmetic(node).reshape(query, rows);
    List<Value> conditions = new ArrayList<>();
    if (plain.causal()) {
      conditions.add(new Arithmetic(node).binary(BinaryFunction.LESS_OR_EQUAL, key, query));
    }
    if (plain.window() > 0) {
      Value first = new Arithmetic(node).sub(query, node.scalarLike(query, plain.window()));
      conditions.add(new Arithmetic(node).binary(BinaryFunction.GREATER, key, first));
    }
    cache.valid().ifPresent(conditions::add);
    cache.keyLength().ifPresent(length -> conditions.add(Cache.below(node, keys, length)));
    if (conditions.isEmpty()) {
      return node.constant(Tensor.scalar(ElementType.BOOL, 1));
    }
    return conditions.stream()
        .reduce((left, right) -> new Arithmetic(node).binary(BinaryFunction.AND, left, right))
        .orElseThrow();
  }
}
