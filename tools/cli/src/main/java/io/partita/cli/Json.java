package io.partita.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.ir.diagnostic.Diagnostic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Machine-readable output. */
final class Json {
  private static final JSON WRITER = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

  private Json() {}

  /** A diagnostic in the form of all JSON output. */
  static Map<String, Object> of(Diagnostic diagnostic) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("code", diagnostic.code().id());
    fields.put("title", diagnostic.code().title());
    fields.put("where", diagnostic.where());
    fields.put("expected", diagnostic.expected());
    fields.put("found", diagnostic.found());
    fields.put("fix", diagnostic.remedy());
    return fields;
  }

  /**
   * The output of a failed command with --json.
   *
   * @param message the problem if there are no diagnostics; or empty
   */
  static String failure(int exitCode, String message, List<Diagnostic> diagnostics) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("exitCode", exitCode);
    if (!message.isEmpty()) {
      fields.put("message", message);
    }
    fields.put("diagnostics", diagnostics.stream().map(Json::of).toList());
    return text(fields);
  }

  /** Parses JSON that Partita wrote. */
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
