package io.partita.passes.timing;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
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
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;

/** Estimates the cost of operations from the static types of one device. */
public final class KernelCosts {
  private KernelCosts() {}

  /**
   * Returns the cost of a node. Operands that constants define are weights.
   *
   * @param stored the bytes of all of each operand
   * @throws PartitaException when sizes overflow
   */
  public static KernelCost of(Node node, IntToLongFunction stored) {
    return of(
        node.op(),
        node.operands().stream().map(Value::type).toList(),
        stored,
        node.results().stream().map(Value::type).toList(),
        i ->
            !node.operand(i).isInput()
                && node.operand(i).definition().op() instanceof Source.Constant);
  }

  /**
   * @param isWeight whether an operand is known when compiling
   * @throws PartitaException when sizes overflow
   */
  public static KernelCost of(
      Op op, List<TensorType> operands, List<TensorType> results, IntPredicate isWeight) {
    return of(op, operands, i -> operands.get(i).bytes(), results, isWeight);
  }

  private static KernelCost of(
      Op op,
      List<TensorType> operands,
      IntToLongFunction stored,
      List<TensorType> results,
      IntPredicate isWeight) {
    try {
      long weights = 0;
      long others = 0;
      for (int i = 0; i < operands.size(); i++) {
        long bytes = read(op, i, stored.applyAsLong(i), results);
        if (isWeight.test(i)) {
          weights = Math.addExact(weights, bytes);
        } else {
          others = Math.addExact(others, bytes);
        }
      }
      return new KernelCost(
          KernelWorks.of(op, operands, results), weights, others, written(op, operands, results));
    } catch (ArithmeticException e) {
      throw new PartitaException(
          CostCode.TOO_LARGE,
          op.mnemonic(),
          "sizes that a 64-bit integer holds",
          results.toString(),
          "use smaller dimensions");
    }
  }

  /**
   * Returns the bytes that are read of operand i: all, except for lookups, slices and views.
   *
   * @param whole the bytes of all of it
   */
  static long read(Op op, int i, long whole, List<TensorType> results) {
    long looked = i == 0 ? Math.min(whole, results.getFirst().bytes()) : whole;
    return switch (op) {
      case Movement.Reshape reshape -> 0;
      case Movement.Slice slice -> looked;
      case Movement.Gather gather -> looked;
      case Movement.GatherElements gather -> looked;
      case Movement.GatherNd gather -> looked;
      case Structured.Embedding embedding -> looked;
      // The cache is changed where it is.
      case Structured.CacheUpdate update -> i == 0 ? 0 : whole;
      case Movement movement -> whole;
      case Structured structured -> whole;
      case Contraction contraction -> whole;
      case Elementwise elementwise -> whole;
      case IntegerNetwork network -> whole;
      case Communication exchange -> 0;
      case Quantized quantized -> whole;
      case Reduction reduction -> whole;
      case Source source -> 0;
    };
  }

  static long written(Op op, List<TensorType> operands, List<TensorType> results) {
    return switch (op) {
      case Movement.Reshape reshape -> 0;
      case Source.Constant constant -> 0;
      case Structured.CacheUpdate update -> operands.get(1).bytes();
      case Movement movement -> bytes(results);
      case Structured structured -> bytes(results);
      case Contraction contraction -> bytes(results);
      case Elementwise elementwise -> bytes(results);
      case IntegerNetwork network -> bytes(results);
      case Communication exchange -> 0;
      case Quantized quantized -> bytes(results);
      case Reduction reduction -> bytes(results);
      case Source source -> bytes(results);
    };
  }

  private static long bytes(List<TensorType> types) {
    return types.stream().mapToLong(TensorType::bytes).sum();
  }
}
