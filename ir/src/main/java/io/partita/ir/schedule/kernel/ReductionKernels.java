package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Kernels of {@code reduction.h}. Sums of floats are rounded after each addition, in C's order. */
final class ReductionKernels {
  private static final KernelStruct REDUCE =
      KernelStruct.in("reduction.h", "reduce")
          .pointers("x", "out")
          .axes("extents", "strides", "joined_extents", "joined_strides")
          .build(
              all -> {
                List<Step> read = new ArrayList<>(all.steps("extents", "strides"));
                read.addAll(all.steps("joined_extents", "joined_strides"));
                all.add("x", READ, all.bits(0), read);
                all.add("out", WRITE, all.bits(0), contiguous(all.product("extents")));
              },
              call ->
                  CallWork.lines(
                      call.extent("extents"), call.extent("joined_extents"), TileExpression.of(1)));

  private static final KernelStruct CUMULATIVE =
      KernelStruct.in("reduction.h", "cumulative")
          .pointers("x", "out")
          .integers("outer", "extent", "inner", "exclusive", "reverse")
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("outer", "extent", "inner"));
                all.add("out", WRITE, all.bits(0), all.vector("outer", "extent", "inner"));
              },
              call -> lines(call, 1));

  private static final KernelStruct ARG_REDUCE =
      KernelStruct.in("reduction.h", "arg_reduce")
          .pointers("x", "out")
          .integers("outer", "extent", "inner", "select_last")
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("outer", "extent", "inner"));
                all.add("out", WRITE, Long.SIZE, all.vector("outer", "inner"));
              },
              call -> lines(call, 1));

  private static final KernelStruct TOP_K =
      KernelStruct.in("reduction.h", "top_k")
          .pointers("x", "values", "indices")
          .integers("outer", "extent", "inner", "k", "largest")
          .requires(
              "0 <= k <= extent", call -> call.get("k") >= 0 && call.get("k") <= call.get("extent"))
          .build(
              all -> {
                all.add("x", READ, all.bits(0), all.vector("outer", "extent", "inner"));
                all.add("values", WRITE, all.bits(0), all.vector("outer", "k", "inner"));
                all.add("indices", WRITE, Long.SIZE, all.vector("outer", "k", "inner"));
              },
              call -> lines(call, 64 - Long.numberOfLeadingZeros(Math.max(1, call.constant("k")))));

  private static List<TileExpression> lines(CallWork call, long passes) {
    return CallWork.lines(call.product("outer", "inner"), call.get("extent"), passes);
  }

  private static final List<ElementType> INTEGERS =
      List.of(ElementType.I8, ElementType.I32, ElementType.I64, ElementType.U64);
  private static final List<ElementType> FLOATS = List.of(ElementType.F32, ElementType.F64);

  private ReductionKernels() {}

  static void add(KernelTable table) {
    for (ElementType element : FLOATS) {
      reduceFloats(table, "sum", element, 0, Double::sum, false);
      reduceFloats(table, "mean", element, 0, Double::sum, true);
      reduceFloats(table, "product", element, 1, (x, y) -> x * y, false);
      reduceFloats(table, "max", element, Double.NEGATIVE_INFINITY, Math::max, false);
      reduceFloats(table, "min", element, Double.POSITIVE_INFINITY, Math::min, false);
      cumulateFloats(table, "sum", element, 0, Double::sum);
      cumulateFloats(table, "product", element, 1, (x, y) -> x * y);
      order(table, element);
    }
    for (ElementType element : INTEGERS) {
      boolean isUnsigned = element == ElementType.U64;
      reduceIntegers(table, "sum", element, 0, Long::sum, false);
      reduceIntegers(table, "mean", element, 0, Long::sum, true);
      reduceIntegers(table, "product", element, 1, (x, y) -> x * y, false);
      reduceIntegers(table, "max", element, element.minimum(), larger(isUnsigned), false);
      reduceIntegers(table, "min", element, element.maximum(), smaller(isUnsigned), false);
      order(table, element);
    }
    for (ElementType element : List.of(ElementType.I32, ElementType.I64)) {
      cumulateIntegers(table, "sum", element, 0, Long::sum);
      cumulateIntegers(table, "product", element, 1, (x, y) -> x * y);
    }
  }

  private static LongBinaryOperator larger(boolean isUnsigned) {
    return isUnsigned ? (x, y) -> Long.compareUnsigned(x, y) >= 0 ? x : y : Math::max;
  }

  private static LongBinaryOperator smaller(boolean isUnsigned) {
    return isUnsigned ? (x, y) -> Long.compareUnsigned(x, y) <= 0 ? x : y : Math::min;
  }

  private static int[] joined(int[] first, int[] second) {
    int[] both = java.util.Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static double round(ElementType element, double value) {
    return element == ElementType.F32 ? (float) value : value;
  }

  private static void reduceFloats(
      KernelTable table,
      String name,
      ElementType element,
      double first,
      DoubleBinaryOperator join,
      boolean isMean) {
    table.add(
        REDUCE,
        "reduce_" + name + "_" + element.text(),
        KernelClass.REDUCTION,
        List.of(element),
        call -> {
          double[] x =
              call.place("x")
                  .doubles(
                      element,
                      joined(call.integers("extents"), call.integers("joined_extents")),
                      joined(call.integers("strides"), call.integers("joined_strides")));
          int count = Grid.elements(call.integers("joined_extents"));
          double[] results = new double[Grid.elements(call.integers("extents"))];
          for (int i = 0; i < results.length; i++) {
            double sum = first;
            for (int j = 0; j < count; j++) {
              sum = round(element, join.applyAsDouble(sum, x[i * count + j]));
            }
            results[i] = isMean ? sum / round(element, count) : sum;
          }
          call.place("out").write(element, results);
        });
  }

  private static void reduceIntegers(
      KernelTable table,
      String name,
      ElementType element,
      long first,
      LongBinaryOperator join,
      boolean isMean) {
    table.add(
        REDUCE,
        "reduce_" + name + "_" + element.text(),
        KernelClass.REDUCTION,
        List.of(element),
        call -> {
          long[] x =
              call.place("x")
                  .longs(
                      element,
                      joined(call.integers("extents"), call.integers("joined_extents")),
                      joined(call.integers("strides"), call.integers("joined_strides")));
          int count = Grid.elements(call.integers("joined_extents"));
          long[] results = new long[Grid.elements(call.integers("extents"))];
          for (int i = 0; i < results.length; i++) {
            long sum = first;
            for (int j = 0; j < count; j++) {
              sum = join.applyAsLong(sum, x[i * count + j]);
            }
            results[i] = isMean ? mean(element, sum, count) : sum;
          }
          call.place("out").write(element, results);
        });
  }

  private static long mean(ElementType element, long sum, int count) {
    if (count == 0) {
      return 0;
    }
    return element == ElementType.U64 ? Long.divideUnsigned(sum, count) : sum / count;
  }

  /** Reads the elements of a line along an axis. */
  private record Lines(int outer, int extent, int inner) {
    static Lines of(KernelArguments call) {
      return new Lines(call.get("outer"), call.get("extent"), call.get("inner"));
    }

    int count() {
      return outer * inner;
    }

    int elements() {
      return outer * extent * inner;
    }

    /** Returns the beginning of a line in a tensor with a given extent of the axis. */
    int start(int line, int places) {
      return line / inner * places * inner + line % inner;
    }
  }

  private static void cumulateFloats(
      KernelTable table,
      String name,
      ElementType element,
      double first,
      DoubleBinaryOperator join) {
    table.add(
        CUMULATIVE,
        "cumulative_" + name + "_" + element.text(),
        KernelClass.REDUCTION,
        List.of(element),
        call -> {
          Lines lines = Lines.of(call);
          boolean isReverse = call.get("reverse") != 0;
          boolean isExclusive = call.get("exclusive") != 0;
          double[] values = call.place("x").doubles(element, lines.elements());
          for (int line = 0; line < lines.count(); line++) {
            double sum = first;
            for (int i = 0; i < lines.extent; i++) {
              int index = isReverse ? lines.extent - 1 - i : i;
              int at = lines.start(line, lines.extent) + index * lines.inner;
              double before = sum;
              sum = round(element, join.applyAsDouble(sum, values[at]));
              values[at] = isExclusive ? before : sum;
            }
          }
          call.place("out").write(element, values);
        });
  }

  private static void cumulateIntegers(
      KernelTable table, String name, ElementType element, long first, LongBinaryOperator join) {
    table.add(
        CUMULATIVE,
        "cumulative_" + name + "_" + element.text(),
        KernelClass.REDUCTION,
        List.of(element),
        call -> {
          Lines lines = Lines.of(call);
          boolean isReverse = call.get("reverse") != 0;
          boolean isExclusive = call.get("exclusive") != 0;
          long[] values = call.place("x").longs(element, lines.elements());
          for (int line = 0; line < lines.count(); line++) {
            long sum = first;
            for (int i = 0; i < lines.extent; i++) {
              int index = isReverse ? lines.extent - 1 - i : i;
              int at = lines.start(line, lines.extent) + index * lines.inner;
              long before = sum;
              sum = join.applyAsLong(sum, values[at]);
              values[at] = isExclusive ? before : sum;
            }
          }
          call.place("out").write(element, values);
        });
  }

  /** The order of the elements of lines. */
  private interface Elements {
    /** Whether element {@code x} is larger than {@code y}; NaN is neither. */
    boolean isLarger(int x, int y);

    boolean isNan(int x);

    /** Writes the chosen elements. */
    void write(Place out, int[] chosen);

    default boolean isEqual(int x, int y) {
      return isNan(x) ? isNan(y) : !isNan(y) && !isLarger(x, y) && !isLarger(y, x);
    }
  }

  private record Floats(ElementType element, double[] values) implements Elements {
    @Override
    public boolean isLarger(int x, int y) {
      return values[x] > values[y];
    }

    @Override
    public boolean isNan(int x) {
      return Double.isNaN(values[x]);
    }

    @Override
    public void write(Place out, int[] chosen) {
      double[] results = new double[chosen.length];
      java.util.Arrays.setAll(results, i -> values[chosen[i]]);
      out.write(element, results);
    }
  }

  private record Integers(ElementType element, long[] values) implements Elements {
    @Override
    public boolean isLarger(int x, int y) {
      return element == ElementType.U64
          ? Long.compareUnsigned(values[x], values[y]) > 0
          : values[x] > values[y];
    }

    @Override
    public boolean isNan(int x) {
      return false;
    }

    @Override
    public void write(Place out, int[] chosen) {
      long[] results = new long[chosen.length];
      java.util.Arrays.setAll(results, i -> values[chosen[i]]);
      out.write(element, results);
    }
  }

  private static Elements elements(KernelArguments call, ElementType element, int count) {
    return element.isFloat()
        ? new Floats(element, call.place("x").doubles(element, count))
        : new Integers(element, call.place("x").longs(element, count));
  }

  private static void order(KernelTable table, ElementType element) {
    for (boolean isLargest : new boolean[] {true, false}) {
      table.add(
          ARG_REDUCE,
          "arg_" + (isLargest ? "max_" : "min_") + element.text(),
          KernelClass.REDUCTION,
          List.of(element),
          call -> argReduce(call, element, isLargest));
    }
    table.add(
        TOP_K,
        "top_k_" + element.text(),
        KernelClass.REDUCTION,
        List.of(element),
        call -> topK(call, element));
  }

  /** NaN is both the largest and the smallest. */
  private static void argReduce(KernelArguments call, ElementType element, boolean isLargest) {
    Lines lines = Lines.of(call);
    boolean selectsLast = call.get("select_last") != 0;
    Elements x = elements(call, element, lines.elements());
    long[] results = new long[lines.count()];
    for (int line = 0; line < results.length; line++) {
      int start = lines.start(line, lines.extent);
      int best = start;
      for (int i = 1; i < lines.extent; i++) {
        int at = start + i * lines.inner;
        boolean isBetter =
            x.isNan(at)
                ? !x.isNan(best)
                : !x.isNan(best) && (isLargest ? x.isLarger(at, best) : x.isLarger(best, at));
        if (isBetter || selectsLast && x.isEqual(at, best)) {
          best = at;
          results[line] = i;
        }
      }
    }
    call.place("out").write(ElementType.I64, results);
  }

  /** NaN is larger than all others; the order of equal elements is kept. */
  private static void topK(KernelArguments call, ElementType element) {
    Lines lines = Lines.of(call);
    int k = call.get("k");
    boolean isLargest = call.get("largest") != 0;
    Elements x = elements(call, element, lines.elements());
    int[] chosen = new int[lines.outer * k * lines.inner];
    long[] indices = new long[chosen.length];
    for (int line = 0; line < lines.count() && k > 0; line++) {
      int start = lines.start(line, lines.extent);
      int out = lines.start(line, k);
      int count = 0;
      for (int i = 0; i < lines.extent; i++) {
        int at = start + i * lines.inner;
        if (count == k && !isBefore(x, at, chosen[out + (k - 1) * lines.inner], isLargest)) {
          continue;
        }
        count = Math.min(k, count + 1);
        int place = count - 1;
        while (place > 0 && isBefore(x, at, chosen[out + (place - 1) * lines.inner], isLargest)) {
          chosen[out + place * lines.inner] = chosen[out + (place - 1) * lines.inner];
          indices[out + place * lines.inner] = indices[out + (place - 1) * lines.inner];
          place--;
        }
        chosen[out + place * lines.inner] = at;
        indices[out + place * lines.inner] = i;
      }
    }
    x.write(call.place("values"), chosen);
    call.place("indices").write(ElementType.I64, indices);
  }

  private static boolean isBefore(Elements x, int first, int second, boolean isLargest) {
    return isLargest
        ? x.isLarger(first, second) || x.isNan(first) && !x.isNan(second)
        : x.isLarger(second, first) || x.isNan(second) && !x.isNan(first);
  }
}
