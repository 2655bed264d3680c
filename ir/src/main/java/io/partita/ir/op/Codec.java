package io.partita.ir.op;

import io.partita.ir.mesh.MeshCode;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The encoding of elements that travel between devices. Each device encodes its part of the
 * operand, takes part in an exchange of encoded elements, and decodes the result, including its own
 * part. So devices that hold the same value hold the same bits. A reduction joins encoded elements
 * at each hop.
 *
 * <p>Encoding and decoding are operations of the graph. So cost, schedules and backends need no
 * knowledge of codecs, and messages have the size of the encoded elements.
 */
public interface Codec {
  /** Adds the operations of encoding and decoding: nodes of a graph, or computed tensors. */
  @FunctionalInterface
  interface Builder<V> {
    V add(Op op, List<V> operands);
  }

  /** The elements themselves. */
  Codec EXACT = new ExactCodec();

  /** All codecs that have a name in text form. */
  List<Codec> ALL = List.of(EXACT, new Bf16Codec());

  boolean encodes(ElementType element);

  /**
   * Returns the type of encoded elements, one for each element.
   *
   * @param element a type that it encodes
   */
  ElementType wire(ElementType element);

  <V> V encode(V value, Builder<V> builder);

  /**
   * @param element the type before encoding
   */
  <V> V decode(V encoded, ElementType element, Builder<V> builder);

  /** Returns the name in text form. */
  @Override
  String toString();

  /**
   * Parses the name of a codec.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}
   */
  static Codec parse(String text) {
    for (Codec codec : ALL) {
      if (codec.toString().equals(text)) {
        return codec;
      }
    }
    throw MeshCode.LAYOUT_TEXT.at(
        "codec", ALL.stream().map(Codec::toString).collect(Collectors.joining(" or ")), text, "");
  }
}
