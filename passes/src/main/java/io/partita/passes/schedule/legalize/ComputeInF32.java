package io.partita.passes.schedule.legalize;

import io.partita.ir.function.Combine;
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
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/** {@code f(x) -> f16(f(f32(x)))}, for all operations except movements of 16-bit floats. */
final class ComputeInF32 implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.either(
        Pattern.any().where(ComputeInF32::isHalf), Pattern.someOperand(ComputeInF32::isHalf));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Value> operands = graph.operands(node);
    Value result = node.results().getFirst();
    if (node.results().size() > 1) {
      return Optional.empty();
    }
    List<Value> wide =
        operands.stream()
            .map(each -> isHalf(each) ? cast(each, ElementType.F32, graph) : each)
            .toList();
    return inF32(node.op(), operands)
        .map(op -> graph.add(op, wide))
        .map(value -> cast(value, result.type().element(), graph));
  }

  static boolean isHalf(Value value) {
    ElementType element = value.type().element();
    return element == ElementType.F16 || element == ElementType.BF16;
  }

  /** Whether a kernel rounds it to 16 bits, once. */
  private static boolean isFloat(ElementType element) {
    return element == ElementType.F32 || element == ElementType.F64;
  }

  private static Value cast(Value value, ElementType to, GraphEditor graph) {
    return value.type().element() == to ? value : graph.add(new Elementwise.Cast(to), value);
  }

  /** Empty for movements. */
  private static Optional<Op> inF32(Op op, List<Value> operands) {
    return switch (op) {
      case Source source -> Optional.empty();
      case Communication communication -> Optional.empty();
      case Movement.ScatterElements(var axis, var reduction) when reduction != Combine.REPLACE ->
          Optional.of(op);
      case Movement.ScatterNd(var reduction) when reduction != Combine.REPLACE -> Optional.of(op);
      case Movement movement -> Optional.empty();
      case Elementwise.Select select -> Optional.empty();
      case Elementwise.Cast(var to) ->
          to == ElementType.F32 || isFloat(operands.getFirst().type().element())
              ? Optional.empty()
              : Optional.of(
                  new Elementwise.Cast(isHalf(operands.getFirst()) ? to : ElementType.F32));
      case Elementwise elementwise -> Optional.of(elementwise);
      case Contraction.MatMul product -> Optional.of(new Contraction.MatMul(ElementType.F32));
      case Contraction.Convolution(var window, var groups, var bias, var to) ->
          Optional.of(new Contraction.Convolution(window, groups, bias, ElementType.F32));
      // Its kernel reads scales of 16 bits.
      case Contraction.NibbleMatMul product -> Optional.empty();
      case Contraction contraction -> Optional.of(contraction);
      case Structured.CacheUpdate update -> Optional.empty();
      case Structured.Embedding embedding -> Optional.empty();
      case Structured structured -> Optional.of(structured);
      case Quantized.Dequantize(var axis, var block, var to) ->
          Optional.of(new Quantized.Dequantize(axis, block, ElementType.F32));
      case Quantized quantize -> Optional.of(quantize);
      case Reduction reduction -> Optional.of(reduction);
      case IntegerNetwork network -> Optional.empty();
    };
  }
}
