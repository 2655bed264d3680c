package io.partita.zoo;

/**
 * The tokens that a file is made for.
 *
 * @param length tokens that attention sees, the new ones included
 * @param dynamic whether the length is a symbol in the file
 */
record Sequence(Mode mode, int length, boolean dynamic) {
  boolean decodes() {
    return mode == Mode.DECODE;
  }

  /** New tokens of one run. */
  Dim tokens() {
    if (decodes()) {
      return Dim.of(1);
    }
    return dynamic ? Dim.symbol("seq") : Dim.of(length);
  }

  /** Tokens that the cache holds before the run. */
  Dim past() {
    return dynamic ? Dim.symbol("past") : Dim.of(length - 1);
  }

  /** Tokens that the cache holds after the run. */
  Dim present() {
    return dynamic ? Dim.symbol("present") : Dim.of(length);
  }

  /** The number of new tokens as a {@code Reshape} wants it, -1 when it is open. */
  long tokensOrInferred() {
    return decodes() ? 1 : dynamic ? -1 : length;
  }
}
