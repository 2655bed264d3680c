package io.partita.ir.eval;

import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Normalisation by statistics of the innermost dimensions; in double, rounded once. */
final class NormKernels {
  private NormKernels() {}

  static Tensor norm(Structured.Norm norm, List<Tensor> operands) {
    Tensor x = operands.getFirst();
    Shape inner = x.shape().range(norm.axis(), x.shape().rank());
    int size = Math.toIntExact(inner.elements());
    int rows = size == 0 ? 0 : x.size() / size;
    double[] scale = norm.scale() ? expanded(operands.get(1), inner) : null;
    double[] bias = norm.bias() ? expanded(operands.getLast(), inner) : null;
    boolean narrow = x.element() == ElementType.F32;
    float[] floats = narrow ? x.floats() : null;
    double[] doubles = narrow ? null : x.doubles();
    float[] floatsOut = narrow ? new float[x.size()] : null;
    double[] doublesOut = narrow ? null : new double[x.size()];
    ParallelTasks.run(
        rows,
        4L * x.size(),
        row -> {
          double[] line = new double[size];
          for (int i = 0; i < size; i++) {
            line[i] = narrow ? floats[row * size + i] : doubles[row * size + i];
          }
          normalise(norm.kind(), norm.epsilon(), line);
          for (int i = 0; i < size; i++) {
            double value = line[i];
            value = scale == null ? value : value * scale[i];
            value = bias == null ? value : value + bias[i];
            if (narrow) {
              floatsOut[row * size + i] = (float) value;
            } else {
              doublesOut[row * size + i] = value;
            }
          }
        });
    return narrow ? Tensor.of(x.type(), floatsOut) : Tensor.ofDoubles(x.type(), doublesOut);
  }

  private static double[] expanded(Tensor parameter, Shape inner) {
    TensorType type = parameter.type().with(inner);
    return MovementKernels.broadcast(parameter, type).doubles();
  }

  private static void normalise(NormKind kind, double epsilon, double[] line) {
    double mean =
        switch (kind) {
          case LAYER -> sum(line) / line.length;
          case RMS -> 0;
        };
    double squares = 0;
    for (int i = 0; i < line.length; i++) {
      line[i] -= mean;
      squares += line[i] * line[i];
    }
    double root = Math.sqrt(squares / line.length + epsilon);
    for (int i = 0; i < line.length; i++) {
      line[i] /= root;
    }
  }

  private static double sum(double[] line) {
    double sum = 0;
    for (double value : line) {
      sum += value;
    }
    return sum;
  }
}
