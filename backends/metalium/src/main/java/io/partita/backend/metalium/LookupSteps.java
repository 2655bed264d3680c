package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Node;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.stream.LongStream;

/** Steps that take rows of a table by their numbers. */
final class LookupSteps {
  private final Matrices matrices;
  private final Operands operands;
  private final Indices indices;
  private final ScheduledBlocks scheduled;

  LookupSteps(Matrices matrices, Operands operands, Indices indices, ScheduledBlocks scheduled) {
    this.matrices = matrices;
    this.operands = operands;
    this.indices = indices;
    this.scheduled = scheduled;
  }

  /**
   * @param axis of the table, which must count the rows of its matrix
   */
  Step rows(Node node, int axis) {
    Shape shape = node.operand(0).type().shape();
    Matrix table = operands.required(node, 0);
    if (axis != shape.rank() - 2
        || shape.range(0, axis).elements() != 1
        || Matrices.columns(node.result().type()) != table.columns()) {
      throw ModelSteps.unsupported(node);
    }
    return Codes.isComputed(node.operand(1)) ? byCodes(node, table) : byIndices(node, table);
  }

  /** By numbers that the host knows. */
  private Step byIndices(Node node, Matrix table) {
    Matrix result = matrices.result(node.result());
    return Step.ofTiles(
            Kind.GATHER_ROWS,
            node.origin(),
            List.of(table),
            List.of(),
            result,
            scheduled.tiles(node.result(), result),
            List.of(result.rows() + ""))
        .withIndices(
            indices.of(node.operand(1)).stream()
                .map(i -> "row_of(" + i + ", " + table.rows() + ")")
                .toList());
  }

  /** By numbers that the chip has computed. */
  private Step byCodes(Node node, Matrix table) {
    Matrix codes = operands.required(node, 1);
    Matrix result = matrices.result(node.result());
    List<String> sizes =
        LongStream.of(result.rows(), codes.columns(), table.rows())
            .mapToObj(Long::toString)
            .toList();
    return Step.ofTiles(
        Kind.LOOKUP,
        node.origin(),
        List.of(table, codes),
        List.of(),
        result,
        scheduled.tiles(node.result(), result),
        sizes);
  }
}
