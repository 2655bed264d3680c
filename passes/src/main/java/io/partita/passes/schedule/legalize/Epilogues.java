package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/**
 * Functions that can follow another computation in its loop, on each finished tile: norms of whole
 * rows, elementwise functions, and conversions: of 32-bit sums to floats, after which they are
 * functions of floats, of floats to bytes by quantization with one scale, of integers by
 * requantization, of bytes by a table, and of bytes to wider integers.
 */
public final class Epilogues {

  private Epilogues() {}

  /**
   * Returns the kernel of a function of the values before it and possibly of other operands.
   *
   * @return the kernel; empty if there is none, or if the result has the same bits as the operand
   */
  public static Optional<Kernel> kernel(Node node) {
    ElementType element = node.operand(0).type().element();
    return switch (node.op()) {
      case Elementwise.Cast(var to) when isConversion(element, to) ->
          KernelTable.find("cast_" + element + "_" + to);
      case Elementwise.Unary(var function) ->
          KernelTable.find(function.text() + "_" + element).filter(Kernel::isEpilogue);
      case Elementwise.Binary(var function) ->
          KernelTable.find(function.text() + "_" + element).filter(Kernel::isEpilogue);
      case Requantize requantize ->
          KernelTable.find("requantize_" + element + "_" + requantize.to());
      case IntegerNetwork.Lookup lookup ->
          KernelTable.find("lookup_" + element + "_" + node.result().type().element());
      case Quantized.Quantize quantize when quantize.to().isByte() ->
          KernelTable.find("quantize_" + element + "_" + quantize.to());
      case Structured.Norm norm -> KernelTable.find(norm.mnemonic() + "_" + element);
      case IntegerNetwork.IntegerNorm norm -> KernelTable.find(norm.mnemonic() + "_" + element);
      case null, default -> Optional.empty();
    };
  }

  private static boolean isConversion(ElementType from, ElementType to) {
    boolean isOfSums = from == ElementType.I32 && to == ElementType.F32;
    boolean isOfBytes = from.isByte() && to == ElementType.I32;
    return isOfSums || isOfBytes;
  }

  /** Whether the bits of integers only get another type. */
  static boolean isView(Node node) {
    return node.op() instanceof Elementwise.Cast(var to)
        && to.isByte()
        && node.operand(0).type().element().isByte();
  }

  /** Whether it can be the first of several functions in a loop, on the tiles of its operands. */
  static boolean isHead(Node node) {
    boolean isFunction =
        switch (node.op()) {
          case Elementwise.Unary unary -> true;
          case Elementwise.Binary binary -> true;
          case Elementwise.Cast(var to) -> to == ElementType.F32;
          case Requantize requantize -> true;
          case IntegerNetwork.Lookup lookup -> true;
          case null, default -> false;
        };
    return isFunction && kernel(node).isPresent() || isOfRows(node);
  }

  private static boolean isOfRows(Node node) {
    return switch (node.op()) {
      case IntegerNetwork.IntegerNorm norm -> true;
      case IntegerNetwork.IntegerSoftmax softmax -> true;
      case IntegerNetwork.PowerSoftmax softmax -> true;
      case Structured.Norm norm -> isNorm(node);
      case Structured.RotaryEmbedding rotary -> node.result().type().element() == ElementType.F32;
      case Structured.Attention attention -> attention.isInteger();
      case null, default -> false;
    };
  }

  /** Whether it is a norm of rows along the last dimension. */
  static boolean isNorm(Node node) {
    return switch (node.op()) {
      case Structured.Norm norm ->
          node.result().type().element() == ElementType.F32
              && norm.axis() == node.result().type().rank() - 1;
      case IntegerNetwork.IntegerNorm norm -> true;
      case null, default -> false;
    };
  }

  /**
   * Whether it is a norm that can follow what computes {@code values}, in tiles of whole rows. Its
   * parameters are as long as a row, and other values.
   */
  static boolean isNormOf(Node node, Value values) {
    List<Value> vectors = node.operands().subList(1, node.operands().size());
    return isNorm(node)
        && node.operand(0) == values
        && !vectors.contains(values)
        && values.type().rank() <= KernelStruct.AXES
        && areAll(vectors, values.type().element().isFloat() ? ElementType.F32 : ElementType.I32)
        && vectors.stream().allMatch(vector -> isAlongRow(vector, values));
  }

  /** Whether a value has an element for each of the last dimension of others, and no more. */
  static boolean isAlongRow(Value vector, Value values) {
    return vector.type().rank() > 0
        && vector.type().shape().fromEnd(0).equals(values.type().shape().fromEnd(0))
        && vector.type().shape().elements() == values.type().shape().fromEnd(0).value();
  }

  /**
   * Whether it computes each element of its result from that of {@code values} at the same
   * position.
   */
  public static boolean isEpilogue(Node node, Value values) {
    if (node.results().size() != 1) {
      return false;
    }
    ElementType element = values.type().element();
    boolean fits =
        switch (node.op()) {
          case Elementwise.Cast cast -> true;
          case Requantize requantize ->
              node.operand(0) == values && areAll(node.operands().subList(1, 3), ElementType.I32);
          case IntegerNetwork.Lookup lookup -> node.operand(0) == values;
          case Quantized.Quantize quantize -> node.operand(0) == values && hasOneScale(node);
          case Structured structured -> false;
          case IntegerNetwork network -> false;
          case Op other ->
              node.result().type().element() == element && areAll(node.operands(), element);
        };
    return (kernel(node).isPresent() || isView(node))
        && fits
        && node.result().type().shape().equals(values.type().shape())
        && values.type().rank() > 0
        && values.type().rank() <= KernelStruct.AXES;
  }

  private static boolean areAll(List<Value> values, ElementType element) {
    return values.stream().allMatch(value -> value.type().element() == element);
  }

  private static boolean hasOneScale(Node quantize) {
    Value scale = quantize.operand(1);
    return scale.type().rank() == 0 && scale.type().element() == ElementType.F32;
  }
}
