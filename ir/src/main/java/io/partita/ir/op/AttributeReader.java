package io.partita.ir.op;

import io.partita.ir.mesh.Layout;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Gives the attributes of an operation by name; the text form's parser is one. A missing attribute,
 * or one of another kind, ends the reading with a diagnostic, but for {@link #flag}.
 */
public interface AttributeReader {
  long integer(String name);

  /** An integer of 32 bits. */
  default int smallInteger(String name) {
    return Math.toIntExact(integer(name));
  }

  double number(String name);

  boolean flag(String name);

  <E extends Enum<E>> E word(String name, Class<E> values);

  ElementType element(String name);

  String text(String name);

  /**
   * Text that {@code parser} reads; it throws an {@link IllegalArgumentException} or a {@link
   * io.partita.ir.diagnostic.PartitaException} that says what it expects.
   */
  <T> T parsed(String name, Function<String, T> parser);

  /** As {@link #parsed}, for an attribute that may be missing. */
  <T> Optional<T> optional(String name, Function<String, T> parser);

  /** A layout of the only operand on the module's mesh. */
  Layout layout(String name);

  List<Dim> dims(String name);

  /** A list of one dimension. */
  default Dim dim(String name) {
    return dims(name).getFirst();
  }

  default Shape shape(String name) {
    return new Shape(dims(name));
  }

  default List<Long> longs(String name) {
    return dims(name).stream().map(Dim::value).toList();
  }

  default List<Integer> integers(String name) {
    return longs(name).stream().map(Math::toIntExact).toList();
  }
}
