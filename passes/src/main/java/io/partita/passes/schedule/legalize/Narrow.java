package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Pattern;
import java.util.Optional;

/** 32-bit integers that are known to fit 8 bits. */
final class Narrow {
  /** An 8-bit value cast to 32 bits. */
  static final Pattern WIDENED =
      Pattern.op(
          Elementwise.Cast.class,
          cast -> cast.to() == ElementType.I32,
          Pattern.any()
              .where(
                  value ->
                      value.type().element() == ElementType.I8
                          || value.type().element() == ElementType.U8));

  private Narrow() {}

  /** Returns the 8-bit type that holds a range; the signed one if both do. */
  static Optional<ElementType> type(long low, long high) {
    if (low >= ElementType.I8.minimum() && high <= ElementType.I8.maximum()) {
      return Optional.of(ElementType.I8);
    }
    return low >= 0 && high <= ElementType.U8.maximum()
        ? Optional.of(ElementType.U8)
        : Optional.empty();
  }

  /** Returns the 8-bit value of which a value is a cast. */
  static Optional<Value> source(Value value, GraphEditor graph) {
    Node cast = graph.definition(value).orElse(null);
    if (cast == null
        || !(cast.op() instanceof Elementwise.Cast(ElementType to))
        || to != ElementType.I32) {
      return Optional.empty();
    }
    Value source = graph.operand(cast, 0);
    return source.type().element().isByte() ? Optional.of(source) : Optional.empty();
  }

  static Value widened(Value value, GraphEditor graph) {
    return graph.add(new Elementwise.Cast(ElementType.I32), value);
  }
}
