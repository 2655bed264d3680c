package io.partita.ir.op;

/** The operands of an operation don't fit it. Who knows the place turns this into a diagnostic. */
public final class TypeMismatch extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String found;

  public TypeMismatch(String expected, String found) {
    super("expected " + expected + ", found " + found, null, false, false);
    this.expected = expected;
    this.found = found;
  }

  public String expected() {
    return expected;
  }

  public String found() {
    return found;
  }
}
