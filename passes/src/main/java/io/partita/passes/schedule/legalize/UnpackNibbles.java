package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code f(i4 x) -> i4(f(i8(x)))}: packed elements are unpacked before any other kernel uses them,
 * and packed again afterwards.
 */
final class UnpackNibbles implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.either(
        Pattern.any().where(UnpackNibbles::isNibble), Pattern.someOperand(UnpackNibbles::isNibble));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Op op = node.op();
    boolean isOther =
        op instanceof Source || op instanceof Communication || op instanceof Movement.Reshape;
    List<Value> operands = graph.operands(node);
    // The type of these results is an attribute.
    boolean isTyped = op instanceof Contraction || op instanceof IntegerNetwork;
    boolean isWritten = isNibble(node.results().getFirst());
    if (isOther || isTyped && isWritten || node.results().size() != 1) {
      return Optional.empty();
    }
    ElementType result = node.result().type().element();
    Terms terms = new Terms(graph);
    if (op instanceof Elementwise.Cast && isPacking(operands.getFirst(), node.result())) {
      return Optional.empty();
    }
    List<Value> bytes =
        operands.stream()
            .map(each -> isNibble(each) ? terms.cast(each, wide(each.type().element())) : each)
            .toList();
    Value value =
        switch (op) {
          case Elementwise.Cast cast ->
              terms.cast(bytes.getFirst(), isNibble(node.result()) ? wide(result) : result);
          case Quantized.Quantize quantize when isNibble(node.result()) ->
              clamped(terms, quantize, bytes, result);
          case Op other -> graph.add(other, bytes);
        };
    return Optional.of(terms.cast(value, result));
  }

  private static Value clamped(
      Terms terms, Quantized.Quantize quantize, List<Value> operands, ElementType result) {
    Value bytes =
        terms
            .graph()
            .add(new Quantized.Quantize(quantize.axis(), quantize.block(), wide(result)), operands);
    Value above = terms.binary(BinaryFunction.MAX, bytes, terms.number(bytes, result.minimum()));
    return terms.binary(BinaryFunction.MIN, above, terms.number(bytes, result.maximum()));
  }

  private static boolean isNibble(Value value) {
    return value.type().element().bits() < Byte.SIZE;
  }

  /**
   * Whether a cast converts nibbles to bytes of the same signedness, or back, which a kernel does.
   */
  private static boolean isPacking(Value from, Value to) {
    ElementType source = from.type().element();
    ElementType target = to.type().element();
    return source.bits() < Byte.SIZE
        ? target == wide(source)
        : target.bits() < Byte.SIZE && source == wide(target);
  }

  /** Returns the byte type of the same signedness. */
  static ElementType wide(ElementType nibble) {
    return nibble.kind() == ElementType.Kind.SIGNED ? ElementType.I8 : ElementType.U8;
  }
}
