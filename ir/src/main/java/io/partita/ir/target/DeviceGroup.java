package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;

/** So many devices of one kind of chip, the {@code count} figure, numbered after those before. */
public record DeviceGroup(String chip, Figures figures) {
  static final List<Field> FIELDS =
      List.of(Field.required("count", Dimension.COUNT, Range.POSITIVE_WHOLE));

  public int count() {
    return (int) figures.whole("count");
  }
}
