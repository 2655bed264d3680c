package io.partita.ir.arbitrary;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Random operations of {@link Structured}. */
final class StructuredSamples {
  private StructuredSamples() {}

  static void addTo(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(Structured.Linear.class, StructuredSamples::linear);
    all.put(Structured.Norm.class, StructuredSamples::norm);
    all.put(Structured.Attention.class, StructuredSamples::attention);
    all.put(Structured.RotaryEmbedding.class, StructuredSamples::rotaryEmbedding);
    all.put(Structured.Ffn.class, StructuredSamples::ffn);
    all.put(
        Structured.Embedding.class,
        draw ->
            OpSample.of(
                new Structured.Embedding(),
                new TensorType(draw.element(), draw.shape(2)),
                new TensorType(draw.index(), draw.shape(0, 3))));
    all.put(Structured.PatchEmbedding.class, StructuredSamples::patchEmbedding);
    all.put(Structured.CacheUpdate.class, StructuredSamples::cacheUpdate);
  }

  private static OpSample linear(Draw draw) {
    TensorType x = new TensorType(draw.numeric(), draw.shape(1, 3));
    Dim in = x.shape().fromEnd(0);
    Dim out = draw.dim();
    boolean transposed = draw.flag();
    boolean bias = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(x);
    operands.add(x.with(transposed ? Shape.of(out, in) : Shape.of(in, out)));
    if (bias) {
      operands.add(x.with(Shape.of(out)));
    }
    return new OpSample(new Structured.Linear(transposed, bias), operands);
  }

  private static OpSample norm(Draw draw) {
    TensorType x = new TensorType(draw.floating(), draw.shape(1, 3));
    int axis = draw.from(0, x.rank() - 1);
    boolean scale = draw.flag();
    boolean bias = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(x);
    for (int i = (scale ? 1 : 0) + (bias ? 1 : 0); i > 0; i--) {
      operands.add(x.with(draw.broadcastingTo(x.shape().range(axis, x.rank()))));
    }
    return new OpSample(
        new Structured.Norm(
            draw.one(Structured.NormKind.values()), axis, draw.number(), scale, bias),
        operands);
  }

  private static OpSample attention(Draw draw) {
    ElementType element = draw.floating();
    Dim batch = draw.dim();
    Dim keys = draw.dim();
    Dim features = draw.dim();
    long kvHeads = draw.from(1, 3);
    Shape q = Shape.of(batch, Dim.of(kvHeads * draw.from(1, 3)), draw.dim(), features);
    Shape k = Shape.of(batch, Dim.of(kvHeads), keys, features);
    boolean mask = draw.flag();
    boolean keyLength = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(new TensorType(element, q));
    operands.add(new TensorType(element, k));
    operands.add(new TensorType(element, k.with(3, draw.dim())));
    if (mask) {
      operands.add(
          new TensorType(
              draw.one(element, ElementType.BOOL), draw.broadcastingTo(q.with(3, keys))));
    }
    if (keyLength) {
      operands.add(new TensorType(ElementType.I64, Shape.of(batch)));
    }
    return new OpSample(
        new Structured.Attention(
            draw.number(),
            draw.number(),
            draw.flag(),
            draw.dim(),
            draw.from(0, 9),
            mask,
            keyLength),
        operands);
  }

  private static OpSample rotaryEmbedding(Draw draw) {
    long half = draw.from(1, 3);
    Shape x = Shape.of(draw.dim(), draw.dim(), draw.dim(), Dim.of(2 * half + draw.from(0, 2)));
    TensorType type = new TensorType(draw.floating(), x);
    TensorType cosines =
        type.with(Shape.of(draw.flag() ? Dim.ONE : x.dim(0), x.dim(2), Dim.of(half)));
    return OpSample.of(new Structured.RotaryEmbedding(draw.flag()), type, cosines, cosines);
  }

  private static OpSample ffn(Draw draw) {
    Structured.Ffn op =
        new Structured.Ffn(
            draw.one(UnaryFunction.values()), draw.flag(), draw.flag(), draw.flag(), draw.flag());
    TensorType x = new TensorType(draw.floating(), draw.shape(1, 3));
    Dim outer = x.shape().fromEnd(0);
    Dim inner = draw.dim();
    List<TensorType> operands = new ArrayList<>();
    operands.add(x);
    if (op.gated()) {
      addLayer(operands, outer, inner, op.gateBias());
    }
    addLayer(operands, outer, inner, op.upBias());
    addLayer(operands, inner, draw.dim(), op.downBias());
    return new OpSample(op, operands);
  }

  private static void addLayer(List<TensorType> operands, Dim in, Dim out, boolean bias) {
    TensorType x = operands.getFirst();
    operands.add(x.with(Shape.of(in, out)));
    if (bias) {
      operands.add(x.with(Shape.of(out)));
    }
  }

  private static OpSample patchEmbedding(Draw draw) {
    ElementType element = draw.floating();
    Dim features = draw.dim();
    Dim channels = draw.dim();
    Dim height = Dim.of(draw.from(1, 4));
    Dim width = draw.dim();
    Shape image = Shape.of(draw.dim(), channels, height.times(draw.dim()), width.times(Dim.of(2)));
    boolean bias = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(new TensorType(element, image));
    operands.add(new TensorType(element, Shape.of(features, channels, height, width)));
    if (bias) {
      operands.add(new TensorType(element, Shape.of(features)));
    }
    return new OpSample(new Structured.PatchEmbedding(bias), operands);
  }

  private static OpSample cacheUpdate(Draw draw) {
    TensorType cache = new TensorType(draw.element(), draw.shape(2, 4));
    int axis = draw.from(1, cache.rank() - 1);
    return OpSample.of(
        new Structured.CacheUpdate(axis, draw.flag()),
        cache,
        cache.with(cache.shape().with(axis, draw.dim())),
        new TensorType(ElementType.I64, Shape.of(cache.dim(0))));
  }
}
