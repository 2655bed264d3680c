package io.partita.backend.java.code;

import java.util.List;

/**
 * A method of the emitted class that steps call; emitted only if one does.
 *
 * <p>The text may use the type {@code real}, which becomes {@code float} or {@code double}, with
 * {@code (real)} casts that vanish for double; the arrays {@code TILES} (4 of 4 rows of 256) and
 * {@code SUMS} (64 rows of 256); and {@code @}, which becomes a suffix for the format of weights.
 *
 * @param name of the method, for order and lookup
 * @param documentation a sentence
 * @param header return type, name and parameters; begins with {@code static} where it can
 * @param uses kernels that the body calls, in the same variant
 */
record Kernel(String name, String documentation, String header, String body, List<Kernel> uses) {

  /** The element type for which a kernel is printed. */
  enum Variant {
    PLAIN("float", ""),
    DOUBLE("double", "Doubles"),
    FLOAT("float", "Floats"),
    HALF("float", "Halves"),
    BFLOAT("float", "Bfloats"),
    BYTE("float", "SignedBytes");

    private final String real;
    private final String ending;

    Variant(String real, String ending) {
      this.real = real;
      this.ending = ending;
    }

    String print(String text) {
      String cast = this == DOUBLE ? "" : "(float) ";
      return text.replace("(real) ", cast)
          .replaceAll("\\breal\\b", real)
          .replaceAll("\\bTILES\\b", real + "Tiles")
          .replaceAll("\\bSUMS\\b", real + "Sums")
          .replace("@", ending);
    }
  }

  static Kernel of(String documentation, String text, Kernel... uses) {
    String source = text.strip();
    int brace = source.indexOf('{');
    String header = source.substring(0, brace).strip();
    String before = header.substring(0, header.indexOf('('));
    String name = before.substring(before.lastIndexOf(' ') + 1);
    String body = source.substring(brace + 1, source.lastIndexOf('}'));
    return new Kernel(name, documentation, header, body, List.of(uses));
  }
}
