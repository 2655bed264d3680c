package io.partita.ir.target;

import io.partita.ir.syntax.Places;
import java.util.HashMap;
import java.util.Map;
import org.antlr.v4.runtime.Token;

/**
 * Where the parts of one text are: a path such as {@code chip siracusa, cores} by file and line.
 */
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

  /** Of the part itself, or of the smallest part around it that was written. */
  String of(String path) {
    String part = path;
    while (!tokens.containsKey(part) && part.contains(", ")) {
      part = part.substring(0, part.lastIndexOf(", "));
    }
    Token token = tokens.containsKey(part) ? tokens.get(part) : tokens.get("");
    return path.isEmpty() ? at(token) : at(token) + ", " + path;
  }
}
