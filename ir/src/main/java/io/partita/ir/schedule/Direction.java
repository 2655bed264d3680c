package io.partita.ir.schedule;

/** What a loop over tiles does with an operand. */
public enum Direction {
  /** Tiles are copied from L2 to L1 before the kernel runs. */
  LOAD,
  /** Tiles are copied from L1 to L2 after the last tile of the axes that they don't depend on. */
  STORE,
  /** One integer that the control core reads from L2 when the loop begins. */
  SCALAR
}
