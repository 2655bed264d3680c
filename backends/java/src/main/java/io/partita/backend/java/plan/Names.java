package io.partita.backend.java.plan;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import javax.lang.model.SourceVersion;

/** Makes unique Java identifiers from ONNX names. */
public final class Names {
  private static final int MAX_LENGTH = 60;

  private final Set<String> taken = new HashSet<>();

  /** Reserves the names that the class itself defines. */
  public Names(Set<String> reserved) {
    reserved.forEach(name -> taken.add(key(name)));
  }

  /** Reserves a name that is in use. */
  void reserve(String name) {
    taken.add(key(name));
  }

  /**
   * Names for fields of a class, which local variables must not shadow and which must not shadow
   * the class's own.
   */
  static Names ofFields() {
    return new Names(
        Set.of(
            "doubleSegments",
            "doubleSums",
            "doubleTiles",
            "byteSegments",
            "floatSegments",
            "floatSums",
            "floatTiles",
            "intSegments",
            "longSegments",
            "shortSegments",
            "shortTile",
            "channels",
            "chunk",
            "peers",
            "offsets"));
  }

  /** Names for parameters of the method that runs the program. */
  static Names ofParameters() {
    return new Names(Set.of("outputs", "folder", "devices", "deviceInputs", "deviceOutputs", "i"));
  }

  /** Names for components of a record, which can't have the name of a method of Object. */
  static Names ofResults() {
    return new Names(
        Set.of(
            "clone",
            "finalize",
            "getClass",
            "hashCode",
            "notify",
            "notifyAll",
            "toString",
            "wait"));
  }

  /** {@code past_key_values.0.key} becomes {@code pastKeyValues0Key}. */
  public String identifier(String name, String prefix) {
    StringBuilder text = new StringBuilder(prefix);
    boolean capital = !prefix.isEmpty();
    for (char c : name.toCharArray()) {
      boolean fits = c < 128 && Character.isLetterOrDigit(c);
      if (fits && text.length() < MAX_LENGTH) {
        text.append(capital ? Character.toUpperCase(c) : c);
      }
      capital = !fits && !text.isEmpty();
    }
    if (text.isEmpty() || Character.isDigit(text.charAt(0))) {
      text.insert(0, "value");
    }
    if (Character.isUpperCase(text.charAt(0))) {
      text.replace(0, 1, text.substring(0, 1).toLowerCase(Locale.ROOT));
    }
    String base = text.toString();
    String unique = base;
    for (int i = 2; SourceVersion.isKeyword(unique) || !taken.add(key(unique)); i++) {
      unique = base + "_" + i;
    }
    return unique;
  }

  /** Constants are in capitals, so names must differ by more than case and underscores. */
  private static String key(String name) {
    return name.replace("_", "").toLowerCase(Locale.ROOT);
  }
}
