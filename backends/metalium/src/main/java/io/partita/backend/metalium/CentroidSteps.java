package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Contraction;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** Steps of tokens that travel as indices of centroids. */
final class CentroidSteps {
  private final Matrices matrices;
  private final Operands operands;
  private final ScheduledBlocks scheduled;

  CentroidSteps(Matrices matrices, Operands operands, ScheduledBlocks scheduled) {
    this.matrices = matrices;
    this.operands = operands;
    this.scheduled = scheduled;
  }

  /**
   * The centroids as operands of the matrix engine: the nearest one has the largest {@code x c -
   * |c|² / 2}. The engine takes 10 bits of mantissa of tokens and 9 of centroids, so what it cuts
   * off is a matrix too, and the kernel adds the products with the rests of both operands. In a
   * model of bf16, vectors have no rest; these matrices and scores are f32 all the same.
   *
   * @param span the tiles of the features of a group, some of which may be of other groups: there,
   *     centroids are zeros
   */
  private record Book(
      long groups, long size, long width, long span, Matrix whole, Matrix rest, Matrix norms) {}

  Step nearest(Contraction.NearestCentroid nearest, Node node) {
    Matrix x = operands.required(node, 0);
    Optional<Tensor> data = Matrices.constant(node.operand(1));
    boolean isOfRows = x.columns() == Matrices.columns(node.operand(0).type());
    if (data.isEmpty() || !isOfRows) {
      throw ModelSteps.unsupported(node);
    }
    Book book = book(node, nearest.groups(), data.get());
    Matrix result = matrices.result(node.result());
    List<String> sizes =
        LongStream.of(x.tileColumns(), book.groups(), book.span(), book.width(), book.size())
            .mapToObj(Long::toString)
            .toList();
    List<Matrix> inputs = List.of(x, book.whole(), book.rest(), book.norms());
    return Step.ofRows(
        Kind.NEAREST_CENTROID,
        node,
        inputs,
        result,
        scheduled.wholeRows(node.result(), result),
        sizes);
  }

  /** The tiles of a group's features. */
  static long span(Step step) {
    return step.operands().get(1).tileRows() / step.operands().get(3).tileRows();
  }

  private Book book(Node node, long groups, Tensor data) {
    int size = Math.toIntExact(data.shape().extent(0) / groups);
    int width = Math.toIntExact(data.shape().extent(1));
    int span =
        Math.toIntExact(
            LongStream.range(0, groups)
                .map(group -> ((group + 1) * width - 1) / Matrix.TILE - firstTile(group, width) + 1)
                .max()
                .orElseThrow());
    int rows = span * Matrix.TILE;
    double[] whole = new double[Math.toIntExact(groups * rows * size)];
    double[] rest = new double[whole.length];
    double[] norms = new double[Math.toIntExact(groups * Matrix.TILE * size)];
    for (int group = 0; group < groups; group++) {
      long above = group * (long) width - firstTile(group, width) * Matrix.TILE;
      for (int k = 0; k < size; k++) {
        double norm = 0;
        for (int j = 0; j < width; j++) {
          double element = data.getDouble((group * size + k) * width + j);
          int place = Math.toIntExact(((long) group * rows + above + j) * size + k);
          whole[place] = element;
          rest[place] = element - KernelArithmetic.F32.inFactorA(element);
          norm += element * element;
        }
        for (int row = 0; row < Matrix.TILE; row++) {
          norms[(group * Matrix.TILE + row) * size + k] = -norm / 2;
        }
      }
    }
    String name = node.operand(1).name();
    return new Book(
        groups,
        size,
        width,
        span,
        matrices.constantOfF32(name + " columns", groups * rows, size, whole),
        matrices.constantOfF32(name + " rest", groups * rows, size, rest),
        matrices.constantOfF32(name + " norms", groups * Matrix.TILE, size, norms));
  }

  /** The first tile with features of a group. */
  private static long firstTile(long group, long width) {
    return group * width / Matrix.TILE;
  }
}
