package io.partita.ir.factor;

import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.function.ReductionKind;
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
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/** The factor rule of every operation; a class for each family of operations states its own. */
public final class FactorRules {
  private FactorRules() {}

  /**
   * Returns the rule of {@code op} for operands of these types.
   *
   * @throws IllegalStateException if a dimension isn't bound to a number
   * @throws io.partita.ir.op.TypeMismatch if the operands don't fit
   */
  public static FactorRule of(Op op, List<TensorType> operands) {
    List<TensorType> results = op.resultTypes(operands);
    return switch (op) {
      case Source source -> source(source);
      case Elementwise elementwise ->
          ElementwiseFactors.rule(elementwise, operands, results.getFirst());
      case Movement movement -> MovementFactors.rule(movement, operands, results.getFirst());
      case Reduction reduction -> ReductionFactors.rule(reduction, operands.getFirst(), results);
      case Contraction contraction -> ContractionFactors.rule(contraction, operands, results);
      case Structured structured -> StructuredFactors.rule(structured, operands, results);
      case Quantized quantized -> quantized(quantized, operands);
      case IntegerNetwork integer -> integer(integer, operands);
      case Communication.Variation variation ->
          VariationFactors.rule(variation, operands, results.getFirst());
      case Communication.Gate gate -> VariationFactors.gate(operands.getFirst());
      case Communication exchange -> throw new IllegalArgumentException(exchange.mnemonic());
    };
  }

  /** Constants can be computed in parts at compile time. */
  private static FactorRule source(Source source) {
    Builder rule = new Builder();
    int[] dims =
        switch (source) {
          case Source.Constant(var data) -> rule.parallel(data.shape());
          case Source.Iota iota -> rule.parallel(iota.type().shape());
          case Source.Extent extent -> new int[0];
        };
    return rule.result(dims).finish(Linearity.NONE);
  }

  private static FactorRule quantized(Quantized op, List<TensorType> operands) {
    TensorType scale = operands.get(1);
    return switch (op) {
      case Quantized.Quantize q -> blocks(q.axis(), q.block(), operands.getFirst(), scale);
      case Quantized.Dequantize q -> blocks(q.axis(), q.block(), operands.getFirst(), scale);
    };
  }

  /** Splits are between blocks only; rounding is not linear. */
  private static FactorRule blocks(int axis, long block, TensorType x, TensorType scale) {
    Builder rule = new Builder();
    boolean blocked = scale.rank() > 0 && block > 0;
    List<int[]> dims = new java.util.ArrayList<>();
    List<int[]> parameters = new java.util.ArrayList<>();
    for (int dim = 0; dim < x.rank(); dim++) {
      long extent = x.dim(dim).value();
      if (blocked && dim == axis && extent % block != 0) {
        dims.add(new int[] {rule.whole(x.dim(dim))});
        parameters.add(new int[] {rule.whole(scale.dim(dim))});
      } else if (blocked && dim == axis) {
        int blocks = rule.factor(Factor.Use.PARALLEL, extent / block);
        dims.add(new int[] {blocks, rule.factor(Factor.Use.WHOLE, block)});
        parameters.add(new int[] {blocks});
      } else {
        int factor = rule.parallel(x.dim(dim));
        dims.add(new int[] {factor});
        if (blocked || scale.rank() > 0 && dim == axis) {
          parameters.add(new int[] {factor});
        }
      }
    }
    return rule.operand(dims)
        .operand(parameters)
        .operand(parameters)
        .result(dims)
        .finish(Linearity.NONE);
  }

  /** Returns a rule without linearity, because of rounding. */
  private static FactorRule integer(IntegerNetwork op, List<TensorType> operands) {
    TensorType x = operands.getFirst();
    Builder rule = new Builder();
    int[] dims = op.isElementwise() ? rule.parallel(x.shape()) : lines(rule, x);
    rule.operand(dims).result(dims);
    for (TensorType operand : operands.subList(1, operands.size())) {
      if (op instanceof IntegerNetwork.Lookup) {
        rule.operand(rule.whole(operand.dim(0)));
      } else {
        rule.broadcast(operand, dims);
      }
    }
    return rule.finish(Linearity.NONE);
  }

  /** Returns a rule that is parallel except in the last dimension. */
  private static int[] lines(Builder rule, TensorType x) {
    return along(rule, x, x.rank() - 1);
  }

  /** Returns a rule that is parallel except in the dimensions from {@code axis} on. */
  static int[] along(Builder rule, TensorType x, int axis) {
    int[] dims = new int[x.rank()];
    for (int dim = 0; dim < dims.length; dim++) {
      dims[dim] = dim < axis ? rule.parallel(x.dim(dim)) : rule.whole(x.dim(dim));
    }
    return dims;
  }

  /** Returns a linearity with one term for each operand. */
  static Linearity eachOf(int operands, Set<ReductionKind> kinds) {
    return new Linearity(
        java.util.stream.IntStream.range(0, operands).mapToObj(Set::of).toList(), kinds);
  }
}
