package io.partita.zoo;

/**
 * The number of tokens of a file.
 *
 * @param length the tokens that attention sees, including the new ones
 * @param dynamic whether the length is a symbol in the file
 */
record Sequence(Mode mode, int length, boolean dynamic) {
  boolean decodes() {
    return mode == Mode.DECODE;
  }

  /** The new tokens of one run. */
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

  /** The number of new tokens for a {@code Reshape}, -1 if dynamic. */
  long tokensOrInferred() {
    return decodes() ? 1 : dynamic ? -1 : length;
  }
}
