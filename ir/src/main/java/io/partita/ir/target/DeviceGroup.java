package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;

/** A group of {@code count} devices of one kind of chip, numbered after those of earlier groups. */
public record DeviceGroup(String chip, Figures figures) {
  static final List<Field> FIELDS =
      List.of(Field.required("count", Dimension.COUNT, Range.POSITIVE_WHOLE));

  public int count() {
    return (int) figures.whole("count");
  }
}
