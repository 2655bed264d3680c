package io.partita.ir.schedule;

/** The use of an operand by a loop over tiles. */
public enum Direction {
  /** Tiles are copied from the home memory to the working one before the kernel runs. */
  LOAD,
  /** Tiles are copied back after the last tile of the axes on which they don't depend. */
  STORE,
  /** One integer that the control core reads from the home memory when the loop begins. */
  SCALAR
}
