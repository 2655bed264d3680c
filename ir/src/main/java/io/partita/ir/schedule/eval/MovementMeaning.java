package io.partita.ir.schedule.eval;

import io.partita.ir.eval.BinaryFunctions;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Kernels of {@code movement.h} and {@code scatter.h}. */
final class MovementMeaning {
  private static final int[] WIDTHS = {8, 16, 32, 64};

  private MovementMeaning() {}

  static void add(KernelTable table) {
    for (int bits : WIDTHS) {
      int bytes = bits / Byte.SIZE;
      table.add("copy_" + bits, "copy", call -> copy(call, bytes));
      for (ElementType index : List.of(ElementType.I32, ElementType.I64)) {
        table.add(
            "gather_" + bits + "_" + index.text(), "gather", call -> gather(call, bytes, index));
      }
      table.add("gather_elements_" + bits, "gather_elements", call -> gatherElements(call, bytes));
      table.add("scatter_" + bits, "scatter", call -> scatter(call, bytes, replace(bytes)));
    }
    for (BinaryFunction function :
        List.of(BinaryFunction.ADD, BinaryFunction.MUL, BinaryFunction.MIN, BinaryFunction.MAX)) {
      for (ElementType element : List.of(ElementType.F32, ElementType.I32, ElementType.I64)) {
        String name = "scatter_" + function.text() + "_" + element.text();
        int bytes = element.bits() / Byte.SIZE;
        Update join =
            element == ElementType.F32
                ? joinFloats(BinaryFunctions.ofDouble(function))
                : joinIntegers(element, BinaryFunctions.ofLong(function, element));
        table.add(name, "scatter", call -> scatter(call, bytes, join));
      }
    }
  }

  private static void copy(KernelArguments call, int bytes) {
    Place x = call.place("x");
    Place out = call.place("out");
    Grid.lines(
        call.integers("extents"),
        call.integers("x_strides"),
        call.integers("out_strides"),
        (from, fromStride, to, toStride, count) ->
            out.copy(bytes, to, toStride, x, from, fromStride, count));
  }

  /** Where a line of data begins; -1 for one that is out of range. */
  private static long inside(long index, int extent) {
    long place = index < 0 ? index + extent : index;
    return place >= 0 && place < extent ? place : -1;
  }

  private static void gather(KernelArguments call, int bytes, ElementType element) {
    int count = call.get("count");
    int extent = call.get("extent");
    int inner = call.get("inner");
    Place data = call.place("data");
    Place out = call.place("out");
    long[] indices = call.place("indices").longs(element, count);
    for (int outer = 0; outer < call.get("outer"); outer++) {
      for (int i = 0; i < count; i++) {
        int to = (outer * count + i) * inner;
        int index = (int) inside(indices[i], extent);
        if (index < 0) {
          out.clear(to * bytes, inner * bytes);
        } else {
          out.copy(bytes, to, 1, data, (outer * extent + index) * inner, 1, inner);
        }
      }
    }
  }

  private static void gatherElements(KernelArguments call, int bytes) {
    int outer = call.get("outer");
    int count = call.get("count");
    int extent = call.get("extent");
    int inner = call.get("inner");
    Place data = call.place("data");
    Place out = call.place("out");
    long[] indices = call.place("indices").longs(ElementType.I64, outer * count * inner);
    for (int to = 0; to < indices.length; to++) {
      int index = (int) inside(indices[to], extent);
      if (index < 0) {
        out.clear(to * bytes, bytes);
      } else {
        int from = (to / inner / count * extent + index) * inner + to % inner;
        out.copy(bytes, to, 1, data, from, 1, 1);
      }
    }
  }

  /** What becomes of element {@code to} of {@code out} by element {@code from} of an update. */
  @FunctionalInterface
  private interface Update {
    void apply(Place out, int to, Place updates, int from);
  }

  private static Update replace(int bytes) {
    return (out, to, updates, from) -> out.copy(bytes, to, 1, updates, from, 1, 1);
  }

  private static Update joinFloats(DoubleBinaryOperator operator) {
    return (out, to, updates, from) ->
        out.set(to, (float) operator.applyAsDouble(out.floatAt(to), updates.floatAt(from)));
  }

  private static Update joinIntegers(ElementType element, LongBinaryOperator operator) {
    return (out, to, updates, from) -> {
      long[] values = new long[2];
      out.read(element, to, 1, values, 0, 1);
      updates.read(element, from, 1, values, 1, 1);
      values[0] = operator.applyAsLong(values[0], values[1]);
      out.write(element, to, 1, values, 0, 1);
    };
  }

  private static void scatter(KernelArguments call, int bytes, Update update) {
    int outer = call.get("outer");
    int count = call.get("count");
    int extent = call.get("extent");
    int inner = call.get("inner");
    long first = call.get("first");
    long whole = call.get("whole");
    boolean isByRow = call.get("rows") != 0;
    Place data = call.place("data");
    Place out = call.place("out");
    Place updates = call.place("updates");
    long[] indices =
        call.place("indices").longs(ElementType.I64, isByRow ? count : outer * count * inner);
    if (data != null) {
      out.copy(bytes, 0, 1, data, 0, 1, outer * extent * inner);
    }
    for (int o = 0; o < outer; o++) {
      for (int i = 0; i < count; i++) {
        for (int j = 0; j < inner; j++) {
          int from = (o * count + i) * inner + j;
          long index = indices[isByRow ? i : from];
          long to = index + (index < 0 ? whole : 0) - first;
          if (to >= 0 && to < extent) {
            update.apply(out, (o * extent + (int) to) * inner + j, updates, from);
          }
        }
      }
    }
  }
}
