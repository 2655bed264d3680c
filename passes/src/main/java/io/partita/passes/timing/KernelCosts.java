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

/** Estimates the cost of operations from the static types of one device. */
public final class KernelCosts {
  private KernelCosts() {}

  /**
   * Returns the cost of a node. Operands that constants define are weights.
   *
   * @throws PartitaException when sizes overflow
   */
  public static KernelCost of(Node node) {
    return of(
        node.op(),
        node.operands().stream().map(Value::type).toList(),
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
    try {
      return new KernelCost(
          KernelWorks.of(op, operands, results),
          read(op, operands, results, isWeight, true),
          read(op, operands, results, isWeight, false),
          written(op, operands, results));
    } catch (ArithmeticException e) {
      throw new PartitaException(
          CostCode.TOO_LARGE,
          op.mnemonic(),
          "sizes that a 64-bit integer holds",
          results.toString(),
          "use smaller dimensions");
    }
  }

  private static long read(
      Op op,
      List<TensorType> operands,
      List<TensorType> results,
      IntPredicate isWeight,
      boolean weights) {
    long bytes = 0;
    for (int i = 0; i < operands.size(); i++) {
      if (isWeight.test(i) == weights) {
        bytes = Math.addExact(bytes, read(op, operands, results, i));
      }
    }
    return bytes;
  }

  /** Returns the bytes that are read of an operand: all, except for lookups, slices and views. */
  static long read(Op op, List<TensorType> operands, List<TensorType> results, int i) {
    long whole = operands.get(i).bytes();
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
