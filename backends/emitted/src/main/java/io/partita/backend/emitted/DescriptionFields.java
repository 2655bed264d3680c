package io.partita.backend.emitted;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * An object of the JSON that describes an emitted program. What isn't there as expected is an
 * {@link IllegalArgumentException} that says what.
 */
public record DescriptionFields(Map<?, ?> fields) {
  /**
   * @param json what a file holds
   * @param format what its field {@code format} says if it's of the kind that is wanted
   */
  public static DescriptionFields of(Object json, String format) {
    if (json instanceof Map<?, ?> fields && format.equals(fields.get("format"))) {
      return new DescriptionFields(fields);
    }
    throw new IllegalArgumentException("another format");
  }

  /** Adds the fields of {@link #origin}: {@code node}, and what is known of block and role. */
  public static void put(Origin origin, Map<String, Object> fields) {
    fields.put("node", origin.name());
    origin.block().ifPresent(block -> fields.put("block", block));
    if (!origin.role().isEmpty()) {
      fields.put("role", origin.role());
    }
  }

  /** Reads the fields that {@link #put} added. */
  public Origin origin() {
    OptionalInt block =
        has("block") ? OptionalInt.of(Math.toIntExact(extent("block"))) : OptionalInt.empty();
    return new Origin(text("node"), block, has("role") ? text("role") : "");
  }

  public boolean has(String name) {
    return fields.get(name) != null;
  }

  public String text(String name) {
    if (fields.get(name) instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException("no text \"" + name + "\"");
  }

  public long number(String name) {
    if (fields.get(name) instanceof Number number) {
      return number.longValue();
    }
    throw new IllegalArgumentException("no number \"" + name + "\"");
  }

  /** Whole or not. */
  public double real(String name) {
    if (fields.get(name) instanceof Number number) {
      return number.doubleValue();
    }
    throw new IllegalArgumentException("no number \"" + name + "\"");
  }

  /** A list of lists of whole numbers, each 0 or more. */
  public List<long[]> rows(String name) {
    if (fields.get(name) instanceof List<?> list) {
      return list.stream().map(row -> row(row, name)).toList();
    }
    throw new IllegalArgumentException("no list \"" + name + "\"");
  }

  /** A list of whole numbers, each 0 or more. */
  public long[] row(String name) {
    return row(fields.get(name), name);
  }

  private static long[] row(Object row, String name) {
    if (row instanceof List<?> numbers) {
      return numbers.stream().mapToLong(DescriptionFields::extent).toArray();
    }
    throw new IllegalArgumentException("\"" + name + "\" holds something else than lists");
  }

  /** Of 0 or more. */
  public long extent(String name) {
    return extent(fields.get(name));
  }

  private static long extent(Object dim) {
    if ((dim instanceof Integer || dim instanceof Long) && ((Number) dim).longValue() >= 0) {
      return ((Number) dim).longValue();
    }
    throw new IllegalArgumentException("an extent that isn't a whole number");
  }

  public boolean isTrue(String name) {
    return Boolean.TRUE.equals(fields.get(name));
  }

  public DescriptionFields object(String name) {
    return object(fields.get(name), name);
  }

  public List<DescriptionFields> objects(String name) {
    if (fields.get(name) instanceof List<?> list) {
      return list.stream().map(item -> object(item, name)).toList();
    }
    throw new IllegalArgumentException("no list \"" + name + "\"");
  }

  private static DescriptionFields object(Object item, String name) {
    if (item instanceof Map<?, ?> fields) {
      return new DescriptionFields(fields);
    }
    throw new IllegalArgumentException("\"" + name + "\" holds something else than objects");
  }

  /** In the order of the file. */
  public List<String> names() {
    return fields.keySet().stream().map(Object::toString).toList();
  }

  /** Of the fields {@code capacity} and {@code positions}; none where there's no capacity. */
  public Optional<Module.Room> room() {
    if (!has("capacity")) {
      return Optional.empty();
    }
    OptionalLong positions =
        has("positions") ? OptionalLong.of(extent("positions")) : OptionalLong.empty();
    return Optional.of(new Module.Room(extent("capacity"), positions));
  }

  /** Of the fields {@code element} and {@code shape}. */
  public TensorType type() {
    ElementType element =
        ElementType.of(text("element"))
            .orElseThrow(() -> new IllegalArgumentException("an unknown element type"));
    if (!(fields.get("shape") instanceof List<?> dims)) {
      throw new IllegalArgumentException("no shape");
    }
    return new TensorType(
        element, Shape.of(dims.stream().mapToLong(DescriptionFields::extent).toArray()));
  }
}
