package io.partita.ir.op;

import io.partita.ir.type.Dim;
import java.util.List;

/**
 * Operands that don't fit their operation. Callers that know the node turn it into a diagnostic.
 */
public final class TypeMismatch extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String found;
  private final transient List<Equation> equations;

  /** Two extents that differ as polynomials, but that the operation requires to be equal. */
  public record Equation(Dim left, Dim right) {}

  public TypeMismatch(String expected, String found) {
    this(expected, found, List.of());
  }

  /**
   * @param equations equations under which the operands fit; empty if unknown
   */
  public TypeMismatch(String expected, String found, List<Equation> equations) {
    super("expected " + expected + ", found " + found, null, false, false);
    this.expected = expected;
    this.found = found;
    this.equations = List.copyOf(equations);
  }

  public String expected() {
    return expected;
  }

  public String found() {
    return found;
  }

  /** Returns the equations under which the operands would fit; empty if unknown. */
  public List<Equation> equations() {
    return equations;
  }
}
