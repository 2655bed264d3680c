package io.partita.backend.java;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as a model's description needs: objects, lists, texts and whole numbers. */
final class Json {
  /** Deeper nesting isn't ours, and would cost stack. */
  private static final int DEEPEST = 16;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static String quote(String value) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < 0x20 || c > 0x7e) {
        quoted.append("\\u").append(java.util.HexFormat.of().toHexDigits(c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /**
   * Maps, lists, strings and longs.
   *
   * @throws IllegalArgumentException when the text isn't such JSON
   */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.skipSpace();
    if (json.at < text.length()) {
      throw json.unexpected();
    }
    return value;
  }

  private Object value(int depth) {
    if (depth > DEEPEST) {
      throw unexpected();
    }
    return switch (peek()) {
      case '{' -> object(depth);
      case '[' -> list(depth);
      case '"' -> string();
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> fields = new LinkedHashMap<>();
    expect('{');
    while (peek() != '}') {
      if (!fields.isEmpty()) {
        expect(',');
        peek();
      }
      String name = string();
      expect(':');
      fields.put(name, value(depth + 1));
    }
    expect('}');
    return fields;
  }

  private List<Object> list(int depth) {
    List<Object> items = new ArrayList<>();
    expect('[');
    while (peek() != ']') {
      if (!items.isEmpty()) {
        expect(',');
      }
      items.add(value(depth + 1));
    }
    expect(']');
    return items;
  }

  private String string() {
    expect('"');
    StringBuilder value = new StringBuilder();
    while (next() != '"') {
      char c = text.charAt(at - 1);
      if (c != '\\') {
        value.append(c);
        continue;
      }
      switch (next()) {
        case 'u' -> {
          int end = Math.min(text.length(), at + 4);
          value.append((char) Integer.parseInt(text.substring(at, end), 16));
          at = end;
        }
        case '"' -> value.append('"');
        case '\\' -> value.append('\\');
        default -> throw unexpected();
      }
    }
    return value.toString();
  }

  private Long number() {
    int start = at;
    while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '-')) {
      at++;
    }
    if (start == at) {
      throw unexpected();
    }
    return Long.valueOf(text.substring(start, at));
  }

  private void skipSpace() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private char peek() {
    skipSpace();
    if (at == text.length()) {
      throw unexpected();
    }
    return text.charAt(at);
  }

  private char next() {
    if (at == text.length()) {
      throw unexpected();
    }
    return text.charAt(at++);
  }

  private void expect(char c) {
    if (peek() != c) {
      throw unexpected();
    }
    at++;
  }

  private IllegalArgumentException unexpected() {
    return new IllegalArgumentException("not the expected JSON at character " + at);
  }
}
