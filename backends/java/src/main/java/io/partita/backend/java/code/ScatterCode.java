package io.partita.backend.java.code;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.Arrays;
import java.util.List;

/** Loops over indices from data. */
final class ScatterCode {
  private ScatterCode() {}

  /** The loop over index tuples: the offsets of the tuple and of its run of elements. */
  private static String tuple(StepCode code, int indices, int length, Shape data, int first) {
    long[] strides = data.strides();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      String index = "i * " + length + (i == 0 ? "" : " + " + i);
      String position =
          code.call(ScalarKernels.POSITION, code.load(indices, index), data.extent(first + i));
      text.append(i == 0 ? "" : " + ").append(position);
      if (strides[first + i] != 1) {
        text.append(" * ").append(strides[first + i]);
      }
    }
    return text.isEmpty() ? "0" : text.toString();
  }

  static void gatherNd(StepCode code, int batchDims) {
    Shape data = code.shape(0);
    Shape indices = code.shape(1);
    int length = (int) indices.fromEnd(0).value();
    long count = indices.range(0, indices.rank() - 1).elements();
    long run = data.range(batchDims + length, data.rank()).elements();
    if (count * run == 0) {
      return;
    }
    long tuples = count / indices.range(0, batchDims).elements();
    long batch = data.range(batchDims, data.rank()).elements();
    code.body.open(LoopNest.loop("i", count));
    String from = tuple(code, 1, length, data, batchDims);
    if (batchDims > 0) {
      from = "i / " + tuples + " * " + batch + " + " + from;
    }
    code.body.line(
        "System.arraycopy(%s, %s, %s, i * %s, %s)"
            .formatted(code.array(0), from, code.result(), run, run));
    code.body.close();
  }

  /** The loops over all indices, and the offset in the data for each. */
  private static String openElements(StepCode code, int axis) {
    Shape indices = code.shape(1);
    long[] strides = code.shape(0).strides();
    long step = strides[axis];
    for (int i = 0; i < indices.rank(); i++) {
      code.body.open(LoopNest.loop("i" + i, indices.extent(i)));
    }
    String at = LoopNest.index(0, Arrays.stream(indices.strides()).boxed().toList(), "i");
    code.body.line("int at = " + at);
    strides[axis] = 0;
    List<Long> others = Arrays.stream(strides).boxed().toList();
    String position =
        code.call(ScalarKernels.POSITION, code.load(1, "at"), code.shape(0).extent(axis));
    return LoopNest.index(0, others, "i") + " + " + position + " * " + step;
  }

  static void gatherElements(StepCode code, int axis) {
    Shape indices = code.shape(1);
    if (indices.elements() == 0) {
      return;
    }
    String from = openElements(code, axis);
    code.body.line("%s[at] = %s[%s]".formatted(code.result(), code.array(0), from));
    code.body.close(indices.rank());
  }

  private static void copyData(StepCode code) {
    code.body.line(
        "System.arraycopy(%s, 0, %s, 0, %s)"
            .formatted(code.array(0), code.result(), code.shape(0).elements()));
  }

  static void scatterElements(StepCode code, int axis, Combine reduction) {
    copyData(code);
    Shape indices = code.shape(1);
    if (indices.elements() == 0) {
      return;
    }
    String to = openElements(code, axis);
    if (reduction == Combine.REPLACE) {
      code.body.line("%s[%s] = %s[at]".formatted(code.result(), to, code.array(2)));
    } else {
      code.body.line("int to = " + to);
      join(code, reduction, "to", "at");
    }
    code.body.close(indices.rank());
  }

  static void scatterNd(StepCode code, Combine reduction) {
    copyData(code);
    Shape data = code.shape(0);
    Shape indices = code.shape(1);
    int length = (int) indices.fromEnd(0).value();
    long count = indices.range(0, indices.rank() - 1).elements();
    long run = data.range(length, data.rank()).elements();
    if (count * run == 0) {
      return;
    }
    code.body.open(LoopNest.loop("i", count));
    code.body.line("int to = " + tuple(code, 1, length, data, 0));
    if (reduction == Combine.REPLACE) {
      code.body.line(
          "System.arraycopy(%s, i * %s, %s, to, %s)"
              .formatted(code.array(2), run, code.result(), run));
    } else {
      code.body.open(LoopNest.loop("j", run));
      join(code, reduction, "to + j", "i * " + run + " + j");
      code.body.close();
    }
    code.body.close();
  }

  private static void join(StepCode code, Combine reduction, String to, String from) {
    ElementType element = code.element(0);
    String there = Elements.load(code.kernels, element, code.result() + "[" + to + "]");
    String update = code.load(2, from);
    BinaryFunction function = reduction.function().orElseThrow();
    code.store(to, code.expressions.binary(function, element, there, update));
  }
}
