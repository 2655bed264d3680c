package io.partita.ir.factor;

import io.partita.ir.eval.Shards;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * A device's part of an operation whose factors are split: mostly the same operation with
 * attributes for local shapes, sometimes several operations.
 */
public final class LocalForm {
  private final GraphBuilder builder;
  private final FactorSplits splits;
  private final List<TensorType> operandTypes;
  private final List<TensorType> resultTypes;
  private final int device;
  private final List<Value> operands;

  private LocalForm(
      GraphBuilder builder,
      Op op,
      FactorSplits splits,
      List<TensorType> operandTypes,
      int device,
      List<Value> operands) {
    this.builder = builder;
    this.splits = splits;
    this.operandTypes = operandTypes;
    this.resultTypes = op.resultTypes(operandTypes);
    this.device = device;
    this.operands = operands;
  }

  /**
   * Adds the device's share of {@code op} to {@code builder}.
   *
   * @param operandTypes the types of the whole operands
   * @param operands the parts that the device holds, as defined by {@link FactorSplits#operand}
   * @return the device's parts of the results, as defined by {@link FactorSplits#result}, with the
   *     partial axes of reduced factors
   */
  public static List<Value> add(
      GraphBuilder builder,
      Op op,
      FactorSplits splits,
      List<TensorType> operandTypes,
      int device,
      List<Value> operands) {
    return new LocalForm(builder, op, splits, operandTypes, device, operands).add(op);
  }

  private List<Value> add(Op op) {
    List<TensorType> local = new ArrayList<>();
    for (int i = 0; i < resultTypes.size(); i++) {
      local.add(splits.result(i).localType(resultTypes.get(i), device));
    }
    // An empty part needs no operands, some of which may be too small to be valid.
    if (!splits.all().isEmpty() && local.stream().allMatch(type -> type.shape().elements() == 0)) {
      return local.stream().map(type -> builder.constant(Tensor.filled(type, 0))).toList();
    }
    return results(op, local.getFirst().shape());
  }

  private List<Value> results(Op op, Shape local) {
    return switch (op) {
      case Source.Constant(Tensor data) ->
          List.of(builder.constant(Shards.part(data, splits.result(0), device)));
      case Source.Iota iota -> List.of(iota(iota, local));
      case Source.Extent extent -> same(extent);
      case Elementwise elementwise -> same(elementwise);
      case Movement movement -> movement(movement, local);
      case Reduction.Reduce reduce -> reduce(reduce);
      case Reduction.ArgReduce arg -> same(arg);
      case Reduction.Cumulative cumulative -> same(cumulative);
      case Reduction.TopK top -> same(top);
      case Reduction.Softmax softmax -> same(softmax);
      case Contraction.MatMul product -> same(product);
      case Contraction.Einsum einsum -> same(einsum);
      case Contraction.Convolution(var window, var groups, var bias, var result) ->
          same(new Contraction.Convolution(window, localGroups(groups), bias, result));
      case Contraction.TransposedConvolution(var window, var groups, var bias) ->
          same(new Contraction.TransposedConvolution(window, localGroups(groups), bias));
      case Contraction.Pool pool -> same(pool);
      case Contraction.NibbleMatMul product -> same(product);
      case Contraction.NearestCentroid nearest ->
          same(new Contraction.NearestCentroid(local.fromEnd(0).value()));
      case Structured structured -> structured(structured);
      case Quantized quantized -> same(quantized);
      case IntegerNetwork integer -> same(integer);
      case Communication.Variation variation ->
          List.of(VariationFactors.local(builder, variation, splits, device, operands));
      case Communication.Gate gate -> same(gate);
      case Communication exchange -> throw new IllegalArgumentException(exchange.mnemonic());
    };
  }

  private List<Value> same(Op op) {
    return builder.addNode(op, operands).results();
  }

  private Value iota(Source.Iota iota, Shape local) {
    Value count = builder.add(new Source.Iota(local.dim(0), iota.element()));
    long from = splits.result(0).from(device, 0);
    return from == 0
        ? count
        : builder.add(
            new Elementwise.Binary(BinaryFunction.ADD), count, scalar(iota.element(), from));
  }

  private Value scalar(ElementType element, long value) {
    return builder.constant(Tensor.ofLongs(TensorType.scalar(element), new long[] {value}));
  }

  private List<Value> movement(Movement op, Shape local) {
    return switch (op) {
      case Movement.Reshape reshape -> same(new Movement.Reshape(local));
      case Movement.Transpose transpose -> same(transpose);
      case Movement.Broadcast broadcast -> same(new Movement.Broadcast(local));
      case Movement.Slice slice -> same(slice(slice, local));
      case Movement.Concat concat -> same(concat);
      case Movement.Pad pad -> same(pad);
      case Movement.Gather gather -> List.of(gather(gather, gather.axis()));
      case Movement.GatherElements gather -> same(gather);
      case Movement.GatherNd gather -> same(gather);
      case Movement.ScatterElements scatter -> same(scatter);
      case Movement.ScatterNd scatter -> same(scatter);
    };
  }

  private Movement.Slice slice(Movement.Slice op, Shape local) {
    Layout result = splits.result(0);
    List<Dim> starts = new ArrayList<>();
    for (int dim = 0; dim < local.rank(); dim++) {
      boolean all = MovementFactors.takesAll(op, operandTypes.getFirst(), dim);
      long skipped = all ? 0 : result.from(device, dim) * op.steps().get(dim);
      starts.add(op.starts().get(dim).plus(skipped));
    }
    return new Movement.Slice(starts, local.dims(), op.steps());
  }

  /** Computes a mean over a part as a sum divided by the total number. */
  private List<Value> reduce(Reduction.Reduce op) {
    if (op.reduction() != ReductionKind.MEAN || splits.reductions().isEmpty()) {
      return same(op);
    }
    Value sum =
        builder.add(new Reduction.Reduce(ReductionKind.SUM, op.axes(), op.keepDims()), operands);
    TensorType x = operandTypes.getFirst();
    long count =
        op.axes().stream().mapToLong(axis -> x.dim(axis).value()).reduce(1, (a, b) -> a * b);
    return List.of(
        builder.add(
            new Elementwise.Binary(BinaryFunction.DIV),
            sum,
            builder.constant(Tensor.scalar(x.element(), count))));
  }

  /** The groups are the major factor of the outer dimension of the weight, or all in one part. */
  private long localGroups(long groups) {
    int factor = groupFactor(groups);
    if (factor < 0 || splits.of(factor).isNone()) {
      return groups;
    }
    var split = splits.of(factor);
    return split.size(splits.mesh().part(device, split.axes()));
  }

  private int groupFactor(long groups) {
    List<Integer> channels = splits.rule().results().getFirst().get(1);
    return groups == 1 ? -1 : channels.getFirst();
  }

  private List<Value> structured(Structured op) {
    return switch (op) {
      case Structured.Linear linear -> same(linear);
      case Structured.Norm norm -> same(norm);
      case Structured.Attention attention -> List.of(attention(attention));
      case Structured.RotaryEmbedding rotary -> same(rotary);
      case Structured.Ffn ffn -> same(ffn);
      case Structured.Embedding embedding -> List.of(gather(embedding, 0));
      case Structured.PatchEmbedding patches -> same(patches);
      case Structured.CacheUpdate update -> same(update);
    };
  }

  /** Shifts the positions of the queries of a part. */
  private Value attention(Structured.Attention a) {
    long from = splits.operand(0).from(device, 2);
    if (!a.keyLength()) {
      return builder.add(a.withOffset(a.offset().plus(from)), operands);
    }
    long after =
        operandTypes.getFirst().dim(2).value() - from - operands.getFirst().type().dim(2).value();
    if (after == 0 || !a.causal()) {
      return builder.add(a, operands);
    }
    List<Value> shorter = new ArrayList<>(operands);
    shorter.set(
        shorter.size() - 1,
        binary(BinaryFunction.SUB, shorter.getLast(), scalar(ElementType.I64, after)));
    return builder.add(a, shorter);
  }

  /** With split rows, gives the rows that the device has, and zeros for others. */
  private Value gather(Op op, int axis) {
    if (splits.operand(0).splits().get(axis).isNone()) {
      return builder.add(op, operands);
    }
    Value data = operands.get(0);
    Value indices = operands.get(1);
    ElementType index = indices.type().element();
    Value zero = builder.constant(Tensor.filled(TensorType.scalar(data.type().element()), 0));
    long from = splits.operand(0).from(device, axis);
    long rows = data.type().dim(axis).value();
    if (rows == 0) {
      Shape shape = splits.result(0).localType(resultTypes.getFirst(), device).shape();
      return builder.add(new Movement.Broadcast(shape), zero);
    }
    long all = operandTypes.getFirst().dim(axis).value();
    Value negative = binary(BinaryFunction.LESS, indices, scalar(index, 0));
    Value wrapped = binary(BinaryFunction.ADD, indices, scalar(index, all));
    Value counted = builder.add(new Elementwise.Select(), negative, wrapped, indices);
    Value local = binary(BinaryFunction.SUB, counted, scalar(index, from));
    Value inside =
        binary(
            BinaryFunction.AND,
            binary(BinaryFunction.GREATER_OR_EQUAL, local, scalar(index, 0)),
            binary(BinaryFunction.LESS, local, scalar(index, rows)));
    Value safe = builder.add(new Elementwise.Select(), inside, local, scalar(index, 0));
    Value found = builder.add(op, data, safe);
    List<Dim> dims = new ArrayList<>(indices.type().shape().dims());
    for (int dim = axis + 1; dim < data.type().rank(); dim++) {
      dims.add(Dim.ONE);
    }
    Value aligned = builder.add(new Movement.Reshape(new Shape(dims)), inside);
    return builder.add(new Elementwise.Select(), aligned, found, zero);
  }

  private Value binary(BinaryFunction function, Value left, Value right) {
    return builder.add(new Elementwise.Binary(function), left, right);
  }
}
