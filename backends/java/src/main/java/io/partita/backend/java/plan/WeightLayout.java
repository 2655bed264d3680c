package io.partita.backend.java.plan;

/** The layout of a weight in the weights file. */
public enum WeightLayout {
  /** As in the model: row-major. */
  ROW_MAJOR,
  /**
   * A matrix {@code [in, out]} as consecutive panels of {@link WeightsPlan#PANEL} columns, each
   * row-major: the order in which a product streams them.
   */
  PANELS,
  /** The transpose of a matrix {@code [out, in]}, in the same panels. */
  PANELS_OF_TRANSPOSE
}
