package io.partita.backend.java.plan;

/** How the elements of a weight lie in the side file. */
public enum WeightLayout {
  /** As in the model: row-major. */
  ROW_MAJOR,
  /**
   * A matrix {@code [in, out]} as panels of {@link WeightsPlan#PANEL} columns, each row-major, one
   * after the other: the order in which a product streams them.
   */
  PANELS,
  /** The transpose of a matrix {@code [out, in]}, in panels as above. */
  PANELS_OF_TRANSPOSE
}
