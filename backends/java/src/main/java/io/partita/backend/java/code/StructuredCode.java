package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.op.IntegerAttention;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Calls of the transformer's kernels. */
final class StructuredCode {
  /** The number of queries from which transposing the keys pays off. */
  private static final int MANY_QUERIES = 8;

  private final StepCode code;
  private final Body body;

  private StructuredCode(StepCode code) {
    this.code = code;
    this.body = code.body;
  }

  static void emit(StepCode code, Structured structured) {
    StructuredCode printer = new StructuredCode(code);
    switch (structured) {
      case Structured.Linear linear -> LinearCode.linear(code, linear);
      case Structured.Ffn ffn -> LinearCode.ffn(code, ffn);
      case Structured.PatchEmbedding patches -> LinearCode.patchEmbedding(code, patches);
      case Structured.Norm norm -> printer.norm(norm);
      case Structured.Attention attention -> printer.attention(attention);
      case Structured.RotaryEmbedding rotary -> printer.rotary(rotary);
      case Structured.Embedding embedding -> MovementCode.embedding(code);
      case Structured.CacheUpdate update -> printer.cacheUpdate(update);
    }
  }

  private void norm(Structured.Norm norm) {
    Shape x = code.shape(0);
    Shape line = x.range(norm.axis(), x.rank());
    if (x.elements() == 0) {
      return;
    }
    String input = code.real(0);
    String scale = norm.scale() ? expanded(1, line) : "null";
    String bias = norm.bias() ? expanded(norm.scale() ? 2 : 1, line) : "null";
    String y = code.realResult();
    body.line(
        code.call(
            BlockKernels.NORM,
            code.realVariant(),
            input,
            x.range(0, norm.axis()).elements(),
            line.elements(),
            norm.kind() == Structured.NormKind.LAYER,
            Elements.doubleLiteral(norm.epsilon()),
            scale,
            bias,
            y));
    code.narrow(y);
  }

  /** An operand that is broadcast to {@code line}, as a full array. */
  private String expanded(int operand, Shape line) {
    Shape shape = code.shape(operand);
    String array = code.real(operand);
    if (shape.elements() == line.elements()) {
      return array;
    }
    LoopNest nest =
        LoopNest.of(
            line.extents(),
            List.of(
                LoopNest.Access.of(0, line.strides()), ElementwiseCode.access(shape, line.rank())));
    String full = code.scratch.take(code.realStorage(), line.elements());
    nest.open(body, "i");
    body.line("%s[%s] = %s[%s]".formatted(full, nest.index(0, "i"), array, nest.index(1, "i")));
    body.close(nest.depth());
    return full;
  }

  /** The offset of the queries from the first key, which differs for each part of a sequence. */
  private String offset() {
    List<Long> offsets =
        code.plan.role().operations(code.node).stream()
            .map(op -> ((Structured.Attention) op).offset().value())
            .toList();
    String text = code.plan.offsets().of(offsets);
    return text.equals(offsets.getFirst().toString()) ? text + "L" : text;
  }

  private void attention(Structured.Attention attention) {
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    if (attention.isInteger()) {
      integerAttention(attention);
      return;
    }
    Shape q = code.shape(0);
    Shape k = code.shape(1);
    List<Object> arguments = new ArrayList<>();
    arguments.addAll(List.of(code.real(0), code.real(1), code.real(2)));
    arguments.addAll(attentionExtents());
    arguments.add(Elements.doubleLiteral(attention.scale()));
    arguments.add(Elements.doubleLiteral(attention.softCap()));
    arguments.addAll(visibility(attention));
    String y = code.realResult();
    boolean isBlocked = q.extent(2) >= MANY_QUERIES;
    long block = isBlocked ? Math.min(64, q.extent(2)) : 1;
    String scores = code.scratch.take(code.realStorage(), block * k.extent(2));
    String turned =
        isBlocked ? code.scratch.take(code.realStorage(), k.extent(2) * k.extent(3)) : "";
    arguments.add(keyLengths(attention));
    if (isBlocked) {
      arguments.add(turned);
    }
    arguments.add(scores);
    arguments.add(y);
    body.line(
        code.call(
            isBlocked ? BlockKernels.BLOCK_ATTENTION : BlockKernels.ATTENTION,
            code.realVariant(),
            arguments.toArray()));
    code.narrow(y);
  }

  private void integerAttention(Structured.Attention attention) {
    List<Object> arguments = new ArrayList<>();
    arguments.addAll(List.of(code.array(0), code.array(1), code.array(2)));
    arguments.addAll(attentionExtents());
    arguments.add(Elements.floatLiteral(IntegerAttention.inverse(attention.scale())));
    arguments.add(Elements.floatLiteral(IntegerAttention.unit(attention.scale())));
    arguments.add(Elements.floatLiteral((float) attention.valueScale()));
    arguments.addAll(visibility(attention));
    arguments.add(keyLengths(attention));
    arguments.add(code.scratch.take(Storage.INTS, code.shape(1).extent(2)));
    arguments.add(code.scratch.take(Storage.INTS, code.shape(2).extent(3)));
    arguments.add(code.result());
    body.line(code.call(IntegerAttentionKernel.ATTENTION, arguments.toArray()));
  }

  /** Batch, heads, kv heads, queries, keys, and the features of keys and of values. */
  private List<Long> attentionExtents() {
    Shape q = code.shape(0);
    Shape k = code.shape(1);
    return List.of(
        q.extent(0),
        q.extent(1),
        k.extent(1),
        q.extent(2),
        k.extent(2),
        q.extent(3),
        code.shape(2).extent(3));
  }

  private String keyLengths(Structured.Attention attention) {
    return attention.keyLength() ? code.array(code.node.operands().size() - 1) : "null";
  }

  /** Which keys a query sees, apart from their number. */
  private List<Object> visibility(Structured.Attention attention) {
    boolean isChoice = attention.mask() && code.element(3) == ElementType.BOOL;
    String mask = attention.mask() ? isChoice ? code.array(3) : code.real(3) : "null";
    List<Object> arguments = new ArrayList<>();
    arguments.add(attention.causal());
    arguments.add(offset());
    arguments.add(attention.window() + "L");
    arguments.add(isChoice ? mask : "null");
    arguments.add(isChoice ? "null" : mask);
    arguments.addAll(
        attention.mask()
            ? ElementwiseCode.broadcastStrides(code.shape(3), 4)
            : List.of(0L, 0L, 0L, 0L));
    return arguments;
  }

  private void rotary(Structured.RotaryEmbedding rotary) {
    Shape x = code.shape(0);
    Shape cosines = code.shape(1);
    if (x.elements() == 0) {
      return;
    }
    String input = code.real(0);
    String c = code.real(1);
    String s = code.real(2);
    String y = code.realResult();
    body.line(
        code.call(
            BlockKernels.ROTARY,
            code.realVariant(),
            input,
            x.extent(0),
            x.extent(1),
            x.extent(2),
            x.extent(3),
            c,
            s,
            cosines.extent(0),
            cosines.extent(2),
            rotary.interleaved(),
            y));
    code.narrow(y);
  }

  /** {@code [batch, outer, extent, inner]} with rows written from each batch's start. */
  private void cacheUpdate(Structured.CacheUpdate update) {
    Shape cache = code.shape(0);
    long batch = cache.extent(0);
    long outer = cache.range(1, update.axis()).elements();
    long extent = cache.extent(update.axis());
    long inner = cache.range(update.axis() + 1, cache.rank()).elements();
    long added = code.shape(1).extent(update.axis());
    if (!code.array(0).equals(code.result())) {
      body.line(
          "System.arraycopy(%s, 0, %s, 0, %s)"
              .formatted(code.array(0), code.result(), cache.elements()));
    }
    if (batch * outer * added * inner == 0) {
      return;
    }
    LoopNest nest =
        LoopNest.of(
            new long[] {batch, outer, added},
            List.of(
                LoopNest.Access.of(0, outer * extent * inner, extent * inner, 0),
                LoopNest.Access.of(0, outer * added * inner, added * inner, inner),
                LoopNest.Access.of(0, 1, 0, 0),
                LoopNest.Access.of(0, 0, 0, 1)));
    nest.open(body, "i");
    String start = code.load(2, nest.index(2, "i")) + " + " + nest.index(3, "i");
    String place = update.circular() ? "Math.floorMod(" + start + ", " + extent + "L)" : start;
    String position = code.call(BlockKernels.CACHE_POSITION, place, extent);
    body.line(
        "System.arraycopy(%s, %s, %s, %s, %s)"
            .formatted(
                code.array(1),
                nest.index(1, "i"),
                code.result(),
                ContractionCode.plus(nest.index(0, "i"), position + " * " + inner),
                inner));
    body.close(nest.depth());
  }
}
