package io.partita.ir.eval;

import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** The operations of networks without floating point, in 64 bits. */
final class IntegerNetworkKernels {
  private IntegerNetworkKernels() {}

  static Tensor evaluate(IntegerNetwork op, List<Tensor> operands, TensorType type) {
    Tensor x = operands.getFirst();
    return switch (op) {
      case IntegerNetwork.Requantize requantize -> requantize(requantize, operands, type);
      case IntegerNetwork.IntegerSoftmax softmax -> softmax(softmax, x);
      case IntegerNetwork.PowerSoftmax softmax -> powerSoftmax(softmax, x);
      case IntegerNetwork.IntegerNorm norm -> norm(norm, operands);
      case IntegerNetwork.IntegerGelu gelu -> gelu(gelu, x);
      case IntegerNetwork.Lookup lookup -> lookup(x, operands.get(1), type);
    };
  }

  private static Tensor requantize(
      IntegerNetwork.Requantize requantize, List<Tensor> operands, TensorType type) {
    long[] x = operands.get(0).longs();
    long[] multiplier = operands.get(1).longs();
    long[] addend = operands.get(2).longs();
    Lines lines = Lines.broadcast(type.shape(), operands.get(1).shape(), operands.get(2).shape());
    int multiplierStride = lines.stride(0);
    int addendStride = lines.stride(1);
    long half = (1L << requantize.shift()) / 2;
    long[] out = new long[x.length];
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            long scaled =
                x[position + i] * multiplier[offsets[0] + i * multiplierStride]
                    + addend[offsets[1] + i * addendStride]
                    + half;
            out[position + i] =
                Math.clamp(scaled >> requantize.shift(), requantize.low(), requantize.high());
          }
        });
    return Tensor.ofLongs(type, out);
  }

  private static Tensor softmax(IntegerNetwork.IntegerSoftmax softmax, Tensor x) {
    return byLine(x, row -> softmax(softmax, row));
  }

  private static void softmax(IntegerNetwork.IntegerSoftmax op, long[] row) {
    long largest = Arrays.stream(row).max().orElse(0);
    long sum = 0;
    for (int i = 0; i < row.length; i++) {
      long t = row[i] - largest;
      long z = Math.floorDiv(-t, op.log2());
      long p = t + z * op.log2();
      row[i] = shiftRight(op.a() * (p + op.b()) * (p + op.b()) + op.c(), z);
      sum += row[i];
    }
    for (int i = 0; i < row.length; i++) {
      long level = sum == 0 ? 0 : Math.floorDiv(row[i] * (op.levels() - 1), sum);
      row[i] = Math.clamp(level, 0, op.levels() - 1);
    }
  }

  /** Java takes shift distances modulo 64. */
  private static long shiftRight(long value, long distance) {
    return value >> Math.min(distance, 63);
  }

  private static Tensor powerSoftmax(IntegerNetwork.PowerSoftmax softmax, Tensor x) {
    return byLine(x, row -> powerSoftmax(softmax, row));
  }

  private static void powerSoftmax(IntegerNetwork.PowerSoftmax op, long[] row) {
    long levels = op.levels();
    boolean grouped = op.group() > 0;
    int group = grouped ? (int) Math.min(op.group(), row.length) : row.length;
    long largest = 0;
    long sum = 0;
    for (int from = 0; from < row.length; from += group) {
      int to = Math.min(row.length, from + group);
      long before = largest;
      long found = Arrays.stream(row, from, to).max().orElseThrow();
      largest = from == 0 ? found : Math.max(before, found);
      if (from > 0) {
        sum = shiftRight(sum, steps(largest - before, op.unit()));
      }
      for (int i = from; i < to; i++) {
        sum += shiftRight(levels, steps(largest - row[i], op.unit()));
      }
    }
    long top = grouped ? levels / 2 - 1 : levels - 1;
    for (int i = 0; i < row.length; i++) {
      long inverse = sum == 0 ? 0 : Math.floorDiv(top * levels, sum);
      row[i] = shiftRight(inverse, steps(largest - row[i], op.unit()));
    }
  }

  /** Returns the number of halvings for a distance to the maximum, rounded half up. */
  private static long steps(long distance, int unit) {
    return (distance + (1L << unit) / 2) >> unit;
  }

  private static Tensor norm(IntegerNetwork.IntegerNorm norm, List<Tensor> operands) {
    Tensor x = operands.getFirst();
    long[] weight = operands.get(1).longs();
    long[] bias = norm.kind() == NormKind.LAYER ? operands.get(2).longs() : new long[1];
    return byLine(x, row -> norm(norm, row, weight, bias));
  }

  private static void norm(IntegerNetwork.IntegerNorm op, long[] row, long[] weight, long[] bias) {
    long mean =
        switch (op.kind()) {
          case LAYER -> Arrays.stream(row).sum() / row.length;
          case RMS -> 0;
        };
    long squares = 0;
    for (int i = 0; i < row.length; i++) {
      row[i] -= mean;
      squares += row[i] * row[i];
    }
    long root = Math.max(1, squareRoot(squares / row.length + 1));
    for (int i = 0; i < row.length; i++) {
      long scaled = row[i] * weight[weight.length == 1 ? 0 : i] / root;
      long shifted = (scaled + bias[bias.length == 1 ? 0 : i]) >> op.shift();
      row[i] = Math.clamp(shifted, op.low(), op.high());
    }
  }

  /** The largest integer whose square fits a long. */
  private static final long MAX_ROOT = 3_037_000_499L;

  /** Returns the floor of the square root, by correcting that of a double; 0 after an overflow. */
  private static long squareRoot(long square) {
    long root = Math.min(MAX_ROOT, (long) Math.sqrt((double) Math.max(0, square)));
    while (root > 0 && root * root > square) {
      root--;
    }
    while (root < MAX_ROOT && (root + 1) * (root + 1) <= square) {
      root++;
    }
    return root;
  }

  private static Tensor gelu(IntegerNetwork.IntegerGelu gelu, Tensor x) {
    return byLine(
        x,
        row -> {
          for (int i = 0; i < row.length; i++) {
            long inside = Math.min(Math.abs(row[i]), -gelu.b()) + gelu.b();
            long error = Long.signum(row[i]) * (gelu.one() - inside * inside);
            row[i] = row[i] * ((gelu.one() + error) >> 1);
          }
        });
  }

  private static Tensor lookup(Tensor x, Tensor table, TensorType type) {
    int least = (int) x.element().minimum();
    RawElements entries = RawElements.of(table);
    RawElements out = RawElements.zeros(type.element(), x.size());
    for (int i = 0; i < x.size(); i++) {
      out.copyRun(entries, (int) x.getLong(i) - least, i, 1);
    }
    return out.toTensor(type);
  }

  /** Changes each line of the last axis in place. */
  private static Tensor byLine(Tensor x, Consumer<long[]> change) {
    int rank = x.shape().rank();
    int length = rank == 0 ? 1 : (int) x.shape().extent(rank - 1);
    long[] out = x.longs().clone();
    for (int from = 0; from < out.length; from += length) {
      long[] row = Arrays.copyOfRange(out, from, from + length);
      change.accept(row);
      System.arraycopy(row, 0, out, from, length);
    }
    return Tensor.ofLongs(x.type(), out);
  }
}
