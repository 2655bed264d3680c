package io.partita.passes.program.values;

/** The kind of data that a value is, which decides the memory that it is stored in. */
public enum StorageClass {
  /** A constant matrix of an operation that multiplies by it or looks up its rows. */
  WEIGHT,
  /** Any other constant. */
  TABLE,
  /** Kept between runs. */
  STATE,
  /** Computed by each run, or given to it. */
  ACTIVATION
}
