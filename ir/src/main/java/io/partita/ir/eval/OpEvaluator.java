package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Exit;
import io.partita.ir.op.Codec;
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
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;

/** The reference meaning of each operation. */
public final class OpEvaluator {
  /** Computes the operations of codecs at once. */
  public static final Codec.Builder<Tensor> AT_ONCE =
      (op, operands) -> evaluate(op, operands).getFirst();

  private OpEvaluator() {}

  /**
   * Computes the results of {@code op} for operands of valid types and static shapes. Results are
   * deterministic bit for bit, regardless of the number of cores.
   *
   * @throws TypeMismatch if the types of operands don't fit
   * @throws PartitaException with an {@link EvaluationCode} if an index in an operand is out of
   *     range, a dimension isn't bound or a result is too large
   */
  public static List<Tensor> evaluate(Op op, List<Tensor> operands) {
    List<TensorType> types = op.resultTypes(operands.stream().map(Tensor::type).toList());
    types.forEach(type -> Bound.verify(type, op.mnemonic()));
    TensorType type = types.getFirst();
    return switch (op) {
      case Reduction.TopK top -> ReductionKernels.topK(top, operands.getFirst(), types);
      case Contraction.Pool pool -> ConvolutionKernels.pool(pool, operands.getFirst(), types);
      case Source source -> List.of(source(source, type));
      case Elementwise elementwise -> List.of(elementwise(elementwise, operands, type));
      case Movement movement -> List.of(movement(movement, operands, type));
      case Reduction reduction -> List.of(reduction(reduction, operands.getFirst(), type));
      case Contraction contraction -> List.of(contraction(contraction, operands, type));
      case Structured structured -> List.of(structured(structured, operands, type));
      case Quantized quantized -> List.of(quantized(quantized, operands, type));
      case IntegerNetwork network ->
          List.of(IntegerNetworkKernels.evaluate(network, operands, type));
      // The whole value is independent of the layout.
      case Communication.Relayout change -> operands;
      case Communication.Localize localize -> operands;
      // Whole values have no places: they continue with the first operand, and skip nothing.
      case Communication.Fork fork -> List.of(operands.getFirst());
      case Communication.Gate gate -> List.of(operands.getFirst());
      case Communication.Overlay overlay -> List.of(operands.getLast());
      case Communication.Settle(var axis, Exit.Stack stack) ->
          List.of(MovementKernels.broadcast(operands.getFirst(), type));
      case Communication.Settle settle -> List.of(operands.getFirst());
      case Communication.Exchange exchange ->
          throw new IllegalArgumentException("an exchange isn't computed by one device");
    };
  }

  private static Tensor source(Source source, TensorType type) {
    return switch (source) {
      case Source.Constant(Tensor data) -> data;
      case Source.Extent extent ->
          Tensor.ofLongs(type, new long[] {Bound.value(extent.size(), extent.mnemonic())});
      case Source.Iota iota -> iota(type);
    };
  }

  private static Tensor iota(TensorType type) {
    long[] values = new long[Math.toIntExact(type.shape().elements())];
    java.util.Arrays.setAll(values, i -> i);
    return Tensor.ofLongs(type, values);
  }

  private static Tensor elementwise(Elementwise op, List<Tensor> operands, TensorType type) {
    Tensor first = operands.getFirst();
    return switch (op) {
      case Elementwise.Unary unary -> ElementwiseKernels.unary(unary.function(), first, type);
      case Elementwise.Binary binary ->
          ElementwiseKernels.binary(binary.function(), first, operands.get(1), type);
      case Elementwise.Select select ->
          ElementwiseKernels.select(first, operands.get(1), operands.get(2), type);
      case Elementwise.Cast cast -> ElementwiseKernels.cast(first, type);
    };
  }

  private static Tensor movement(Movement op, List<Tensor> operands, TensorType type) {
    Tensor first = operands.getFirst();
    return switch (op) {
      case Movement.Reshape reshape -> first.reshaped(type.shape());
      case Movement.Transpose transpose ->
          MovementKernels.transpose(first, transpose.permutation(), type);
      case Movement.Broadcast broadcast -> MovementKernels.broadcast(first, type);
      case Movement.Slice slice -> MovementKernels.slice(slice, first, type);
      case Movement.Concat concat -> MovementKernels.concat(operands, concat.axis(), type);
      case Movement.Pad pad -> MovementKernels.pad(pad, operands, type);
      case Movement.Gather gather ->
          MovementKernels.gather(first, operands.get(1), gather.axis(), type, gather.mnemonic());
      case Movement.GatherElements gather ->
          MovementKernels.gatherElements(first, operands.get(1), gather.axis(), type);
      case Movement.GatherNd gather ->
          MovementKernels.gatherNd(first, operands.get(1), gather.batchDims(), type);
      case Movement.ScatterElements(int axis, Combine reduction) ->
          ScatterKernels.elements(reduction, axis, first, operands.get(1), operands.get(2));
      case Movement.ScatterNd(Combine reduction) ->
          ScatterKernels.slices(reduction, first, operands.get(1), operands.get(2));
    };
  }

  private static Tensor reduction(Reduction op, Tensor x, TensorType type) {
    return switch (op) {
      case Reduction.Reduce reduce -> ReductionKernels.reduce(reduce, x, type);
      case Reduction.ArgReduce arg -> ReductionKernels.argReduce(arg, x, type);
      case Reduction.Cumulative cumulative -> ReductionKernels.cumulative(cumulative, x);
      case Reduction.Softmax softmax -> ReductionKernels.softmax(softmax, x);
      case Reduction.TopK top -> throw severalResults(top);
    };
  }

  private static Tensor contraction(Contraction op, List<Tensor> operands, TensorType type) {
    return switch (op) {
      case Contraction.MatMul product ->
          MatrixKernels.matMul(operands.get(0), operands.get(1), type);
      case Contraction.Einsum einsum -> EinsumKernels.einsum(einsum, operands, type);
      case Contraction.Convolution convolution ->
          ConvolutionKernels.convolution(convolution, operands, type);
      case Contraction.TransposedConvolution convolution ->
          ConvolutionKernels.transposed(convolution, operands, type);
      case Contraction.Pool pool -> throw severalResults(pool);
      case Contraction.NibbleMatMul product -> NibbleMatMulKernel.evaluate(operands, type);
      case Contraction.NearestCentroid nearest ->
          NearestCentroidKernel.evaluate(
              Math.toIntExact(nearest.groups()), operands.get(0), operands.get(1), type);
    };
  }

  private static AssertionError severalResults(Op op) {
    return new AssertionError(op.mnemonic() + " has more than one result");
  }

  private static Tensor structured(Structured op, List<Tensor> operands, TensorType type) {
    Tensor first = operands.getFirst();
    return switch (op) {
      case Structured.Linear linear ->
          MatrixKernels.linear(first, operands.subList(1, operands.size()), linear.transposed());
      case Structured.Norm norm -> NormKernels.norm(norm, operands);
      case Structured.Attention attention when attention.isInteger() ->
          IntegerAttentionKernel.attention(attention, operands, type);
      case Structured.Attention attention -> AttentionKernels.attention(attention, operands, type);
      case Structured.RotaryEmbedding rotary ->
          AttentionKernels.rotary(rotary.interleaved(), first, operands.get(1), operands.get(2));
      case Structured.Ffn ffn -> MatrixKernels.ffn(ffn, operands);
      case Structured.Embedding embedding ->
          MovementKernels.gather(first, operands.get(1), 0, type, embedding.mnemonic());
      case Structured.PatchEmbedding patches -> MatrixKernels.patchEmbedding(operands, type);
      case Structured.CacheUpdate(int axis, boolean circular) ->
          ScatterKernels.cacheUpdate(first, operands.get(1), operands.get(2), axis, circular);
    };
  }

  private static Tensor quantized(Quantized op, List<Tensor> operands, TensorType type) {
    return switch (op) {
      case Quantized.Quantize quantize ->
          QuantizationKernels.quantize(
              quantize, operands.get(0), operands.get(1), operands.get(2), type);
      case Quantized.Dequantize dequantize ->
          QuantizationKernels.dequantize(
              dequantize, operands.get(0), operands.get(1), operands.get(2), type);
    };
  }
}
