package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Steps of whole rows. */
final class RowSteps {
  private final Matrices matrices;
  private final Operands operands;
  private final ScheduledBlocks scheduled;

  RowSteps(Matrices matrices, Operands operands, ScheduledBlocks scheduled) {
    this.matrices = matrices;
    this.operands = operands;
    this.scheduled = scheduled;
  }

  Step norm(Structured.Norm norm, Node node) {
    Value x = node.operand(0);
    int columns = Math.toIntExact(Matrices.columns(x.type()));
    boolean isOfRows = norm.axis() == x.type().rank() - 1;
    boolean isRms = norm.kind() == Structured.NormKind.RMS;
    // The zeros beyond the columns of a scale are what makes those of the result zeros.
    if (!isOfRows || !norm.scale() || isRms && norm.bias() || !isOfColumns(node, columns)) {
      throw ModelSteps.unsupported(node);
    }
    List<Matrix> inputs = new ArrayList<>();
    for (int operand = 0; operand < node.operands().size(); operand++) {
      inputs.add(operands.required(node, operand));
    }
    Matrix result = matrices.result(node.result());
    inputs.add(
        isRms
            ? matrices.filled("mean", 1.0 / columns)
            : matrices.meanOfRow("mean_" + columns, columns));
    return Step.ofRows(
        isRms ? Kind.RMS_NORM : Kind.LAYER_NORM,
        node,
        inputs,
        result,
        scheduled.rows(node),
        List.of("0x%08x".formatted(Float.floatToIntBits((float) norm.epsilon()))));
  }

  /** Whether all operands after the first have an element for each column. */
  private static boolean isOfColumns(Node node, long columns) {
    return node.operands().stream()
        .skip(1)
        .allMatch(operand -> operand.type().shape().elements() == columns);
  }

  Step softmax(Reduction.Softmax softmax, Node node) {
    Value x = node.operand(0);
    if (softmax.logarithm() || softmax.axis() != x.type().rank() - 1) {
      throw ModelSteps.unsupported(node);
    }
    Matrix result = matrices.result(node.result());
    // A reader that fills the padding of rows needs to know where it begins.
    boolean isPadded = result.columns() % Matrix.TILE != 0;
    return Step.ofRows(
        Kind.SOFTMAX,
        node,
        List.of(operands.required(node, 0), matrices.filled("ones", 1)),
        result,
        scheduled.rows(node),
        isPadded ? List.of(result.columns() + "") : List.of());
  }

  /** The mean of a few rows, such as the class tokens of all chips. */
  Step mean(Reduction.Reduce reduce, Node node) {
    Shape shape = node.operand(0).type().shape();
    if (!TileBlocks.isMeanOfFewRows(reduce, shape)) {
      throw ModelSteps.unsupported(node);
    }
    List<Matrix> terms = new ArrayList<>();
    for (long row = 0; row < shape.fromEnd(1).value(); row++) {
      terms.add(operands.rows(node, 0, ChosenRows.of(row)));
    }
    Matrix result = matrices.result(node.result());
    List<Epilogue> epilogues = new ArrayList<>();
    for (Matrix term : terms.subList(1, terms.size())) {
      epilogues.add(Epilogue.of(BinaryFunction.ADD, term, false));
    }
    Matrix share = matrices.scalar(1.0 / terms.size(), result.columns());
    epilogues.add(Epilogue.of(BinaryFunction.MUL, share, true));
    return Step.ofTiles(
        Kind.ELEMENTWISE,
        node.origin(),
        terms.subList(0, 1),
        epilogues,
        result,
        scheduled.tiles(result),
        List.of());
  }
}
