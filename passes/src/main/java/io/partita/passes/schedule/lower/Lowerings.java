package io.partita.passes.schedule.lower;

import io.partita.ir.function.Combine;
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
import io.partita.passes.schedule.legalize.Group;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/** Selects the lowering of an operation. */
public final class Lowerings {
  private Lowerings() {}

  /**
   * @param operands the operands of the group in the home memory
   * @param results the results of the group
   * @param isPaged whether the working memory has pages of rows and columns, so that the last
   *     dimension of functions of elements stays a dimension of its own, and kernels of f32 unpack
   *     bf16 and pack results
   * @return the space; empty if the runtime has no kernel
   */
  public static Optional<TileSpace> lower(
      Group group, List<TensorView> operands, List<TensorView> results, boolean isPaged) {
    if (isPaged && isComputed(group.first().op(), operands)) {
      return unpacking(operands, results, (from, to) -> lowered(group, from, to, true));
    }
    return lowered(group, operands, results, isPaged);
  }

  private static Optional<TileSpace> lowered(
      Group group, List<TensorView> operands, List<TensorView> results, boolean isPaged) {
    return group.main().size() > 1
        ? ProductGroupLowering.lower(group, operands, results)
        : lower(
            group.first().op(),
            operands,
            results,
            TileEpilogues.of(group, operands, results),
            isPaged);
  }

  /** Does the same for one operation. */
  public static Optional<TileSpace> lower(
      Op op, List<TensorView> operands, List<TensorView> results, boolean isPaged) {
    if (isPaged && isComputed(op, operands)) {
      return unpacking(
          operands, results, (from, to) -> lower(op, from, to, TileEpilogues.NONE, true));
    }
    return lower(op, operands, results, TileEpilogues.NONE, isPaged);
  }

  /** Lowers an operation to kernels of f32 that unpack operands and pack results. */
  private static Optional<TileSpace> unpacking(
      List<TensorView> operands,
      List<TensorView> results,
      BiFunction<List<TensorView>, List<TensorView>, Optional<TileSpace>> lowering) {
    List<TensorView> stored = Stream.concat(operands.stream(), results.stream()).toList();
    return lowering
        .apply(unpacked(operands), unpacked(results))
        .map(space -> space.unpacking(stored));
  }

  private static List<TensorView> unpacked(List<TensorView> views) {
    return views.stream().map(TensorView::unpacked).toList();
  }

  /** Whether kernels compute with elements, rather than moving them or rounding them. */
  private static boolean isComputed(Op op, List<TensorView> operands) {
    return switch (op) {
      case Movement.ScatterElements(var axis, var reduction) -> reduction != Combine.REPLACE;
      case Movement.ScatterNd(var reduction) -> reduction != Combine.REPLACE;
      case Movement movement -> false;
      case Elementwise.Select select -> false;
      case Elementwise.Cast(var to) -> !to.isFloat() || !operands.getFirst().element().isFloat();
      case Structured.Embedding embedding -> false;
      case Structured.CacheUpdate update -> false;
      case Op computed -> true;
    };
  }

  private static Optional<TileSpace> lower(
      Op op,
      List<TensorView> operands,
      List<TensorView> results,
      TileEpilogues epilogues,
      boolean isPaged) {
    return switch (op) {
      case Source source -> Optional.empty();
      case Communication communication -> Optional.empty();
      case Elementwise elementwise ->
          ElementwiseLowering.lower(elementwise, operands, results, epilogues, isPaged);
      case Contraction contraction -> contraction(contraction, operands, results, epilogues);
      case Structured structured -> structured(structured, operands, results, epilogues);
      case Movement movement -> MovementLowering.lower(movement, operands, results);
      case Reduction reduction -> ReductionLowering.lower(reduction, operands, results);
      case Quantized quantized -> QuantizedLowering.lower(quantized, operands, results.getFirst());
      case IntegerNetwork network ->
          IntegerNetworkLowering.lower(network, operands, results.getFirst(), epilogues);
    };
  }

  private static Optional<TileSpace> contraction(
      Contraction op,
      List<TensorView> operands,
      List<TensorView> results,
      TileEpilogues epilogues) {
    return switch (op) {
      case Contraction.MatMul matMul ->
          matMul.result().isFloat()
              ? ProductLowering.lower(
                  operands.get(0), operands.get(1), false, null, results.getFirst(), epilogues)
              : IntegerProduct.lower(matMul, operands, results.getFirst(), epilogues);
      case Contraction.Einsum einsum -> Optional.empty();
      case Contraction.Convolution convolution ->
          ConvolutionLowering.lower(convolution, operands, results.getFirst(), epilogues);
      case Contraction.TransposedConvolution convolution -> Optional.empty();
      case Contraction.Pool pool -> PoolLowering.lower(pool, operands, results);
      case Contraction.NibbleMatMul product ->
          Optional.of(NibbleProductLowering.lower(operands, results.getFirst(), epilogues));
      case Contraction.NearestCentroid nearest ->
          Optional.of(
              NearestCentroidLowering.lower(
                  nearest, operands.get(0), operands.get(1), results.getFirst()));
    };
  }

  private static Optional<TileSpace> structured(
      Structured op, List<TensorView> operands, List<TensorView> results, TileEpilogues epilogues) {
    return switch (op) {
      case Structured.Linear(var transposed, var bias) ->
          ProductLowering.lower(
              operands.get(0),
              operands.get(1),
              transposed,
              bias ? operands.get(2) : null,
              results.getFirst(),
              epilogues);
      case Structured.Norm norm ->
          NormLowering.lower(norm, operands, results.getFirst(), epilogues);
      case Structured.Attention attention ->
          AttentionLowering.lower(attention, operands, results.getFirst(), epilogues);
      case Structured.RotaryEmbedding(var interleaved) ->
          RotaryLowering.lower(interleaved, operands, results.getFirst(), epilogues);
      case Structured.Ffn ffn -> Optional.empty();
      case Structured.Embedding embedding ->
          GatherLowering.lower(0, operands.get(0), operands.get(1), results.getFirst());
      case Structured.PatchEmbedding patches -> Optional.empty();
      case Structured.CacheUpdate(int axis, boolean circular) ->
          MovementLowering.cacheUpdate(
              axis, circular, operands.get(1), operands.get(2), results.getFirst());
    };
  }
}
