package io.partita.ir.op;

import io.partita.ir.mesh.MeshCode;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.stream.Collectors;

/**
 * In which form elements travel between devices. All devices encode what they hold of the operand,
 * their own part included, exchange the encoded elements, and decode what they hold afterwards; so
 * devices that hold the same value hold the same bits. A reduction joins encoded elements at each
 * hop.
 *
 * <p>Encoding and decoding are operations of the graph, so that cost, schedules and backends know
 * nothing of codecs, and messages are as large as their encoded elements.
 */
public interface Codec {
  /** What encoding and decoding are made of: nodes of a graph, or computed tensors. */
  @FunctionalInterface
  interface Builder<V> {
    V add(Op op, List<V> operands);
  }

  /** Elements as they are. */
  Codec EXACT = new ExactCodec();

  /** All that can be read and asked for by name. */
  List<Codec> ALL = List.of(EXACT, new Bf16Codec());

  boolean encodes(ElementType element);

  /**
   * The type of the encoded elements, one for each element.
   *
   * @param element one that it encodes
   */
  ElementType wire(ElementType element);

  <V> V encode(V value, Builder<V> builder);

  /**
   * @param element the type of the elements that were encoded
   */
  <V> V decode(V encoded, ElementType element, Builder<V> builder);

  /** As in the text form of a sync. */
  @Override
  String toString();

  /**
   * Reads what {@code toString} writes.
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
