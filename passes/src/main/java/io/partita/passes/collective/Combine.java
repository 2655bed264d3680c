package io.partita.passes.collective;

/** What a device does with elements that it receives. */
public enum Combine {
  /** They take the place of its own. */
  REPLACE,
  /** {@code own + received}. */
  ADD,
  /** The larger of both. */
  MAXIMUM,
  /** The smaller of both. */
  MINIMUM
}
