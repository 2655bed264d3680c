package io.partita.ir.target;

import io.partita.ir.syntax.Places;
import java.util.HashMap;
import java.util.Map;
import org.antlr.v4.runtime.Token;

/** The file and line of each part of a text, by a path such as {@code chip siracusa, cores}. */
final class TargetPlaces {
  private final Places places;
  private final Map<String, Token> tokens = new HashMap<>();

  TargetPlaces(String file) {
    places = new Places(file);
  }

  void put(String path, Token token) {
    tokens.put(path, token);
  }

  String at(Token token) {
    return places.of(token);
  }

  Places places() {
    return places;
  }

  /** Returns the place of a part, or of the smallest enclosing part that the text has. */
  String of(String path) {
    String part = path;
    while (!tokens.containsKey(part) && part.contains(", ")) {
      part = part.substring(0, part.lastIndexOf(", "));
    }
    Token token = tokens.containsKey(part) ? tokens.get(part) : tokens.get("");
    return path.isEmpty() ? at(token) : at(token) + ", " + path;
  }
}
