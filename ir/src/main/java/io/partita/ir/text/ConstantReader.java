package io.partita.ir.text;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import org.antlr.v4.runtime.Token;

/** Creates tensors from written elements and from places in the weights file. */
final class ConstantReader {
  /** The size up to which the hashes of weights are checked; larger ones are read later. */
  private static final long MAX_CHECKED = 1 << 20;

  private final Locator locator;
  private final TypeReader types;
  private final MemorySegment weights;

  /**
   * @param weights the mapped file; {@link MemorySegment#NULL} if there is none
   */
  ConstantReader(Locator locator, TypeReader types, MemorySegment weights) {
    this.locator = locator;
    this.types = types;
    this.weights = weights;
  }

  /** {@code constant [1.0, 2.0] : f32[2]}, {@code constant 1.0 : f32[]}. */
  Tensor inline(PirSyntaxParser.ConstantContext tree) {
    TensorType type = type(tree.type());
    List<PirSyntaxParser.ElementContext> elements = tree.element();
    boolean isScalar = tree.getChild(1) instanceof PirSyntaxParser.ElementContext;
    if (elements.size() != type.shape().elements() || isScalar != (type.rank() == 0)) {
      throw locator.error(
          TextCode.CONSTANT,
          tree.start,
          type.rank() == 0
              ? "one element without brackets for " + type
              : type.shape().elements() + " elements in brackets for " + type,
          isScalar ? "one element without brackets" : elements.size() + " in brackets",
          "");
    }
    long[] bits = new long[elements.size()];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = element(type.element(), elements.get(i));
    }
    return ElementText.tensor(type, bits);
  }

  private long element(ElementType element, PirSyntaxParser.ElementContext tree) {
    try {
      return ElementText.read(element, tree.getText());
    } catch (NumberFormatException e) {
      Token token = tree.stop;
      String text = Locator.text(token);
      throw locator.error(
          TextCode.CONSTANT,
          tree.start,
          "an element of type " + element,
          tree.start == token ? text : "-" + text,
          "");
    }
  }

  /** {@code weight {offset = 64, hash = "…"} : f32[512,512]}. */
  Tensor weight(PirSyntaxParser.WeightContext tree) {
    AttributeParser attributes =
        new AttributeParser(
            locator,
            types,
            tree.start,
            tree.attributes(),
            (place, text) -> {
              throw new AssertionError("a weight has no layout to read");
            });
    long offset = attributes.integer("offset");
    String hash = attributes.textOrEmpty("hash");
    attributes.requireAllRead();
    TensorType type = type(tree.type());
    if (weights.equals(MemorySegment.NULL)) {
      throw locator.error(
          TextCode.WEIGHT,
          tree.start,
          "a weights file in the folder of the text",
          "none",
          "put the .weights file that was written with the text in the same folder");
    }
    if (offset < 0 || offset > weights.byteSize() - type.bytes()) {
      throw locator.error(
          TextCode.WEIGHT,
          tree.start,
          type.bytes() + " bytes at offset " + offset,
          "a weights file of " + weights.byteSize() + " bytes",
          "use the .weights file that was written with the text");
    }
    Tensor data = Tensor.of(type, weights.asSlice(offset, type.bytes()));
    if (!hash.isEmpty() && type.bytes() <= MAX_CHECKED) {
      requireHash(tree.start, hash, data);
    }
    return data;
  }

  private void requireHash(Token place, String hash, Tensor data) {
    String found = HexFormat.of().toHexDigits(ContentHash.of(data.bytes()));
    if (!found.equals(hash)) {
      throw locator.error(
          TextCode.WEIGHT,
          place,
          "bytes with hash " + hash,
          "hash " + found,
          "use the .weights file that was written with the text");
    }
  }

  private TensorType type(PirSyntaxParser.TypeContext tree) {
    TensorType type = types.type(tree);
    try {
      if (type.isStatic() && type.shape().elements() <= Integer.MAX_VALUE - 8) {
        return type;
      }
    } catch (ArithmeticException e) {
      // More elements than a long counts; reported below.
    }
    throw locator.error(
        TextCode.CONSTANT,
        tree.start,
        "a static type of at most " + (Integer.MAX_VALUE - 8) + " elements",
        PirPrinter.print(type),
        "");
  }
}
