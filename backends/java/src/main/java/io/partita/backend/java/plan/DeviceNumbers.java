package io.partita.backend.java.plan;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/** Numbers in which the devices of a role differ: a table with a row for each device. */
public final class DeviceNumbers {
  private final String field;
  private final SequencedMap<List<Long>, Integer> columns = new LinkedHashMap<>();

  public DeviceNumbers(String field) {
    this.field = field;
  }

  /**
   * Returns the Java expression of a number: a literal if all devices agree, else an element of the
   * table's row.
   */
  public String of(List<Long> byDevice) {
    return byDevice.stream().distinct().count() == 1
        ? byDevice.getFirst().toString()
        : field + "[" + columns.computeIfAbsent(byDevice, key -> columns.size()) + "]";
  }

  /** The field that holds the device's row. */
  public String field() {
    return field;
  }

  public boolean isEmpty() {
    return columns.isEmpty();
  }

  /** The rows by device, in the role's order. */
  public List<List<Long>> rows() {
    int devices = columns.isEmpty() ? 0 : columns.firstEntry().getKey().size();
    return IntStream.range(0, devices)
        .mapToObj(device -> columns.keySet().stream().map(column -> column.get(device)).toList())
        .toList();
  }
}
