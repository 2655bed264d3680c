package io.partita.passes.schedule.view;

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
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Says which operations are views: they only reorder the elements of their operand. */
public final class ViewRules {
  private ViewRules() {}

  /**
   * Returns the storage of the result in the operand's region.
   *
   * @param result the type in which the result is stored
   * @return none for an operation that needs a loop
   */
  public static Optional<Storage> view(Op op, Storage operand, TensorType result) {
    return switch (op) {
      case Movement movement -> movement(movement, operand, result).filter(Storage::isRegular);
      case Communication communication -> Optional.empty();
      case Contraction contraction -> Optional.empty();
      case Elementwise.Cast cast when isSameBits(operand.element(), result.element()) ->
          Optional.of(operand.as(result.element()));
      case Elementwise elementwise -> Optional.empty();
      case IntegerNetwork network -> Optional.empty();
      case Quantized quantized -> Optional.empty();
      case Reduction reduction -> Optional.empty();
      case Source source -> Optional.empty();
      case Structured structured -> Optional.empty();
    };
  }

  /**
   * Returns whether a cast reinterprets integers as another type of equal width, or does nothing.
   */
  static boolean isSameBits(ElementType from, ElementType to) {
    return from == to || from.isInteger() && to.isInteger() && from.bits() == to.bits();
  }

  private static Optional<Storage> movement(Movement movement, Storage operand, TensorType result) {
    return switch (movement) {
      case Movement.Reshape reshape -> operand.reshaped(extents(result));
      case Movement.Transpose(var permutation) -> Optional.of(operand.transposed(permutation));
      case Movement.Broadcast broadcast -> Optional.of(operand.broadcast(extents(result)));
      case Movement.Slice(var starts, var sizes, var steps)
          when steps.stream().allMatch(step -> step > 0) ->
          Optional.of(operand.sliced(numbers(starts), numbers(sizes), steps));
      case Movement.Slice backwards -> Optional.empty();
      case Movement.Concat concat -> Optional.empty();
      case Movement.Pad pad -> Optional.empty();
      case Movement.Gather gather -> Optional.empty();
      case Movement.GatherElements gather -> Optional.empty();
      case Movement.GatherNd gather -> Optional.empty();
      case Movement.ScatterElements scatter -> Optional.empty();
      case Movement.ScatterNd scatter -> Optional.empty();
    };
  }

  /**
   * Returns the storage of the operand with which the result has a given storage.
   *
   * @param operand the type in which the operand is stored
   * @return none if that takes a copy
   */
  static Optional<Storage> source(Op op, Storage result, TensorType operand) {
    Optional<Storage> source =
        switch (op) {
          case Movement.Reshape reshape -> result.reshaped(extents(operand));
          case Movement.Transpose(var permutation) -> Optional.of(result.untransposed(permutation));
          case Elementwise.Cast cast ->
              Optional.of(result).filter(each -> each.element() == operand.element());
          case Op other -> Optional.empty();
        };
    return source.filter(Storage::isWritable);
  }

  static List<Long> extents(TensorType type) {
    return Arrays.stream(type.shape().extents()).boxed().toList();
  }

  private static List<Long> numbers(List<Dim> dims) {
    return dims.stream().map(Dim::value).toList();
  }
}
