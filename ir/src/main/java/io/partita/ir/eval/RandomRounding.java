package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
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
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Computes a graph as another correct implementation might. Values that implementations round
 * differently are perturbed at random by up to one unit in the last place: operands and results of
 * sums and of functions such as {@code exp}, and inputs of quantisation, so that a number between
 * two levels is rounded to either. Results of IEEE operations (the sum of two numbers, products,
 * quotients, square roots) are equal in all implementations and not perturbed, nor are integral
 * values: masks and counts are exact.
 *
 * <p>This is Monte Carlo arithmetic (D. S. Parker, "Monte Carlo Arithmetic", UCLA CSD-970002,
 * 1997): the spread of several runs shows the effect of rounding on the results.
 */
public final class RandomRounding {
  private final SplittableRandom random;

  private RandomRounding(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /**
   * Returns the outputs of a graph, in order; deterministic for a seed.
   *
   * @param inputs the tensor of each input of the graph, in order and of exactly its type
   * @throws io.partita.ir.diagnostic.PartitaException as {@link Evaluator#run(Graph, List)}
   */
  public static List<Tensor> run(Graph graph, List<Tensor> inputs, long seed) {
    RandomRounding rounding = new RandomRounding(seed);
    return Evaluator.runWith(graph, inputs, rounding::results);
  }

  private List<Tensor> results(Node node, List<Tensor> operands) {
    return switch (freedom(node.op())) {
      case NONE -> Evaluator.run(node, operands);
      case OPERAND -> {
        List<Tensor> first = new ArrayList<>(operands);
        first.set(0, rounded(operands.getFirst()));
        yield Evaluator.run(node, first);
      }
      case OPERANDS_AND_RESULTS ->
          Evaluator.run(node, operands.stream().map(this::rounded).toList()).stream()
              .map(this::rounded)
              .toList();
    };
  }

  /** The parts of an operation that implementations may round differently. */
  private enum Freedom {
    NONE,
    OPERAND,
    OPERANDS_AND_RESULTS
  }

  private static Freedom freedom(Op op) {
    boolean isFree =
        switch (op) {
          case Contraction.Pool pool -> !pool.largest();
          case Contraction.NibbleMatMul product -> false;
          case Contraction.NearestCentroid nearest -> false;
          case Contraction sum -> true;
          case Reduction.Reduce reduce ->
              switch (reduce.reduction()) {
                case SUM, MEAN, PRODUCT -> true;
                case MAX, MIN -> false;
              };
          case Reduction.Cumulative sum -> true;
          case Reduction.Softmax softmax -> true;
          case Reduction.ArgReduce arg -> false;
          case Reduction.TopK top -> false;
          case Structured.Embedding embedding -> false;
          case Structured.CacheUpdate update -> false;
          case Structured several -> true;
          case Elementwise.Unary unary -> unary.function().isApproximated();
          case Elementwise.Binary binary -> binary.function() == BinaryFunction.POW;
          case Elementwise.Select select -> false;
          case Elementwise.Cast cast -> false;
          case Quantized quantized -> false;
          case Movement movement -> false;
          case Source source -> false;
          case IntegerNetwork integer -> false;
          case Communication communication -> false;
        };
    if (op instanceof Quantized.Quantize) {
      return Freedom.OPERAND;
    }
    return isFree ? Freedom.OPERANDS_AND_RESULTS : Freedom.NONE;
  }

  private Tensor rounded(Tensor tensor) {
    if (!tensor.element().isFloat()) {
      return tensor;
    }
    double unit = unit(tensor.element());
    double[] values = tensor.doubles().clone();
    for (int i = 0; i < values.length; i++) {
      double value = values[i];
      if (Double.isFinite(value) && value != Math.rint(value)) {
        values[i] = value + value * unit * random.nextDouble(-1, 1);
      }
    }
    return Tensor.ofDoubles(tensor.type(), values);
  }

  /** One unit in the last place of 1. */
  private static double unit(ElementType element) {
    return switch (element) {
      case F64 -> 0x1p-52;
      case F32 -> 0x1p-23;
      case F16 -> 0x1p-10;
      case BF16 -> 0x1p-7;
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 0;
    };
  }
}
