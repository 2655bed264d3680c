package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Loops along axes. Float sums are kept in double and rounded once; integer ones in long. */
final class ReductionCode {
  private final StepCode code;
  private final Body body;
  private final ElementType element;

  private ReductionCode(StepCode code) {
    this.code = code;
    this.body = code.body;
    this.element = code.element(0);
  }

  static void emit(StepCode code, Reduction reduction) {
    ReductionCode printer = new ReductionCode(code);
    switch (reduction) {
      case Reduction.Reduce reduce -> printer.reduce(reduce);
      case Reduction.ArgReduce arg -> printer.argReduce(arg);
      case Reduction.Cumulative cumulative -> printer.cumulative(cumulative);
      case Reduction.TopK top -> printer.topK(top);
      case Reduction.Softmax softmax -> printer.softmax(softmax);
    }
  }

  private String carrier() {
    return element.isFloat() ? "double" : element == ElementType.BOOL ? "boolean" : "long";
  }

  /** The element type whose carrier accumulates sums. */
  private ElementType wide() {
    if (element.isFloat()) {
      return ElementType.F64;
    }
    return element == ElementType.U64 || element == ElementType.BOOL ? element : ElementType.I64;
  }

  private String identity(ReductionKind kind) {
    double identity = kind.identity();
    if (Double.isInfinite(identity)) {
      boolean isLowest = identity < 0;
      if (element.isFloat()) {
        return isLowest ? "Double.NEGATIVE_INFINITY" : "Double.POSITIVE_INFINITY";
      }
      return isLowest ? Elements.lowest(element) : Elements.highest(element);
    }
    return element == ElementType.BOOL
        ? Boolean.toString(identity != 0)
        : Long.toString((long) identity);
  }

  /** Converts a wide value to the result's carrier. */
  private String narrowed(String value) {
    String carrier = Elements.carrier(element);
    return carrier.equals(carrier()) ? value : "(" + carrier + ") (" + value + ")";
  }

  private void reduce(Reduction.Reduce reduce) {
    Shape shape = code.shape(0);
    long[] strides = shape.strides();
    List<Long> rows = new ArrayList<>();
    List<Long> rowStrides = new ArrayList<>();
    List<Long> line = new ArrayList<>();
    List<Long> lineStrides = new ArrayList<>();
    for (int axis = 0; axis < shape.rank(); axis++) {
      boolean reduced = reduce.axes().contains(axis);
      (reduced ? line : rows).add(shape.extent(axis));
      (reduced ? lineStrides : rowStrides).add(strides[axis]);
    }
    long[] rowExtents = longs(rows);
    LoopNest outer =
        LoopNest.of(
            rowExtents,
            List.of(
                LoopNest.Access.of(0, Shape.of(rowExtents).strides()),
                new LoopNest.Access(0, rowStrides)));
    LoopNest inner = LoopNest.of(longs(line), List.of(new LoopNest.Access(0, lineStrides)));
    if (outer.isEmpty()) {
      return;
    }
    outer.open(body, "i");
    body.open("");
    reduceLine(reduce.reduction(), outer, inner, line.stream().reduce(1L, (a, b) -> a * b));
    body.close(1 + outer.depth());
  }

  private static long[] longs(List<Long> list) {
    return list.stream().mapToLong(extent -> extent).toArray();
  }

  private void reduceLine(ReductionKind kind, LoopNest outer, LoopNest inner, long count) {
    body.line(carrier() + " sum = " + identity(kind));
    if (!inner.isEmpty()) {
      inner.open(body, "j");
      String at = outer.index(1, "i");
      String index = at.equals("0") ? inner.index(0, "j") : at + " + " + inner.index(0, "j");
      String value = code.load(0, index);
      body.line("sum = " + code.expressions.binary(kind.function(), wide(), "sum", value));
      body.close(inner.depth());
    }
    String result = "sum";
    if (kind == ReductionKind.MEAN) {
      result =
          element.isFloat()
              ? "sum / " + count + ".0"
              : code.expressions.binary(BinaryFunction.DIV, wide(), "sum", count + "L");
    }
    code.store(outer.index(0, "i"), narrowed(result));
  }

  /** Loops over the lines of {@code [outer, extent, inner]}; opens {@code int start}. */
  private long openLines(int axis, long resultExtent) {
    Shape shape = code.shape(0);
    long outer = shape.range(0, axis).elements();
    long inner = shape.range(axis + 1, shape.rank()).elements();
    long extent = shape.extent(axis);
    body.open(LoopNest.loop("line", outer * inner));
    body.line(start("start", inner, extent));
    if (resultExtent > 0) {
      body.line(start("to", inner, resultExtent));
    }
    return inner;
  }

  private static String start(String name, long inner, long extent) {
    return inner == 1
        ? "int %s = line * %s".formatted(name, extent)
        : "int %s = line / %s * %s + line %% %s".formatted(name, inner, extent * inner, inner);
  }

  private static String along(String start, String step, long inner) {
    return start + " + " + step + (inner == 1 ? "" : " * " + inner);
  }

  /**
   * A long with the order of the elements: a sort key for floats, shifted for unsigned integers.
   */
  private String key(String value) {
    if (element.isFloat()) {
      return code.call(ScalarKernels.SORT_KEY, value);
    }
    if (element == ElementType.BOOL) {
      return "(" + value + " ? 1 : 0)";
    }
    return element == ElementType.U64 ? value + " ^ Long.MIN_VALUE" : value;
  }

  private void argReduce(Reduction.ArgReduce arg) {
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    long extent = code.shape(0).extent(arg.axis());
    long inner = openLines(arg.axis(), 0);
    body.line("long best = 0");
    body.line("int place = 0");
    body.open(LoopNest.loop("i", extent));
    body.line("long key = " + key(code.load(0, along("start", "i", inner))));
    if (!arg.largest()) {
      // A NaN wins either way, as in NumPy.
      String nan = "0x7ff8000000000000L";
      body.line(element.isFloat() ? "key = key == " + nan + " ? key : ~key" : "key = ~key");
    }
    body.open("if (i == 0 || key " + (arg.selectLast() ? ">=" : ">") + " best)");
    body.line("best = key");
    body.line("place = i");
    body.close(2);
    body.line(code.result() + "[line] = place");
    body.close();
  }

  private void cumulative(Reduction.Cumulative cumulative) {
    long extent = code.shape(0).extent(cumulative.axis());
    if (code.shape(0).elements() == 0) {
      return;
    }
    long inner = openLines(cumulative.axis(), 0);
    body.line(carrier() + " sum = " + (cumulative.product() ? "1" : "0"));
    body.open(LoopNest.loop("i", extent));
    String step = cumulative.reverse() ? "(" + (extent - 1) + " - i)" : "i";
    body.line("int at = " + along("start", step, inner));
    if (cumulative.exclusive()) {
      code.store("at", narrowed("sum"));
    }
    body.line((cumulative.product() ? "sum *= " : "sum += ") + code.load(0, "at"));
    if (!cumulative.exclusive()) {
      code.store("at", narrowed("sum"));
    }
    body.close(2);
  }

  private void topK(Reduction.TopK top) {
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    long extent = code.shape(0).extent(top.axis());
    String order = code.scratch.take(Storage.LONGS, extent);
    String places = code.scratch.take(Storage.INTS, extent);
    long inner = openLines(top.axis(), top.k().value());
    body.open(LoopNest.loop("i", extent));
    String key = key(code.load(0, along("start", "i", inner)));
    body.line(order + "[i] = " + (top.largest() ? "~(" + key + ")" : key));
    body.close();
    body.line(code.call(SortKernels.SMALLEST, order, extent, top.k().value(), places));
    body.open(LoopNest.loop("i", top.k().value()));
    body.line("int at = " + along("to", "i", inner));
    body.line(code.result(1) + "[at] = " + places + "[i]");
    body.line(
        "%s[at] = %s[%s]"
            .formatted(code.result(), code.array(0), along("start", places + "[i]", inner)));
    body.close(2);
  }

  private void softmax(Reduction.Softmax softmax) {
    Shape shape = code.shape(0);
    if (shape.elements() == 0) {
      return;
    }
    String x = code.real(0);
    String y = code.realResult();
    body.line(
        code.call(
            BlockKernels.SOFTMAX,
            code.realVariant(),
            x,
            shape.range(0, softmax.axis()).elements(),
            shape.extent(softmax.axis()),
            shape.range(softmax.axis() + 1, shape.rank()).elements(),
            softmax.logarithm(),
            y));
    code.narrow(y);
  }
}
