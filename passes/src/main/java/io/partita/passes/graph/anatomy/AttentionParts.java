package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import java.util.Optional;

/** Finds the projections, the rotation and the cache of an attention. */
final class AttentionParts {
  private static final int MAX_STEPS = 24;

  private final Flow flow;
  private final Projections projections;
  private final MaskReading masks;

  AttentionParts(Flow flow, Projections projections, MaskReading masks) {
    this.flow = flow;
    this.projections = projections;
    this.masks = masks;
  }

  /** The operations between an operand of an attention and its projection. */
  private static final class Source {
    Optional<Projection> linear = Optional.empty();
    Optional<Node> rotation = Optional.empty();
    String end = "";
    String input = "";
    String past = "";
    String present = "";
  }

  Block.AttentionPart of(Node node) {
    Structured.Attention attention = (Structured.Attention) node.op();
    Source query = source(node.operand(0));
    Source key = source(node.operand(1));
    Source value = source(node.operand(2));
    Optional<Structured.RotaryEmbedding> rotary =
        query.rotation.map(rotation -> (Structured.RotaryEmbedding) rotation.op());
    boolean areGiven = !key.input.isEmpty() && !value.input.isEmpty();
    boolean hasCache = areGiven || !key.past.isEmpty() && !value.past.isEmpty();
    boolean isCross =
        areGiven
            || flow.isParameter(node.operand(0))
            || key.past.isEmpty()
                && query.linear.isPresent()
                && !flow.depends(node.operand(1), Flow.residualOf(query.linear.get().input()));
    return new Block.AttentionPart(
        node,
        query.linear,
        key.linear,
        value.linear,
        projections.below(node.result()),
        node.operand(0).type().dim(1),
        node.operand(1).type().dim(1),
        node.operand(0).type().dim(3),
        isCross,
        attention.causal() || masks.isCausal(node),
        attention.mask(),
        attention.window(),
        attention.softCap(),
        rotary
            .map(found -> found.interleaved() ? Block.Rotation.INTERLEAVED : Block.Rotation.HALVES)
            .orElse(Block.Rotation.NONE),
        query
            .rotation
            .map(rotation -> rotation.operand(1).type().dim(2).times(Dim.of(2)))
            .orElse(Dim.ZERO),
        hasCache
            ? Optional.of(
                areGiven
                    ? new Block.Cache(key.input, value.input, "", "")
                    : new Block.Cache(key.past, value.past, key.present, value.present))
            : Optional.empty());
  }

  /** Describes the origin of an operand without a projection. */
  String end(Value operand) {
    return source(operand).end;
  }

  /** Whether keys and values come from a previous run or another model. */
  boolean givesKeysAndValues(Block.AttentionPart attention) {
    return attention.cross() && attention.cache().isPresent();
  }

  private Source source(Value operand) {
    Source source = new Source();
    Value at = operand;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      source.linear = projections.giving(at);
      if (source.linear.isPresent()) {
        return source;
      }
      Value next = before(node, source);
      if (next == null) {
        source.end = node.op().mnemonic();
        return source;
      }
      at = next;
    }
    source.end = "an input";
    source.input = at.isInput() ? at.name() : "";
    return source;
  }

  /**
   * Returns the operand of {@code node} that comes from the projection, or null if it is ambiguous.
   */
  private Value before(Node node, Source source) {
    return switch (node.op()) {
      case Structured.RotaryEmbedding rotary -> {
        source.rotation = Optional.of(node);
        yield node.operand(0);
      }
      case Movement.Concat concat when node.operands().size() == 2 -> {
        cache(node, node.operand(0), source);
        yield node.operand(1);
      }
      case Structured.CacheUpdate update -> {
        cache(node, node.operand(0), source);
        yield node.operand(1);
      }
      case Movement.ScatterNd scatter when scatter.reduction() == Combine.REPLACE -> {
        cache(node, node.operand(0), source);
        yield node.operand(2);
      }
      case Movement.ScatterElements scatter when scatter.reduction() == Combine.REPLACE -> {
        cache(node, node.operand(0), source);
        yield node.operand(2);
      }
      case Elementwise.Select select when keepsTokens(node) -> written(node, 1, 2, source);
      case Elementwise.Binary binary when keepsTokens(node) -> written(node, 0, 1, source);
      case Elementwise.Binary binary ->
          flow.isParameter(node.operand(0)) || isOneHot(node.operand(0))
              ? node.operand(1)
              : node.operand(0);
      case Structured.Norm norm
          when node.result().type().rank() == 4 || isProjected(node.operand(0)) ->
          node.operand(0);
      case Movement.Concat concat -> node.operand(0);
      case Reduction.Reduce pool -> node.operand(0);
      case Contraction.Pool pool -> node.operand(0);
      case Contraction.Convolution convolution when node.operand(1).type().dim(1).is(1) ->
          node.operand(0);
      case Contraction.MatMul product when product.result().isFloat() ->
          isOneHot(node.operand(0)) ? node.operand(1) : node.operand(0);
      case Op op when Flow.isPassing(op) -> node.operand(0);
      case Elementwise.Unary unary -> node.operand(0);
      case Op other -> null;
    };
  }

  /** Returns the operand with new tokens if the other one is a cache, or null. */
  private Value written(Node node, int one, int other, Source source) {
    int past = kept(node.operand(one)).isPresent() ? one : other;
    Optional<Value> cache = kept(node.operand(past));
    if (cache.isEmpty()) {
      return null;
    }
    source.past = cache.get().name();
    source.present = present(node.result());
    return node.operand(past == one ? other : one);
  }

  /** Whether the result is an output, and an operand is an input of which some tokens are kept. */
  private boolean keepsTokens(Node node) {
    return !present(node.result()).isEmpty()
        && node.operands().stream().anyMatch(operand -> kept(operand).isPresent());
  }

  /** Returns the input of keys or values of which this is a part: products with zeros and ones. */
  private static Optional<Value> kept(Value value) {
    Value at = value;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      boolean isProduct =
          node.op() instanceof Elementwise.Binary(BinaryFunction function)
              && function == BinaryFunction.MUL;
      if (!isProduct && !Flow.isPassing(node.op())) {
        return Optional.empty();
      }
      boolean isSecond = isProduct && !node.operand(0).type().equals(node.result().type());
      at = node.operand(isSecond ? 1 : 0);
    }
    boolean isCache = at.isInput() && at.type().rank() >= 3 && at.type().element().isFloat();
    return isCache ? Optional.of(at) : Optional.empty();
  }

  /** Whether the value is one where two values are equal, and zero elsewhere. */
  private static boolean isOneHot(Value value) {
    return Flow.above(
            value,
            op -> Flow.isPassing(op) || op instanceof Elementwise.Select,
            op ->
                op instanceof Elementwise.Binary(BinaryFunction function)
                    && function == BinaryFunction.EQUAL)
        .isPresent();
  }

  /** Whether a linear computes the value, apart from movement. */
  private boolean isProjected(Value value) {
    Value at = value;
    while (projections.giving(at).isEmpty()
        && at.definition() != null
        && Flow.isPassing(at.definition().op())) {
      at = at.definition().operand(0);
    }
    return projections.giving(at).isPresent();
  }

  private void cache(Node joined, Value past, Source source) {
    Value at = past;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      if (!Flow.isPassing(at.definition().op())) {
        return;
      }
      at = at.definition().operand(0);
    }
    if (at.isInput()) {
      source.past = at.name();
      source.present = present(joined.result());
    }
  }

  private String present(Value joined) {
    Optional<String> direct = flow.output(joined);
    if (direct.isPresent()) {
      return direct.get();
    }
    for (Node reader : flow.readers(joined)) {
      if (Flow.isPassing(reader.op()) || reader.op() instanceof Movement.Concat) {
        Optional<String> output = flow.output(reader.results().getFirst());
        if (output.isPresent()) {
          return output.get();
        }
      }
    }
    return "";
  }
}
