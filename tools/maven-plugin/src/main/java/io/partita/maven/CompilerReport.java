package io.partita.maven;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The output of the compiler.
 *
 * @param fields its JSON; empty if it printed none
 * @param errors its error stream: notes, progress and errors
 */
record CompilerReport(Map<String, Object> fields, String errors) {
  static CompilerReport of(String output, String errors) {
    try {
      return new CompilerReport(JSON.std.mapFrom(output), errors.strip());
    } catch (IOException | IllegalArgumentException notJson) {
      return new CompilerReport(Map.of(), (output + errors).strip());
    }
  }

  List<String> strings(String field) {
    return list(field).stream().map(Object::toString).toList();
  }

  List<Map<?, ?>> objects(String field) {
    return list(field).stream().<Map<?, ?>>map(Map.class::cast).toList();
  }

  private List<?> list(String field) {
    return fields.get(field) instanceof List<?> list ? list : List.of();
  }

  /** The notes on the error stream, each with one or more lines. */
  List<String> notes() {
    return List.of(errors.split("\n(?=\\S)")).stream()
        .filter(block -> block.startsWith("note ") || block.startsWith("warning "))
        .toList();
  }

  /** The reported problem. */
  CompilerFailure failure() {
    String told =
        objects("diagnostics").stream()
            .map(CompilerReport::diagnostic)
            .collect(Collectors.joining("\n"));
    if (told.isEmpty()) {
      told = Objects.toString(fields.get("message"), errors);
    }
    return new CompilerFailure(told);
  }

  private static String diagnostic(Map<?, ?> fields) {
    StringBuilder text = new StringBuilder();
    text.append(fields.get("code")).append(": ").append(fields.get("title"));
    for (String part : List.of("where", "expected", "found", "fix")) {
      Object value = fields.get(part);
      if (value != null && !value.equals("")) {
        text.append("\n  ").append(part).append(':').append(" ".repeat(10 - part.length()));
        text.append(value);
      }
    }
    return text.toString();
  }
}
