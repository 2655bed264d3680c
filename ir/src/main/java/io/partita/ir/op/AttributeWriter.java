package io.partita.ir.op;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.List;

/** A receiver of an operation's attributes in order, such as the printer of the text form. */
public interface AttributeWriter {
  void integer(String name, long value);

  void number(String name, double value);

  /** Writes a flag; a false one is omitted and reads back as false. */
  void flag(String name, boolean value);

  /** Writes an identifier: an element type or a constant of an enum. */
  void word(String name, String value);

  void text(String name, String value);

  void dims(String name, List<Dim> dims);

  default void shape(String name, Shape shape) {
    dims(name, shape.dims());
  }

  default void longs(String name, List<Long> values) {
    dims(name, values.stream().map(value -> Dim.of(value)).toList());
  }

  default void integers(String name, List<Integer> values) {
    dims(name, values.stream().map(value -> Dim.of(value)).toList());
  }
}
