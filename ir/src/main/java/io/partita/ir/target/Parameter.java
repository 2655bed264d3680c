package io.partita.ir.target;

/**
 * What a user may choose about a target.
 *
 * @param value what it is now
 * @param low the least that it may be
 * @param high the most that it may be
 */
public record Parameter(
    String name, Quantity value, Quantity standard, Quantity low, Quantity high, Origin origin) {
  boolean allows(Quantity quantity) {
    return quantity.dimension() == standard.dimension()
        && quantity.value() >= low.value()
        && quantity.value() <= high.value()
        && (standard.dimension() != Dimension.COUNT || quantity.isWhole());
  }

  Parameter with(Quantity changed) {
    return new Parameter(name, changed, standard, low, high, origin);
  }

  /** {@code 1 to 64}. */
  String range() {
    return low + " to " + high + (low.dimension() == Dimension.COUNT ? ", a whole number" : "");
  }
}
