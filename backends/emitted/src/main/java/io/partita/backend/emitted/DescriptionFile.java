package io.partita.backend.emitted;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads and writes the JSON files that describe an emitted program. */
public final class DescriptionFile {
  private static final JSON ASCII =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build()).build();

  private DescriptionFile() {}

  /**
   * Reads a file.
   *
   * @param format the value of the field {@code format}
   * @param reader throws {@link IllegalArgumentException} if a field is missing or wrong
   * @param unreadable the diagnostic for a file and what was found in it
   */
  public static <T> T read(
      Path file,
      String format,
      Function<DescriptionFields, T> reader,
      BiFunction<Path, String, PartitaException> unreadable) {
    try {
      Object json = JSON.std.anyFrom(SmallFile.text(file));
      return reader.apply(DescriptionFields.of(json, format));
    } catch (NoSuchFileException e) {
      throw unreadable.apply(Path.of(e.getFile()), "no such file");
    } catch (JacksonException e) {
      throw unreadable.apply(file, e.getOriginalMessage());
    } catch (IOException
        | IllegalArgumentException
        | ArithmeticException
        | IndexOutOfBoundsException e) {
      throw unreadable.apply(file, String.valueOf(e.getMessage()));
    }
  }

  /** Returns deterministic JSON in ASCII. Objects and arrays of plain values have one line each. */
  public static String json(Map<String, ?> fields) {
    return "{\n  " + String.join(",\n  ", members(fields, "  ")) + "\n}\n";
  }

  private static List<String> members(Map<?, ?> fields, String indent) {
    return fields.entrySet().stream()
        .map(field -> text(field.getKey()) + ": " + value(field.getValue(), indent))
        .toList();
  }

  private static String value(Object value, String indent) {
    String inner = indent + "  ";
    return switch (value) {
      case Map<?, ?> fields when isPlain(fields.values()) ->
          "{" + String.join(", ", members(fields, inner)) + "}";
      case Map<?, ?> fields -> "{" + lines(members(fields, inner), indent) + "}";
      case List<?> items when isPlain(items) ->
          items.stream().map(DescriptionFile::text).collect(Collectors.joining(", ", "[", "]"));
      case List<?> items ->
          "[" + lines(items.stream().map(item -> value(item, inner)).toList(), indent) + "]";
      default -> text(value);
    };
  }

  private static String lines(List<String> items, String indent) {
    return items.stream()
        .map(item -> "\n" + indent + "  " + item)
        .collect(Collectors.joining(",", "", "\n" + indent));
  }

  /** Whether none contains others, except lists of plain values. */
  private static boolean isPlain(Iterable<?> values) {
    for (Object value : values) {
      boolean isNested =
          value instanceof Map
              || value instanceof List<?> items
                  && items.stream().anyMatch(item -> item instanceof Map || item instanceof List);
      if (isNested) {
        return false;
      }
    }
    return true;
  }

  private static String text(Object value) {
    try {
      return ASCII.asString(value);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
