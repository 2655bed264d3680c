package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** Finds the kernels of rotary embeddings, KV caches and attention. */
final class DecoderSteps {
  private final Matrices matrices;
  private final Operands operands;
  private final Indices indices;
  private final Map<Value, List<Node>> users;
  private final ScheduledBlocks scheduled;

  DecoderSteps(
      Matrices matrices,
      Operands operands,
      Indices indices,
      Map<Value, List<Node>> users,
      ScheduledBlocks scheduled) {
    this.matrices = matrices;
    this.operands = operands;
    this.indices = indices;
    this.users = users;
    this.scheduled = scheduled;
  }

  Step rotary(Structured.RotaryEmbedding rotary, Node node) {
    Matrix x = operands.required(node, 0);
    Matrix cosines = operands.required(node, 1);
    Matrix sines = operands.required(node, 2);
    int features = Math.toIntExact(x.columns());
    int half = features / 2;
    TensorType type = node.operand(0).type();
    long tokens = type.shape().extent(2);
    long rowsOfSequence = type.shape().extent(1) * tokens;
    boolean isShared = cosines.rows() == tokens;
    // Features that aren't rotated have no kernel.
    if (cosines.columns() != half
        || features % 2 != 0
        || !isShared && cosines.rows() != type.shape().extent(0) * tokens) {
      throw ModelSteps.unsupported(node);
    }
    double[] swap = new double[features * features];
    double[] spread = new double[half * features];
    for (int i = 0; i < half; i++) {
      int a = rotary.interleaved() ? 2 * i : i;
      int b = rotary.interleaved() ? 2 * i + 1 : i + half;
      swap[b * features + a] = -1;
      swap[a * features + b] = 1;
      spread[i * features + a] = 1;
      spread[i * features + b] = 1;
    }
    String form = (rotary.interleaved() ? "_interleaved_" : "_") + features;
    Matrix result = matrices.result(node.result());
    return Step.ofRows(
        Kind.ROTARY,
        node,
        List.of(
            x,
            cosines,
            sines,
            matrices.shared("rotary_swap" + form, features, features, swap),
            matrices.shared("rotary_spread" + form, half, features, spread)),
        result,
        scheduled.wholeRows(node.result(), result),
        List.of(
            cosines.tileColumns() + "", tokens + "", (isShared ? x.rows() : rowsOfSequence) + ""));
  }

  Step cacheUpdate(Structured.CacheUpdate update, Node node) {
    Value cache = node.operand(0);
    TensorType type = cache.type();
    long capacity = type.shape().extent(update.axis());
    long tokens = node.operand(1).type().shape().extent(update.axis());
    boolean isRows = update.axis() == type.rank() - 2 && type.shape().extent(0) == 1;
    // The cache is written in place, so nothing else may read it.
    if (!isRows || update.circular() || !cache.isInput() || users.get(cache).size() != 1) {
      throw ModelSteps.unsupported(node);
    }
    Matrix to = operands.required(node, 0);
    Matrix x = operands.required(node, 1);
    String position = indices.of(node.operand(2)).getFirst();
    matrices.alias(node.result(), to);
    return Step.ofTiles(
            Kind.CACHE_UPDATE,
            node.origin(),
            List.of(x),
            List.of(),
            to,
            scheduled.tiles(node.result(), x),
            List.of(x.rows() + "", tokens + "", capacity + ""))
        .withIndices(List.of("position_of(" + position + ", " + tokens + ", " + capacity + ")"));
  }

  /**
   * The approximation, which comes first, and the exact attention of a device whose flag is true.
   */
  Step speculatedAttention(SpeculatedAttention speculated, Decisions decisions) {
    int word = decisions.word(speculated.flag(), speculated.guess());
    List<Matrix> inputs = inputs(speculated);
    Matrix norms = norms(speculated, decisions);
    Matrix guessed = matrices.result(speculated.guess().result());
    Matrix exactly = matrices.result(speculated.exact().result());
    matrices.produces(exactly, speculated.exact().result());
    return speculated(Kind.SPECULATED_ATTENTION, speculated, inputs, guessed)
        .withOthers(List.of(exactly, norms))
        .with(new Step.Control(List.of(), OptionalInt.of(word), Optional.empty()));
  }

  /** The approximation alone, so that it is sent before the exact attention. */
  Step earlyAttention(SpeculatedAttention speculated) {
    List<Matrix> inputs = inputs(speculated);
    Matrix guessed = matrices.result(speculated.guess().result());
    return speculated(Kind.EARLY_ATTENTION, speculated, inputs, guessed);
  }

  /** The exact attention, which verifies the approximation that was sent. */
  Step verifyingAttention(SpeculatedAttention speculated, Decisions decisions) {
    List<Matrix> inputs = inputs(speculated);
    Matrix norms = norms(speculated, decisions);
    Matrix exactly = matrices.result(speculated.exact().result());
    return speculated(Kind.VERIFYING_ATTENTION, speculated, inputs, exactly)
        .withOthers(List.of(norms));
  }

  private Matrix norms(SpeculatedAttention speculated, Decisions decisions) {
    Matrix norms = matrices.scratch("norms", blocks(speculated).rows().pages(), 2);
    speculated.distance().ifPresent(sum -> decisions.addSum(sum, norms, 0));
    speculated.norm().ifPresent(sum -> decisions.addSum(sum, norms, 1));
    return norms;
  }

  private static long queries(SpeculatedAttention speculated) {
    return speculated.guess().operand(0).type().shape().extent(1)
        / speculated.exact().operand(1).type().shape().extent(1);
  }

  private AttentionBlocks blocks(SpeculatedAttention speculated) {
    TensorType k = speculated.exact().operand(1).type();
    long heads = k.shape().extent(0) * k.shape().extent(1);
    return scheduled.attention(
        speculated.exact().result(), heads, queries(speculated), k.shape().extent(2));
  }

  private List<Matrix> inputs(SpeculatedAttention speculated) {
    return List.of(
        operands.required(speculated.guess(), 0),
        operands.required(speculated.exact(), 1),
        operands.required(speculated.exact(), 2),
        matrices.ones("ones", Matrix.TILE),
        matrices.ones("first_row", 1));
  }

  private Step speculated(
      Kind kind, SpeculatedAttention speculated, List<Matrix> inputs, Matrix result) {
    Node exact = speculated.exact();
    AttentionBlocks blocks = blocks(speculated);
    Structured.Attention op = (Structured.Attention) exact.op();
    return new Step(
        kind,
        exact.origin(),
        inputs,
        List.of(),
        result,
        List.of(
            inputs.get(0).tileColumns() + "",
            inputs.get(2).tileColumns() + "",
            queries(speculated) + "",
            exact.operand(1).type().shape().extent(2) + "",
            blocks.columns().pages() + "",
            speculated.chunk() + "",
            "0x%08x".formatted(Float.floatToIntBits((float) op.scale())),
            blocks.rows().pages() + "",
            blocks.rows().round() + ""),
        List.of(indices.of(exact.operands().getLast()).getFirst()),
        blocks);
  }

  /** The keys or values that take part, of each head. */
  private Matrix keys(Node node, int operand, Optional<ChosenRows> visible) {
    return visible.isEmpty()
        ? operands.required(node, operand)
        : operands.rows(node, operand, visible.get());
  }

  /** The extents of a mask {@code [batch, heads, seq, keys]}, of which only the last is whole. */
  private static Shape rowsOfMask(Node node, long keys) {
    TensorType type = node.operand(3).type();
    long[] extents = new long[4];
    Arrays.fill(extents, 1);
    for (int fromEnd = 0; fromEnd < type.rank(); fromEnd++) {
      extents[3 - fromEnd] = type.shape().fromEnd(fromEnd).value();
    }
    return Shape.of(extents[0], extents[1], extents[2], keys);
  }

  /** The rows of a mask from one sequence, head and token to the next, after the kv heads. */
  private static List<String> stepsOfMask(Shape shape, long kvHeads) {
    long heads = shape.extent(1);
    long tokens = shape.extent(2);
    return Stream.of(
            kvHeads,
            shape.extent(0) == 1 ? 0 : heads * tokens,
            heads == 1 ? 0 : tokens,
            tokens == 1 ? 0L : 1L)
        .map(Object::toString)
        .toList();
  }

  private Matrix mask(Node node, Shape shape) {
    Value mask = node.operand(3);
    boolean isConstant = Matrices.constant(mask).isPresent();
    // Queries without any key give zeros, which the kernel doesn't.
    boolean isOfFlags = mask.type().element() == ElementType.BOOL;
    if (isOfFlags && !(isConstant && ChosenRows.hasKeys(mask))) {
      throw ModelSteps.unsupported(node);
    }
    if (isConstant || matrices.isHosted(mask)) {
      return matrices.maskTerms(mask, shape);
    }
    Matrix terms = operands.required(node, 3);
    if (terms.columns() != shape.extent(3)) {
      throw ModelSteps.unsupported(node);
    }
    return terms;
  }

  Step attention(Structured.Attention attention, Node node) {
    TensorType q = node.operand(0).type();
    TensorType k = node.operand(1).type();
    Optional<ChosenRows> visible =
        attention.mask() ? ChosenRows.ofKeys(attention, node.operand(3)) : Optional.empty();
    boolean isMasked = attention.mask() && visible.isEmpty();
    if (attention.softCap() != 0
        || !attention.offset().isStatic()
        || attention.keyLength() && q.shape().extent(0) != 1) {
      throw ModelSteps.unsupported(node);
    }
    List<Matrix> inputs =
        new ArrayList<>(
            List.of(
                operands.required(node, 0),
                keys(node, 1, visible),
                keys(node, 2, visible),
                matrices.ones("ones", Matrix.TILE),
                matrices.ones("first_row", 1)));
    long heads = k.shape().extent(0) * k.shape().extent(1);
    long tokens = q.shape().extent(2);
    long queries = q.shape().extent(1) / k.shape().extent(1) * tokens;
    long keys = visible.map(ChosenRows::count).orElse(k.shape().extent(2));
    String length =
        attention.keyLength() ? indices.of(node.operands().getLast()).getFirst() : keys + "";
    String position =
        attention.keyLength() ? length + " - " + tokens : attention.offset().value() + "";
    AttentionBlocks blocks = scheduled.attention(node.result(), heads, queries, keys);
    Matrix result = matrices.result(node.result());
    List<String> sizes =
        new ArrayList<>(
            List.of(
                inputs.get(0).tileColumns() + "",
                inputs.get(2).tileColumns() + "",
                queries + "",
                tokens + "",
                keys + "",
                blocks.columns().pages() + "",
                attention.causal() ? "1" : "0",
                attention.window() + "",
                "0x%08x".formatted(Float.floatToIntBits((float) attention.scale())),
                blocks.rows().pages() + "",
                blocks.rows().round() + ""));
    if (isMasked) {
      Shape shape = rowsOfMask(node, keys);
      inputs.add(mask(node, shape));
      sizes.addAll(stepsOfMask(shape, k.shape().extent(1)));
    }
    return new Step(
        Kind.ATTENTION,
        node.origin(),
        inputs,
        List.of(),
        result,
        sizes,
        List.of(length, position),
        blocks);
  }
}
