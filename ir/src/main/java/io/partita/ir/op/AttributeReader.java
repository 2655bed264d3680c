package io.partita.ir.op;

import io.partita.ir.mesh.Layout;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;

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

  /** Text that may be missing. */
  Optional<String> optionalText(String name);

  /** A layout on the module's mesh. */
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
