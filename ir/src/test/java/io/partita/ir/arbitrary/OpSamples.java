package io.partita.ir.arbitrary;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Draws operations of every kind. A new record of {@link Op} needs an entry here, which a test
 * checks.
 */
public final class OpSamples {
  static final Map<Class<? extends Op>, Function<Draw, OpSample>> ALL = all();

  private OpSamples() {}

  /** The records that {@link #draw} supports. */
  public static List<Class<? extends Op>> kinds() {
    return List.copyOf(ALL.keySet());
  }

  public static OpSample draw(Class<? extends Op> kind, Draw draw) {
    return ALL.get(kind).apply(draw);
  }

  private static Map<Class<? extends Op>, Function<Draw, OpSample>> all() {
    Map<Class<? extends Op>, Function<Draw, OpSample>> all = new LinkedHashMap<>();
    addSources(all);
    addElementwise(all);
    MovementSamples.addTo(all);
    addReductions(all);
    ContractionSamples.addTo(all);
    StructuredSamples.addTo(all);
    addQuantized(all);
    addIntegerNetwork(all);
    return all;
  }

  private static void addSources(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(
        Source.Constant.class,
        draw -> {
          Shape shape = draw.staticShape(draw.from(0, 3));
          return OpSample.of(
              new Source.Constant(draw.tensor(new TensorType(draw.element(), shape))));
        });
    all.put(Source.Iota.class, draw -> OpSample.of(new Source.Iota(draw.dim(), draw.numeric())));
    all.put(Source.Extent.class, draw -> OpSample.of(new Source.Extent(draw.dim())));
  }

  private static void addElementwise(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(
        Elementwise.Unary.class,
        draw -> {
          UnaryFunction function = draw.one(UnaryFunction.values());
          ElementType element =
              function == UnaryFunction.NOT
                  ? ElementType.BOOL
                  : function == UnaryFunction.BIT_NOT
                      ? draw.integer()
                      : function.acceptsIntegers() ? draw.numeric() : draw.floating();
          return OpSample.of(
              new Elementwise.Unary(function), new TensorType(element, draw.shape(0, 3)));
        });
    all.put(
        Elementwise.Binary.class,
        draw -> {
          BinaryFunction function = draw.one(BinaryFunction.values());
          ElementType element =
              function.isLogical()
                  ? ElementType.BOOL
                  : function.isBitwise() ? draw.integer() : draw.numeric();
          TensorType left = new TensorType(element, draw.shape(0, 3));
          return OpSample.of(
              new Elementwise.Binary(function), left, left.with(draw.broadcastingTo(left.shape())));
        });
    all.put(
        Elementwise.Select.class,
        draw -> {
          TensorType type = new TensorType(draw.element(), draw.shape(0, 3));
          return OpSample.of(
              new Elementwise.Select(),
              new TensorType(ElementType.BOOL, draw.broadcastingTo(type.shape())),
              type,
              type.with(draw.broadcastingTo(type.shape())));
        });
    all.put(
        Elementwise.Cast.class,
        draw ->
            OpSample.of(
                new Elementwise.Cast(draw.element()),
                new TensorType(draw.element(), draw.shape(0, 3))));
  }

  private static void addReductions(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(
        Reduction.Reduce.class,
        draw -> {
          TensorType type = new TensorType(draw.numeric(), draw.shape(0, 4));
          return OpSample.of(
              new Reduction.Reduce(
                  draw.one(ReductionKind.values()), draw.axes(type.rank()), draw.flag()),
              type);
        });
    all.put(
        Reduction.ArgReduce.class,
        draw -> {
          TensorType type = new TensorType(draw.numeric(), draw.shape(1, 4));
          return OpSample.of(
              new Reduction.ArgReduce(
                  draw.flag(), draw.from(0, type.rank() - 1), draw.flag(), draw.flag()),
              type);
        });
    all.put(
        Reduction.Cumulative.class,
        draw -> {
          TensorType type = new TensorType(draw.numeric(), draw.shape(1, 4));
          return OpSample.of(
              new Reduction.Cumulative(
                  draw.flag(), draw.from(0, type.rank() - 1), draw.flag(), draw.flag()),
              type);
        });
    all.put(
        Reduction.TopK.class,
        draw -> {
          TensorType type = new TensorType(draw.numeric(), draw.shape(1, 4));
          int axis = draw.from(0, type.rank() - 1);
          long most = type.dim(axis).isStatic() ? type.dim(axis).value() : 7;
          return OpSample.of(new Reduction.TopK(draw.from(0, (int) most), axis, draw.flag()), type);
        });
    all.put(
        Reduction.Softmax.class,
        draw -> {
          TensorType type = new TensorType(draw.floating(), draw.shape(1, 4));
          return OpSample.of(
              new Reduction.Softmax(draw.from(0, type.rank() - 1), draw.flag()), type);
        });
  }

  private static void addQuantized(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(
        Quantized.Quantize.class,
        draw -> {
          TensorType x =
              new TensorType(draw.oneIn(4) ? ElementType.I32 : draw.floating(), draw.shape(1, 3));
          int axis = draw.from(0, x.rank() - 1);
          long block = block(draw, x, axis);
          Shape shape = parameters(draw, x, axis, block);
          ElementType to = draw.integer();
          return OpSample.of(
              new Quantized.Quantize(axis, block, to),
              x,
              new TensorType(draw.floating(), shape),
              new TensorType(to, shape));
        });
    all.put(
        Quantized.Dequantize.class,
        draw -> {
          TensorType q = new TensorType(draw.integer(), draw.shape(1, 3));
          int axis = draw.from(0, q.rank() - 1);
          long block = block(draw, q, axis);
          Shape shape = parameters(draw, q, axis, block);
          ElementType to = draw.floating();
          return OpSample.of(
              new Quantized.Dequantize(axis, block, to),
              q,
              new TensorType(draw.floating(), shape),
              q.with(shape));
        });
  }

  private static void addIntegerNetwork(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(
        IntegerNetwork.Requantize.class,
        draw -> {
          TensorType x = new TensorType(draw.integer(), draw.shape(0, 3));
          return OpSample.of(
              new IntegerNetwork.Requantize(
                  draw.from(0, 62), draw.from(-128, 0), Long.MAX_VALUE, draw.integer()),
              x,
              new TensorType(draw.integer(), draw.broadcastingTo(x.shape())),
              new TensorType(draw.integer(), draw.broadcastingTo(x.shape())));
        });
    all.put(
        IntegerNetwork.IntegerSoftmax.class,
        draw ->
            OpSample.of(
                new IntegerNetwork.IntegerSoftmax(
                    draw.from(-9, 9), Long.MIN_VALUE, 0, draw.from(1, 99), draw.from(2, 256)),
                new TensorType(draw.integer(), draw.shape(1, 3))));
    all.put(
        IntegerNetwork.PowerSoftmax.class,
        draw ->
            OpSample.of(
                new IntegerNetwork.PowerSoftmax(1L << draw.from(1, 31), draw.from(0, 16)),
                new TensorType(draw.integer(), draw.shape(1, 3))));
    all.put(
        IntegerNetwork.IntegerNorm.class,
        draw -> {
          Structured.NormKind kind = draw.one(Structured.NormKind.values());
          TensorType x = new TensorType(draw.integer(), draw.shape(1, 3));
          TensorType vector = x.with(Shape.of(x.shape().fromEnd(0)));
          Op op = new IntegerNetwork.IntegerNorm(kind, draw.from(0, 62), -128, draw.from(0, 127));
          return kind == Structured.NormKind.LAYER
              ? OpSample.of(op, x, vector, vector)
              : OpSample.of(op, x, vector);
        });
    all.put(
        IntegerNetwork.IntegerGelu.class,
        draw ->
            OpSample.of(
                new IntegerNetwork.IntegerGelu(-draw.from(0, 99), draw.from(0, 99)),
                new TensorType(draw.integer(), draw.shape(0, 3))));
    all.put(
        IntegerNetwork.Lookup.class,
        draw ->
            OpSample.of(
                new IntegerNetwork.Lookup(),
                new TensorType(draw.one(ElementType.I8, ElementType.U8), draw.shape(0, 3)),
                TensorType.of(draw.one(ElementType.I8, ElementType.U8, ElementType.F32), 256)));
  }

  private static long block(Draw draw, TensorType type, int axis) {
    return type.dim(axis).isStatic() && draw.flag() ? draw.from(1, 3) : 0;
  }

  private static Shape parameters(Draw draw, TensorType type, int axis, long block) {
    if (draw.oneIn(3)) {
      return Shape.SCALAR;
    }
    return block == 0
        ? Shape.of(type.dim(axis))
        : type.shape().with(axis, Dim.of(Math.ceilDiv(type.dim(axis).value(), block)));
  }
}
