package io.partita.backend.metalium;

import java.util.List;

/**
 * What a decision kernel computes: one number, from single elements of matrices. It may be a word
 * that other kernels read on each core.
 *
 * @param expression an expression of C on the loaded elements {@code x0}, {@code x1}, …
 * @param loads in the order of their names
 * @param isFloat whether the result is a float; otherwise it is an integer of at most 8 bits
 */
record Decision(String expression, List<Load> loads, boolean isFloat) {
  Decision {
    loads = List.copyOf(loads);
  }

  /**
   * An element, or the sum of a column.
   *
   * @param operand the index of the matrix among the operands of the step
   * @param rows the number of rows that are added; 0 for a single element
   */
  record Load(int operand, long row, long column, long rows, boolean isFloat) {}
}
