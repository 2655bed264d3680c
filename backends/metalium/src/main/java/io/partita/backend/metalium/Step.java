package io.partita.backend.metalium;

import io.partita.ir.graph.Origin;
import java.util.List;
import java.util.Optional;

/**
 * A reader, a compute kernel and a writer, and the matrices that they work on.
 *
 * @param kind what the kernels compute
 * @param operands the matrices of the kind's own operands
 * @param epilogues functions of the result that the compute kernel applies to each tile, in order
 * @param result the matrix of the result
 * @param depth the columns of the left operand of a product
 * @param epsilon that of a norm
 */
record Step(
    Kind kind,
    Origin origin,
    List<Matrix> operands,
    List<Epilogue> epilogues,
    Matrix result,
    long depth,
    double epsilon) {
  /** What kernels compute. */
  enum Kind {
    LINEAR,
    ELEMENTWISE,
    RMS_NORM,
    SOFTMAX
  }

  /**
   * A function of the vector engine on the tile of the result.
   *
   * @param function the name of the kernel API without {@code _tile}
   * @param operand the other operand
   * @param isRow whether all rows of the result use the operand's only row
   * @param isLeft whether the operand is the left one
   */
  record Epilogue(String function, Optional<Matrix> operand, boolean isRow, boolean isLeft) {}

  /**
   * A matrix in DRAM.
   *
   * @param name a C identifier
   * @param kind the method of the emulation's model that makes it
   */
  record Matrix(String name, String kind, long rows, long columns) {
    static final int TILE = 32;

    long tileRows() {
      return Math.ceilDiv(rows, TILE);
    }

    long tileColumns() {
      return Math.ceilDiv(columns, TILE);
    }
  }

  Step {
    operands = List.copyOf(operands);
    epilogues = List.copyOf(epilogues);
  }
}
