package io.partita.ir.eval;

import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Scaled dot-product attention over heads, and the rotation of its features by position. */
final class AttentionKernels {
  /** The number of queries whose scores are kept at a time. */
  private static final int BLOCK = 64;

  private final Structured.Attention op;
  private final Tensor q;
  private final Tensor k;
  private final Tensor v;
  private final AttentionMask mask;
  private final int heads;
  private final int kvHeads;
  private final int seq;
  private final int keys;
  private final ElementType scoreElement;

  private AttentionKernels(Structured.Attention op, List<Tensor> operands) {
    this.op = op;
    this.q = operands.get(0);
    this.k = operands.get(1);
    this.v = operands.get(2);
    this.mask = new AttentionMask(op, operands);
    this.heads = (int) q.shape().extent(1);
    this.kvHeads = (int) k.shape().extent(1);
    this.seq = (int) q.shape().extent(2);
    this.keys = (int) k.shape().extent(2);
    this.scoreElement = q.element() == ElementType.F64 ? ElementType.F64 : ElementType.F32;
  }

  static Tensor attention(Structured.Attention op, List<Tensor> operands, TensorType type) {
    MatrixKernels.Product product = new MatrixKernels.Product(type);
    if (type.shape().elements() == 0) {
      return product.tensor();
    }
    AttentionKernels attention = new AttentionKernels(op, operands);
    int blocks = (attention.seq + BLOCK - 1) / BLOCK;
    int tasks = (int) attention.q.shape().extent(0) * attention.heads * blocks;
    long steps = (long) attention.keys * (attention.q.size() + type.shape().elements());
    ParallelTasks.run(
        tasks, steps, task -> attention.block(task / blocks, task % blocks * BLOCK, product));
    return product.tensor();
  }

  /** Computes queries of one head of one batch element, beginning with {@code first}. */
  private void block(int head, int first, MatrixKernels.Product result) {
    int batch = head / heads;
    int kvHead = batch * kvHeads + head % heads / (heads / kvHeads);
    int rows = Math.min(BLOCK, seq - first);
    int size = (int) q.shape().extent(3);
    int valueSize = (int) v.shape().extent(3);
    // Invalid keys aren't even multiplied by zero, because they may have any value.
    int valid = mask.validKeys(batch);
    MatrixKernels.Product scores =
        new MatrixKernels.Product(new TensorType(scoreElement, Shape.of(rows, valid)));
    scores.multiply(
        new Matrix(q, ((long) head * seq + first) * size, rows, size, false),
        new Matrix(k, (long) kvHead * keys * size, size, valid, true),
        0);
    Tensor weights = weights(scores.tensor(), batch, head % heads, first);
    result.multiply(
        new Matrix(weights, 0, rows, valid, false),
        new Matrix(v, (long) kvHead * keys * valueSize, valid, valueSize, false),
        (head * seq + first) * valueSize);
  }

  private Tensor weights(Tensor scores, int batch, int head, int first) {
    int rows = (int) scores.shape().extent(0);
    int valid = (int) scores.shape().extent(1);
    double[] weights = scores.doubles().clone();
    double[] row = new double[valid];
    for (int i = 0; i < rows; i++) {
      System.arraycopy(weights, i * valid, row, 0, valid);
      score(row, batch, head, first + i);
      normalise(row);
      System.arraycopy(row, 0, weights, i * valid, valid);
    }
    return Tensor.ofDoubles(scores.type(), weights);
  }

  /** Computes masked scores from dot products; -∞ for hidden keys. */
  private void score(double[] row, int batch, int head, int query) {
    for (int key = 0; key < row.length; key++) {
      double added = mask.added(batch, head, query, key);
      if (added == Double.NEGATIVE_INFINITY) {
        row[key] = added;
        continue;
      }
      double score = row[key] * op.scale();
      if (op.softCap() > 0) {
        score = op.softCap() * Math.tanh(score / op.softCap());
      }
      row[key] = score + added;
    }
  }

  /** Computes the softmax in place; zeros if all keys are hidden. */
  private static void normalise(double[] row) {
    double largest = Double.NEGATIVE_INFINITY;
    for (double score : row) {
      largest = Math.max(largest, score);
    }
    double sum = 0;
    for (int i = 0; i < row.length; i++) {
      row[i] = largest == Double.NEGATIVE_INFINITY ? 0 : Math.exp(row[i] - largest);
      sum += row[i];
    }
    for (int i = 0; i < row.length && sum != 0; i++) {
      row[i] /= sum;
    }
  }

  static Tensor rotary(boolean interleaved, Tensor x, Tensor cosines, Tensor sines) {
    int heads = (int) x.shape().extent(1);
    int seq = (int) x.shape().extent(2);
    int size = (int) x.shape().extent(3);
    int half = (int) cosines.shape().extent(2);
    boolean oneBatch = cosines.shape().extent(0) == 1;
    double[] out = x.doubles().clone();
    double[] c = cosines.doubles();
    double[] s = sines.doubles();
    int vectors = size == 0 ? 0 : out.length / size;
    for (int vector = 0; vector < vectors; vector++) {
      int batch = oneBatch ? 0 : vector / seq / heads;
      int angle = (batch * seq + vector % seq) * half;
      for (int i = 0; i < half; i++) {
        int first = vector * size + (interleaved ? 2 * i : i);
        int second = first + (interleaved ? 1 : half);
        double a = out[first];
        double b = out[second];
        out[first] = a * c[angle + i] - b * s[angle + i];
        out[second] = b * c[angle + i] + a * s[angle + i];
      }
    }
    return Tensor.ofDoubles(x.type(), out);
  }
}
