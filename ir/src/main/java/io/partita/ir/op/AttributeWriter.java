package io.partita.ir.op;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.List;

/** Takes the attributes of an operation in order; the text form's printer is one. */
public interface AttributeWriter {
  void integer(String name, long value);

  void number(String name, double value);

  /** {@code true} or {@code false}; a false flag is not written and reads back as false. */
  void flag(String name, boolean value);

  /** An identifier: an element type or a constant of an enum. */
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
