package io.partita.ir.op;

import io.partita.ir.mesh.Layout;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A source of an operation's attributes by name, such as the parser of the text form. A missing
 * attribute or one of another kind is a diagnostic, except for {@link #flag}.
 */
public interface AttributeReader {
  long integer(String name);

  /** Returns an integer of 32 bits. */
  default int smallInteger(String name) {
    return Math.toIntExact(integer(name));
  }

  double number(String name);

  boolean flag(String name);

  <E extends Enum<E>> E word(String name, Class<E> values);

  ElementType element(String name);

  String text(String name);

  /**
   * Returns the value of a text that {@code parser} reads; it throws an {@link
   * IllegalArgumentException} or a {@link io.partita.ir.diagnostic.PartitaException} with the
   * expected form.
   */
  <T> T parsed(String name, Function<String, T> parser);

  /** Like {@link #parsed}, for an optional attribute. */
  <T> Optional<T> optional(String name, Function<String, T> parser);

  /** Returns a layout of the only operand on the module's mesh. */
  Layout layout(String name);

  List<Dim> dims(String name);

  /** Returns the dimension of a list of one. */
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
