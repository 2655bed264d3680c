package io.partita.ir.schedule;

/** What a loop over tiles does with an operand. */
public enum Direction {
  /** Tiles are copied from the home memory to the working one before the kernel runs. */
  LOAD,
  /** Tiles are copied back after the last tile of the axes that they don't depend on. */
  STORE,
  /** One integer that the control core reads from the home memory when the loop begins. */
  SCALAR
}
