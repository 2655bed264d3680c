package io.partita.passes.timing;

import static io.partita.passes.timing.KernelWork.elements;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
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
import io.partita.ir.schedule.kernel.FunctionClasses;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds the kernels that an operation runs, and their work. */
public final class KernelWorks {
  private KernelWorks() {}

  public static List<KernelWork> of(Op op, List<TensorType> operands, List<TensorType> results) {
    return switch (op) {
      case Source source -> List.of();
      case Communication exchange -> List.of();
      case Elementwise elementwise -> List.of(elementwise(elementwise, operands, results));
      case Contraction contraction -> List.of(contraction(contraction, operands, results));
      case Structured structured -> structured(structured, operands, results);
      case Movement.Reshape reshape -> List.of();
      case Movement movement -> List.of(over(KernelClass.MOVEMENT, results.getFirst(), 1));
      case Quantized quantized ->
          List.of(over(KernelClass.ELEMENTWISE, wider(operands.getFirst(), results), 2));
      case Reduction reduction -> List.of(reduction(reduction, operands));
      case IntegerNetwork network -> List.of(network(network, operands));
    };
  }

  private static KernelWork over(KernelClass kernel, TensorType type, long passes) {
    return elements(kernel, type.element(), type.shape().elements(), passes);
  }

  /** Quantising computes on floats, whether they are the operand or the result. */
  private static TensorType wider(TensorType operand, List<TensorType> results) {
    TensorType result = results.getFirst();
    return result.element().bits() > operand.element().bits() ? result : operand;
  }

  private static KernelWork elementwise(
      Elementwise op, List<TensorType> operands, List<TensorType> results) {
    TensorType type = operands.getLast().with(results.getFirst().shape());
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) -> over(FunctionClasses.of(function), type, 1);
      case Elementwise.Binary(BinaryFunction function) ->
          over(FunctionClasses.of(function), type, 1);
      case Elementwise.Select select -> over(KernelClass.ELEMENTWISE, type, 1);
      case Elementwise.Cast cast -> over(KernelClass.ELEMENTWISE, type, 1);
    };
  }

  private static KernelWork contraction(
      Contraction op, List<TensorType> operands, List<TensorType> results) {
    TensorType x = operands.getFirst();
    TensorType result = results.getFirst();
    long size = result.shape().elements();
    return switch (op) {
      case Contraction.MatMul matMul -> {
        int rank = result.rank();
        long rows = result.shape().extent(rank - 2);
        long columns = result.shape().extent(rank - 1);
        long batch = result.shape().range(0, rank - 2).elements();
        yield KernelWork.product(x.element(), batch, rows, columns, x.shape().fromEnd(0).value());
      }
      case Contraction.Einsum einsum ->
          KernelWork.product(x.element(), 1, size, 1, depth(einsum, operands));
      case Contraction.Convolution convolution -> {
        TensorType weight = operands.get(1);
        long filters = weight.shape().extent(0);
        yield convolution(x, size, filters, weight.shape().elements());
      }
      case Contraction.TransposedConvolution transposed -> {
        TensorType weight = operands.get(1);
        long channels = weight.shape().extent(0);
        yield convolution(x, x.shape().elements(), channels, weight.shape().elements());
      }
      case Contraction.Pool pool ->
          elements(
              KernelClass.REDUCTION,
              x.element(),
              size,
              pool.window().kernel().stream().reduce(1L, Math::multiplyExact));
      case Contraction.NibbleMatMul product -> {
        long columns = result.shape().fromEnd(0).value();
        long rows = columns == 0 ? 0 : size / columns;
        yield KernelWork.product(x.element(), 1, rows, columns, x.shape().fromEnd(0).value());
      }
      case Contraction.NearestCentroid nearest -> {
        TensorType centroids = operands.get(1);
        long groups = nearest.groups();
        long perGroup = centroids.shape().extent(0) / groups;
        long width = centroids.shape().extent(1);
        yield new KernelWork(
            KernelClass.MATVEC, x.element(), groups, size / groups, perGroup, width);
      }
    };
  }

  /** Each of {@code size} elements meets the weights of one of {@code channels}. */
  private static KernelWork convolution(TensorType x, long size, long channels, long weights) {
    long perChannel = channels == 0 ? 0 : weights / channels;
    long places = channels == 0 ? 0 : size / channels;
    return new KernelWork(KernelClass.CONVOLUTION, x.element(), 1, places, channels, perChannel);
  }

  /** The product of the extents that are summed over. */
  private static long depth(Contraction.Einsum einsum, List<TensorType> operands) {
    Map<Character, Long> summed = new HashMap<>();
    for (int i = 0; i < operands.size(); i++) {
      String letters = einsum.inputs().get(i);
      for (int axis = 0; axis < letters.length(); axis++) {
        if (einsum.output().indexOf(letters.charAt(axis)) < 0) {
          summed.put(letters.charAt(axis), operands.get(i).shape().extent(axis));
        }
      }
    }
    return summed.values().stream().reduce(1L, Math::multiplyExact);
  }

  private static List<KernelWork> structured(
      Structured op, List<TensorType> operands, List<TensorType> results) {
    TensorType x = operands.getFirst();
    TensorType result = results.getFirst();
    return switch (op) {
      case Structured.Linear linear -> linear(x, result.shape().fromEnd(0).value(), linear.bias());
      case Structured.Norm norm -> List.of(over(KernelClass.NORM, x, 1));
      case Structured.Attention attention -> attention(x, operands.get(1), result);
      case Structured.RotaryEmbedding rotary -> List.of(over(KernelClass.ELEMENTWISE, x, 3));
      case Structured.Ffn ffn -> ffn(ffn, x, operands);
      case Structured.Embedding embedding -> List.of(over(KernelClass.MOVEMENT, result, 1));
      case Structured.PatchEmbedding patches -> {
        TensorType weight = operands.get(1);
        long depth = weight.shape().range(1, 4).elements();
        long features = weight.shape().extent(0);
        long rows = features == 0 ? 0 : result.shape().elements() / features;
        yield List.of(KernelWork.product(x.element(), 1, rows, features, depth));
      }
      case Structured.CacheUpdate update -> List.of(over(KernelClass.MOVEMENT, operands.get(1), 1));
    };
  }

  private static List<KernelWork> linear(TensorType x, long features, boolean bias) {
    long depth = x.shape().fromEnd(0).value();
    long rows = x.shape().range(0, x.rank() - 1).elements();
    KernelWork product = KernelWork.product(x.element(), 1, rows, features, depth);
    return bias
        ? List.of(
            product,
            elements(KernelClass.ELEMENTWISE, x.element(), Math.multiplyExact(rows, features), 1))
        : List.of(product);
  }

  /** Every query against every key, also where a mask hides some. */
  private static List<KernelWork> attention(TensorType q, TensorType k, TensorType result) {
    ElementType element = q.element();
    long heads = Math.multiplyExact(q.shape().extent(0), q.shape().extent(1));
    long seq = q.shape().extent(2);
    long keys = k.shape().extent(2);
    long scores = Math.multiplyExact(heads, Math.multiplyExact(seq, keys));
    return List.of(
        KernelWork.product(element, heads, seq, keys, q.shape().extent(3)),
        elements(KernelClass.SOFTMAX, element, scores, 1),
        KernelWork.product(element, heads, seq, result.shape().extent(3), keys));
  }

  private static List<KernelWork> ffn(Structured.Ffn ffn, TensorType x, List<TensorType> operands) {
    long inner = operands.get(1).shape().extent(1);
    long rows = x.shape().range(0, x.rank() - 1).elements();
    long hidden = Math.multiplyExact(rows, inner);
    List<KernelWork> work = new ArrayList<>(linear(x, inner, ffn.upBias()));
    if (ffn.gated()) {
      work.addAll(linear(x, inner, ffn.gateBias()));
      work.add(elements(KernelClass.ELEMENTWISE, x.element(), hidden, 1));
    }
    work.add(elements(FunctionClasses.of(ffn.activation()), x.element(), hidden, 1));
    TensorType up = x.with(x.shape().with(x.rank() - 1, io.partita.ir.type.Dim.of(inner)));
    work.addAll(linear(up, x.shape().fromEnd(0).value(), ffn.downBias()));
    return work;
  }

  private static KernelWork reduction(Reduction op, List<TensorType> operands) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case Reduction.Reduce reduce -> over(KernelClass.REDUCTION, x, 1);
      case Reduction.ArgReduce reduce -> over(KernelClass.REDUCTION, x, 1);
      case Reduction.Cumulative cumulative -> over(KernelClass.REDUCTION, x, 1);
      // A heap of k: log2 k comparisons for each element.
      case Reduction.TopK(Dim k, int axis, boolean largest) ->
          over(KernelClass.REDUCTION, x, 64 - Long.numberOfLeadingZeros(Math.max(1, k.value())));
      case Reduction.Softmax softmax -> over(KernelClass.SOFTMAX, x, 1);
    };
  }

  private static KernelWork network(IntegerNetwork op, List<TensorType> operands) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case IntegerNetwork.Requantize requantize -> over(KernelClass.ELEMENTWISE, x, 1);
      case IntegerNetwork.IntegerSoftmax softmax -> over(KernelClass.SOFTMAX, x, 1);
      case IntegerNetwork.PowerSoftmax softmax -> over(KernelClass.SOFTMAX, x, 1);
      case IntegerNetwork.IntegerNorm norm -> over(KernelClass.NORM, x, 1);
      case IntegerNetwork.IntegerGelu gelu -> over(KernelClass.TRANSCENDENTAL, x, 1);
      case IntegerNetwork.Lookup lookup -> over(KernelClass.ELEMENTWISE, x, 1);
    };
  }
}
