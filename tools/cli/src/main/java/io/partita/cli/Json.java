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

  /** A diagnostic, as in all JSON. */
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
   * What a command that was asked for JSON answers when it fails.
   *
   * @param message what is wrong, where there are no diagnostics; or empty
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
