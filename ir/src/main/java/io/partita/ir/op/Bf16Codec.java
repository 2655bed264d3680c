package io.partita.ir.op;

import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * Floats as bf16: 8 bits of precision, half the bytes of f32. Sums are rounded to bf16 at each hop.
 */
public record Bf16Codec() implements Codec {
  @Override
  public boolean encodes(ElementType element) {
    return element == ElementType.F32 || element == ElementType.F64;
  }

  @Override
  public ElementType wire(ElementType element) {
    return ElementType.BF16;
  }

  @Override
  public <V> V encode(V value, Builder<V> builder) {
    return builder.add(new Elementwise.Cast(ElementType.BF16), List.of(value));
  }

  @Override
  public <V> V decode(V encoded, ElementType element, Builder<V> builder) {
    return builder.add(new Elementwise.Cast(element), List.of(encoded));
  }

  @Override
  public String toString() {
    return "bf16";
  }
}
