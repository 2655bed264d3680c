package io.partita.passes.schedule.lower;

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

/** Selects the lowering of an operation. */
public final class Lowerings {
  private Lowerings() {}

  /**
   * @param operands the operands of the group in the home memory
   * @param results the results of the group
   * @param isPaged whether the working memory has pages of rows and columns, so that the last
   *     dimension of functions of elements stays a dimension of its own
   * @return the space; empty if the runtime has no kernel
   */
  public static Optional<TileSpace> lower(
      Group group, List<TensorView> operands, List<TensorView> results, boolean isPaged) {
    return group.main().size() > 1
        ? ProductGroupLowering.lower(group, operands, results.getFirst())
        : lower(group.first().op(), operands, results, TileEpilogues.of(group, operands), isPaged);
  }

  /** Does the same for one operation. */
  public static Optional<TileSpace> lower(
      Op op, List<TensorView> operands, List<TensorView> results, boolean isPaged) {
    return lower(op, operands, results, TileEpilogues.NONE, isPaged);
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
          AttentionLowering.lower(attention, operands, results.getFirst());
      case Structured.RotaryEmbedding(var interleaved) ->
          RotaryLowering.lower(interleaved, operands, results.getFirst());
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
