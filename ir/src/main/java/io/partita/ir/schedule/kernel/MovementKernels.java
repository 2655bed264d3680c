package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ_SOME;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.eval.BinaryFunctions;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Kernels of {@code movement.h} and {@code scatter.h}. */
final class MovementKernels {
  /** A slice with steps skips elements, as does one of padding only. */
  private static final KernelStruct COPY =
      KernelStruct.in("movement.h", "copy")
          .pointers("x", "out")
          .axes("extents", "x_strides", "out_strides")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("x", READ_SOME, all.bits(0), all.steps("extents", "x_strides"));
                all.add("out", WRITE, all.bits(0), all.steps("extents", "out_strides"));
              },
              call -> call.walk("extents"));

  /** Types of data and indices. */
  private static final KernelStruct GATHER =
      KernelStruct.in("movement.h", "gather")
          .pointers("data", "indices", "out")
          .integers("outer", "extent", "inner", "count")
          .shared(KernelStruct.PARTS)
          .build(all -> gather(all, all.vector("count")), MovementKernels::gathered);

  private static final KernelStruct GATHER_ELEMENTS =
      KernelStruct.in("movement.h", "gather_elements")
          .pointers("data", "indices", "out")
          .integers("outer", "extent", "inner", "count")
          .shared(KernelStruct.PARTS)
          .build(
              all -> gather(all, all.vector("outer", "count", "inner")), MovementKernels::gathered);

  private static final KernelStruct SCATTER =
      KernelStruct.in("scatter.h", "scatter")
          .pointers("data", "indices", "updates", "out")
          .integers("outer", "extent", "inner", "count", "first", "whole", "rows")
          .shared(KernelStruct.PARTS)
          .build(
              MovementKernels::scatter,
              call ->
                  CallWork.lines(
                      call.get("outer").times(call.get("extent").plus(call.get("count"))),
                      call.get("inner"),
                      1));

  private static void gather(Accesses all, List<Step> indices) {
    all.add("data", READ_SOME, all.bits(0), all.vector("outer", "extent", "inner"));
    all.add("indices", READ, all.bits(1), indices);
    all.add("out", WRITE, all.bits(0), all.vector("outer", "count", "inner"));
  }

  private static List<TileExpression> gathered(CallWork call) {
    return CallWork.lines(call.product("outer", "count"), call.get("inner"), 1);
  }

  /** Without data, the result continues that of previous tiles. */
  private static void scatter(Accesses all) {
    List<Step> whole = all.vector("outer", "extent", "inner");
    List<Step> part = all.vector("outer", "count", "inner");
    all.optional("data", READ, all.bits(0), whole);
    all.add("indices", READ, all.bits(1), all.get("rows") != 0 ? all.vector("count") : part);
    all.add("updates", READ_SOME, all.bits(0), part);
    if (!all.has("data")) {
      all.add("out", READ, all.bits(0), whole);
    }
    all.add("out", WRITE, all.bits(0), whole);
  }

  /** Returns the type for moved elements of a width. */
  static ElementType element(int bits) {
    return switch (bits) {
      case 8 -> ElementType.I8;
      case 16 -> ElementType.I16;
      case 32 -> ElementType.I32;
      default -> ElementType.I64;
    };
  }

  private static void add(
      KernelTable table,
      KernelStruct struct,
      String name,
      List<ElementType> elements,
      Kernel.Meaning meaning) {
    table.add(struct, name, KernelClass.MOVEMENT, elements, meaning);
  }

  private static final int[] WIDTHS = {8, 16, 32, 64};

  private MovementKernels() {}

  static void add(KernelTable table) {
    for (int bits : WIDTHS) {
      int bytes = bits / Byte.SIZE;
      ElementType moved = element(bits);
      List<ElementType> placed = List.of(moved, ElementType.I64);
      add(table, COPY, "copy_" + bits, List.of(moved), call -> copy(call, bytes));
      for (ElementType index : List.of(ElementType.I32, ElementType.I64)) {
        add(
            table,
            GATHER,
            "gather_" + bits + "_" + index.text(),
            List.of(moved, index),
            call -> gather(call, bytes, index));
      }
      add(
          table,
          GATHER_ELEMENTS,
          "gather_elements_" + bits,
          placed,
          call -> gatherElements(call, bytes));
      add(table, SCATTER, "scatter_" + bits, placed, call -> scatter(call, bytes, replace(bytes)));
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
        add(
            table,
            SCATTER,
            name,
            List.of(element, ElementType.I64),
            call -> scatter(call, bytes, join));
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

  /** Returns the beginning of a line of data; -1 if it is out of range. */
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

  /** Combines element {@code to} of {@code out} with element {@code from} of an update. */
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
