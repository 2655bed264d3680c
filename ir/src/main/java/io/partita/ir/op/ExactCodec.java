package io.partita.ir.op;

import io.partita.ir.type.ElementType;

/** The identity codec. */
record ExactCodec() implements Codec {
  @Override
  public boolean encodes(ElementType element) {
    return true;
  }

  @Override
  public ElementType wire(ElementType element) {
    return element;
  }

  @Override
  public <V> V encode(V value, Builder<V> builder) {
    return value;
  }

  @Override
  public <V> V decode(V encoded, ElementType element, Builder<V> builder) {
    return encoded;
  }

  @Override
  public String toString() {
    return "exact";
  }
}
