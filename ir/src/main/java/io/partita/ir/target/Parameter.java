package io.partita.ir.target;

/**
 * A property of a target that users choose.
 *
 * @param value the current value
 * @param low the smallest valid value
 * @param high the largest valid value
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

  /** Returns text such as {@code 1 to 64}. */
  String range() {
    return low + " to " + high + (low.dimension() == Dimension.COUNT ? ", a whole number" : "");
  }
}
