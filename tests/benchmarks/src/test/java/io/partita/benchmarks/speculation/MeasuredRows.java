package io.partita.benchmarks.speculation;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Reads a table of published measurements: lines of values, with comments and a header. */
final class MeasuredRows {
  private MeasuredRows() {}

  /** Returns the values of each line below the header. */
  static List<String[]> read(String name) {
    try (InputStream stream = MeasuredRows.class.getResourceAsStream("/speculation/" + name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .skip(1)
          .map(line -> line.split(","))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
