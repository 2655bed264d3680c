package io.partita.ir.eval;

import io.partita.ir.op.IntegerAttention;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Attention of integers, as {@link IntegerAttention} defines it. */
final class IntegerAttentionKernel {
  private final AttentionMask mask;
  private final float inverseScale;
  private final float unit;
  private final float valueScale;
  private final byte[] q;
  private final byte[] k;
  private final byte[] v;
  private final int heads;
  private final int kvHeads;
  private final int seq;
  private final int keys;
  private final int size;
  private final int valueSize;
  private final float[] result;

  private IntegerAttentionKernel(Structured.Attention op, List<Tensor> operands, TensorType type) {
    mask = new AttentionMask(op, operands);
    inverseScale = IntegerAttention.inverse(op.scale());
    unit = IntegerAttention.unit(op.scale());
    valueScale = (float) op.valueScale();
    q = bytes(operands.get(0));
    k = bytes(operands.get(1));
    v = bytes(operands.get(2));
    heads = (int) operands.get(0).shape().extent(1);
    kvHeads = (int) operands.get(1).shape().extent(1);
    seq = (int) operands.get(0).shape().extent(2);
    keys = (int) operands.get(1).shape().extent(2);
    size = (int) operands.get(0).shape().extent(3);
    valueSize = (int) operands.get(2).shape().extent(3);
    result = new float[(int) type.shape().elements()];
  }

  private static byte[] bytes(Tensor tensor) {
    return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
  }

  static Tensor attention(Structured.Attention op, List<Tensor> operands, TensorType type) {
    IntegerAttentionKernel attention = new IntegerAttentionKernel(op, operands, type);
    if (attention.result.length > 0) {
      int lines = attention.result.length / attention.valueSize;
      long steps = (long) attention.keys * (attention.q.length + attention.result.length);
      ParallelTasks.run(lines, steps, attention::line);
    }
    return Tensor.of(type, attention.result);
  }

  /** Computes the result of a query of a head of a batch element. */
  private void line(int line) {
    int batch = line / seq / heads;
    int head = line / seq % heads;
    int kvLine = (batch * kvHeads + head / (heads / kvHeads)) * keys;
    int[] scores = new int[mask.validKeys(batch)];
    boolean[] seen = new boolean[scores.length];
    int largest = Integer.MIN_VALUE;
    for (int key = 0; key < scores.length; key++) {
      double added = mask.added(batch, head, line % seq, key);
      seen[key] = added != Double.NEGATIVE_INFINITY;
      if (seen[key]) {
        scores[key] =
            product(line * size, (kvLine + key) * size)
                + IntegerAttention.addend((float) added, inverseScale);
        largest = Math.max(largest, scores[key]);
      }
    }
    int total = 0;
    int[] sums = new int[valueSize];
    for (int key = 0; key < scores.length; key++) {
      int weight = seen[key] ? IntegerAttention.weight(largest - scores[key], unit) : 0;
      total += weight;
      for (int i = 0; i < valueSize; i++) {
        sums[i] += weight * v[(kvLine + key) * valueSize + i];
      }
    }
    float scale = total == 0 ? 0 : valueScale / total;
    for (int i = 0; i < valueSize; i++) {
      result[line * valueSize + i] = sums[i] * scale;
    }
  }

  private int product(int query, int key) {
    int sum = 0;
    for (int i = 0; i < size; i++) {
      sum += q[query + i] * k[key + i];
    }
    return sum;
  }
}
