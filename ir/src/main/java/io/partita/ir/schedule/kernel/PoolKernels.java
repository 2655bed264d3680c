package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ_SOME;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.schedule.kernel.Window.Span;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** The pooling kernels of {@code convolution.h}. */
final class PoolKernels {
  private static final KernelStruct MAX_POOL =
      KernelStruct.in("convolution.h", "max_pool")
          .pointers("x", "out", "indices")
          .struct("window", Window.STRUCT)
          .integers("planes")
          .build(
              all -> {
                pool(all);
                all.optional("indices", WRITE, Long.SIZE, places(all));
              },
              PoolKernels::pooled);

  private static final KernelStruct MEAN_POOL =
      KernelStruct.in("convolution.h", "mean_pool")
          .pointers("x", "out")
          .struct("window", Window.STRUCT)
          .integers("planes", "count_padding")
          .build(PoolKernels::pool, PoolKernels::pooled);

  private static void pool(Accesses all) {
    all.add("x", READ_SOME, all.bits(0), all.vector("planes", "window.height", "window.width"));
    all.add("out", WRITE, all.bits(0), places(all));
  }

  private static List<Step> places(Accesses all) {
    return all.vector("planes", "window.out_height", "window.out_width");
  }

  private static List<TileExpression> pooled(CallWork call) {
    return CallWork.lines(
        call.product("planes", "window.out_height"),
        call.get("window.out_width"),
        call.product("window.kernel_y", "window.kernel_x"));
  }

  private PoolKernels() {}

  static void add(KernelTable table) {
    List<ElementType> float32 = List.of(ElementType.F32);
    table.add(MEAN_POOL, "mean_pool_f32", KernelClass.REDUCTION, float32, PoolKernels::meanPool);
    table.add(
        MAX_POOL, "max_pool_f32", KernelClass.REDUCTION, float32, PoolKernels::maxPoolOfFloats);
    for (ElementType element : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
      table.add(
          MAX_POOL,
          "max_pool_" + element,
          KernelClass.REDUCTION,
          List.of(element),
          call -> maxPool(call, element));
    }
  }

  /** An element of the result: the first data under its window, and its number. */
  @FunctionalInterface
  private interface Pooled {
    void at(int plane, int top, int left, int place);
  }

  private static void pool(KernelArguments call, Window window, Pooled pooled) {
    int place = 0;
    for (int plane = 0; plane < call.get("planes"); plane++) {
      for (int y = 0; y < window.outHeight(); y++) {
        for (int x = 0; x < window.outWidth(); x++) {
          pooled.at(
              plane * window.plane(),
              y * window.strideY() - window.lowY(),
              x * window.strideX() - window.lowX(),
              place++);
        }
      }
    }
  }

  /** Visits the elements under a window in row-major order. */
  @FunctionalInterface
  private interface Under {
    void at(int element);
  }

  private static void under(Window window, int plane, int top, int left, Under under) {
    for (int ky = window.down().from(top); ky < window.down().to(top); ky++) {
      int line = plane + (top + ky * window.down().dilation()) * window.width() + left;
      for (int kx = window.across().from(left); kx < window.across().to(left); kx++) {
        under.at(line + kx * window.across().dilation());
      }
    }
  }

  private static void maxPoolOfFloats(KernelArguments call) {
    Window window = Window.of(call);
    float[] x = call.place("x").floats(call.get("planes") * window.plane());
    Place indices = call.place("indices");
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          int[] best = {-1};
          under(
              window,
              plane,
              top,
              left,
              at -> {
                boolean isBetter =
                    best[0] < 0
                        || x[at] > x[best[0]]
                        || Float.isNaN(x[at]) && !Float.isNaN(x[best[0]]);
                best[0] = isBetter ? at : best[0];
              });
          call.place("out").set(place, best[0] < 0 ? Float.NEGATIVE_INFINITY : x[best[0]]);
          if (indices != null) {
            indices.set(place, (long) best[0]);
          }
        });
  }

  private static void maxPool(KernelArguments call, ElementType element) {
    Window window = Window.of(call);
    long[] x = call.place("x").longs(element, call.get("planes") * window.plane());
    long[] results = new long[call.get("planes") * window.outHeight() * window.outWidth()];
    Place indices = call.place("indices");
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          int[] best = {-1};
          under(
              window,
              plane,
              top,
              left,
              at -> best[0] = best[0] < 0 || x[at] > x[best[0]] ? at : best[0]);
          results[place] = best[0] < 0 ? element.minimum() : x[best[0]];
          if (indices != null) {
            indices.set(place, (long) best[0]);
          }
        });
    call.place("out").write(element, results);
  }

  private static void meanPool(KernelArguments call) {
    Window window = Window.of(call);
    boolean countsPadding = call.get("count_padding") != 0;
    float[] x = call.place("x").floats(call.get("planes") * window.plane());
    pool(
        call,
        window,
        (plane, top, left, place) -> {
          float[] sum = new float[1];
          under(window, plane, top, left, at -> sum[0] += x[at]);
          int rows = counted(window.down(), top, window.lowY(), window.highY(), countsPadding);
          int columns =
              counted(window.across(), left, window.lowX(), window.highX(), countsPadding);
          call.place("out").set(place, sum[0] / (rows * columns));
        });
  }

  private static int counted(Span span, int origin, int low, int high, boolean padding) {
    Span counted =
        padding ? new Span(span.kernel(), span.dilation(), span.extent() + low + high) : span;
    int first = padding ? origin + low : origin;
    return counted.to(first) - counted.from(first);
  }
}
