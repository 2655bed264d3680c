package io.partita.ir.factor;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Operations of static shape, with values for their operands. */
public final class SampleValues {
  private static final int MAX_TRIES = 2000;

  private SampleValues() {}

  public static OpSample draw(Class<? extends Op> kind, Draw draw) {
    for (int i = 0; i < MAX_TRIES; i++) {
      OpSample sample = OpSamples.draw(kind, draw);
      Op op = bounded(sample.op(), draw);
      if (isStatic(op, sample.operands())) {
        return new OpSample(op, sample.operands());
      }
    }
    throw new AssertionError("no static sample of " + kind);
  }

  private static boolean isStatic(Op op, List<TensorType> operands) {
    try {
      return operands.stream().allMatch(TensorType::isStatic)
          && op.resultTypes(operands).stream().allMatch(TensorType::isStatic);
    } catch (TypeMismatch mismatch) {
      return false;
    }
  }

  /** Returns attributes that keep values in a range with bounded errors. */
  private static Op bounded(Op op, Draw draw) {
    return switch (op) {
      case Structured.Attention a ->
          new Structured.Attention(
              0.5,
              draw.flag() ? 0 : 4,
              a.causal(),
              Dim.of(draw.from(0, 3)),
              draw.flag() ? 0 : draw.from(1, 3),
              a.mask(),
              a.keyLength());
      case Structured.Norm norm ->
          new Structured.Norm(norm.kind(), norm.axis(), 1e-5, norm.scale(), norm.bias());
      case Structured.Ffn ffn ->
          new Structured.Ffn(
              draw.one(
                  UnaryFunction.RELU, UnaryFunction.GELU, UnaryFunction.SILU, UnaryFunction.TANH),
              ffn.gated(),
              ffn.gateBias(),
              ffn.upBias(),
              ffn.downBias());
      // Drawn bits have something in the half byte after an odd number of 4-bit elements too.
      case Source.Constant(Tensor data) when data.element().bits() == 4 ->
          new Source.Constant(Tensor.ofLongs(data.type(), data.longs()));
      case Op other -> other;
    };
  }

  public static List<Tensor> operands(OpSample sample, Draw draw) {
    List<Tensor> operands = new ArrayList<>();
    for (int i = 0; i < sample.operands().size(); i++) {
      operands.add(value(sample.operands().get(i), indexBound(sample, i), draw));
    }
    return operands;
  }

  /** Returns the extent of the axis of an index operand, or -1. */
  private static long indexBound(OpSample sample, int operand) {
    TensorType data = sample.operands().isEmpty() ? null : sample.operands().getFirst();
    return switch (sample.op()) {
      case Movement.Gather gather when operand == 1 -> data.dim(gather.axis()).value();
      case Movement.GatherElements gather when operand == 1 -> data.dim(gather.axis()).value();
      case Movement.ScatterElements scatter when operand == 1 -> data.dim(scatter.axis()).value();
      case Movement.GatherNd gather when operand == 1 -> least(data);
      case Movement.ScatterNd scatter when operand == 1 -> least(data);
      case Structured.Embedding embedding when operand == 1 -> data.dim(0).value();
      case Structured.CacheUpdate update when operand == 2 -> data.dim(update.axis()).value();
      case Structured.Attention attention when attention.keyLength() && operand >= 3 ->
          sample.operands().get(1).dim(2).value() + 1;
      case Op other -> -1;
    };
  }

  private static long least(TensorType data) {
    return data.shape().dims().stream().mapToLong(Dim::value).min().orElse(1);
  }

  /** Returns floats from -1 to 1, small integers, or indices below a bound. */
  private static Tensor value(TensorType type, long bound, Draw draw) {
    int size = (int) type.shape().elements();
    if (type.element().isFloat()) {
      double[] values = new double[size];
      for (int i = 0; i < size; i++) {
        values[i] = draw.from(-1000, 1000) / 1000.0;
      }
      return Tensor.ofDoubles(type, values);
    }
    long[] values = new long[size];
    for (int i = 0; i < size; i++) {
      boolean isIndex = bound >= 0 && type.element() != ElementType.BOOL;
      values[i] = isIndex ? draw.from(0, (int) Math.max(0, bound - 1)) : draw.from(-100, 100);
      if (type.element() == ElementType.BOOL) {
        values[i] &= 1;
      }
    }
    return Tensor.ofLongs(type, values);
  }

  /** A tensor of the type for {@link Draw}n numbers. */
  public static Tensor value(TensorType type, Draw draw) {
    return value(type, -1, draw);
  }

  /** Values for all inputs of a graph, by name. */
  public static SequencedMap<String, Tensor> inputs(Graph graph, Draw draw) {
    SequencedMap<String, Tensor> values = new LinkedHashMap<>();
    graph.inputs().forEach(input -> values.put(input.name(), value(input.type(), draw)));
    return values;
  }
}
