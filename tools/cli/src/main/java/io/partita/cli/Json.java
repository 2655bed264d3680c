package io.partita.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Machine-readable output. */
final class Json {
  private static final JSON WRITER = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

  private Json() {}

  /** What a program that is ours wrote as JSON. */
  static Object parse(String json) {
    try {
      return JSON.std.anyFrom(json);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** {@code value} (maps, lists, numbers, strings, booleans) as indented JSON. */
  static String text(Object value) {
    try {
      return WRITER.asString(value);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
