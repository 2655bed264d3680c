package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Kernels of {@code integer_network.h}, in 64 bits that wrap. */
public final class IntegerNetworkKernels {
  private static final KernelStruct SOFTMAX =
      KernelStruct.in("integer_network.h", "integer_softmax")
          .pointers("x", "out")
          .integers("rows", "size")
          .longs("a", "b", "c", "log2", "levels")
          .integers("is_small")
          .requires("log2 >= 1", call -> call.get("log2") >= 1)
          .requires(
              "2 <= levels <= 2^31",
              call -> call.get("levels") >= 2 && call.get("levels") <= 1L << 31)
          .requires(
              "weights of 31 bits, times levels or elements, if they are small",
              call ->
                  call.get("is_small") == 0
                      || hasSmallWeights(
                          call.get("a"),
                          call.get("b"),
                          call.get("c"),
                          call.get("log2"),
                          Math.max(call.get("levels"), call.get("size"))))
          .build(IntegerNetworkKernels::rows, IntegerNetworkKernels::lines);

  /** Distances of bytes from the largest one. */
  public static final int DISTANCES = 256;

  private static final KernelStruct SOFTMAX_WEIGHTS =
      KernelStruct.in("integer_network.h", "softmax_weights")
          .pointers("out")
          .integers("a", "b", "c", "log2")
          .shared(KernelStruct.PARTS)
          .requires("log2 >= 1", call -> call.get("log2") >= 1)
          .requires(
              "a, c >= 0 and a (|b| + log2)^2 + c < 2^31",
              call ->
                  hasSmallWeights(call.get("a"), call.get("b"), call.get("c"), call.get("log2"), 1))
          .build(
              all -> all.add("out", WRITE, Integer.SIZE, KernelAccess.contiguous(DISTANCES)),
              call -> CallWork.elements(TileExpression.of(DISTANCES)));

  private static final KernelStruct WEIGHTED_SOFTMAX =
      KernelStruct.in("integer_network.h", "weighted_softmax")
          .pointers("x", "weights", "out")
          .integers("rows", "size", "levels")
          .requires(
              "2 <= levels <= 256", call -> call.get("levels") >= 2 && call.get("levels") <= 256)
          .build(
              all -> {
                rows(all);
                all.add("weights", READ, Integer.SIZE, KernelAccess.contiguous(DISTANCES));
              },
              IntegerNetworkKernels::lines);

  private static final KernelStruct POWER_SOFTMAX =
      KernelStruct.in("integer_network.h", "power_softmax")
          .pointers("x", "out")
          .integers("rows", "size", "unit", "group")
          .longs("levels")
          .build(IntegerNetworkKernels::rows, IntegerNetworkKernels::lines);

  private static final KernelStruct NORM =
      KernelStruct.in("integer_network.h", "integer_norm")
          .pointers("x", "weight", "bias", "out")
          .integers("rows", "size", "weight_stride", "bias_stride")
          .longs("low", "high")
          .integers("shift")
          .requires("0 <= shift <= 62", Requantized::isShift)
          .build(
              all -> {
                rows(all);
                all.add("weight", READ, Integer.SIZE, List.of(all.step("size", "weight_stride")));
                all.optional("bias", READ, Integer.SIZE, List.of(all.step("size", "bias_stride")));
              },
              IntegerNetworkKernels::lines);

  private static final KernelStruct GELU =
      KernelStruct.in("integer_network.h", "integer_gelu")
          .pointers("x", "out")
          .longs("b", "one")
          .integers("count")
          .shared(KernelStruct.PARTS)
          .build(
              all -> all.elements(all.bits(0), all.bits(0), all.get("count")),
              call -> CallWork.elements(call.get("count")));

  /** Types of x and the result, which is also that of the table. */
  private static final KernelStruct LOOKUP =
      KernelStruct.in("integer_network.h", "lookup")
          .pointers("x", "table", "out")
          .integers("count")
          .shared(KernelStruct.PARTS)
          .inPlaceOf("x")
          .build(
              all -> {
                all.elements(all.bits(0), all.bits(1), all.get("count"));
                all.add(
                    "table",
                    READ,
                    all.bits(1),
                    KernelAccess.contiguous(IntegerNetwork.Lookup.ENTRIES));
              },
              call -> CallWork.elements(call.get("count")));

  private static void rows(Accesses all) {
    all.elements(all.bits(0), all.bits(0), all.get("rows") * all.get("size"));
  }

  private static List<TileExpression> lines(CallWork call) {
    return CallWork.lines(call.get("rows"), call.get("size"), 1);
  }

  private static final int MAX_SHIFT = 63;

  private IntegerNetworkKernels() {}

  static void add(KernelTable table) {
    addLookups(table);
    addWeightedSoftmax(table);
    for (ElementType element : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
      List<ElementType> elements = List.of(element);
      table.add(
          SOFTMAX,
          "integer_softmax_" + element,
          KernelClass.SOFTMAX,
          elements,
          call -> softmax(call, element));
      table.add(
          POWER_SOFTMAX,
          "power_softmax_" + element,
          KernelClass.SOFTMAX,
          elements,
          call -> powerSoftmax(call, element));
      table.add(
          NORM,
          "integer_layer_norm_" + element,
          KernelClass.NORM,
          elements,
          call -> norm(call, element, true));
      table.add(
          NORM,
          "integer_rms_norm_" + element,
          KernelClass.NORM,
          elements,
          call -> norm(call, element, false));
      table.add(
          GELU,
          "integer_gelu_" + element,
          KernelClass.TRANSCENDENTAL,
          elements,
          call -> gelu(call, element));
    }
  }

  private static void addLookups(KernelTable table) {
    for (ElementType from : List.of(ElementType.I8, ElementType.U8)) {
      for (ElementType to : List.of(ElementType.I8, ElementType.U8, ElementType.F32)) {
        table.add(
            LOOKUP,
            "lookup_" + from + "_" + to,
            KernelClass.ELEMENTWISE,
            List.of(from, to),
            call -> lookup(call, from, to));
      }
    }
  }

  private static void addWeightedSoftmax(KernelTable table) {
    table.add(
        SOFTMAX_WEIGHTS,
        "softmax_weights_i32",
        KernelClass.ELEMENTWISE,
        List.of(ElementType.I32),
        IntegerNetworkKernels::softmaxWeights);
    for (ElementType element : List.of(ElementType.I8, ElementType.U8)) {
      table.add(
          WEIGHTED_SOFTMAX,
          "weighted_softmax_" + element,
          KernelClass.SOFTMAX,
          List.of(element),
          call -> weightedSoftmax(call, element));
    }
  }

  /**
   * Whether the weights of a softmax of bytes, {@code (a (p + b)^2 + c) >> z} with {@code -log2 < p
   * <= 0}, aren't negative and are below 2^31 / factor.
   */
  public static boolean hasSmallWeights(long a, long b, long c, long log2, long factor) {
    long limit = Integer.MAX_VALUE / factor;
    boolean areSmall =
        a >= 0 && c >= 0 && c <= limit && log2 <= limit && b >= -limit && b <= limit - log2;
    long distance = areSmall ? Math.abs(b) + log2 : limit;
    return areSmall && distance <= limit && a <= (limit - c) / (distance * distance);
  }

  private static void softmaxWeights(KernelArguments call) {
    int log2 = call.get("log2");
    int[] weights = new int[DISTANCES];
    for (int distance = 0; distance < DISTANCES; distance++) {
      long z = distance / log2;
      long shifted = z * log2 - distance + call.get("b");
      weights[distance] = (int) shiftRight(call.get("a") * shifted * shifted + call.get("c"), z);
    }
    call.place("out").write(weights);
  }

  private static void weightedSoftmax(KernelArguments call, ElementType element) {
    int size = call.get("size");
    int[] weights = call.place("weights").ints(DISTANCES);
    long[] x = call.place("x").longs(element, call.get("rows") * size);
    for (int from = 0; from < x.length; from += size) {
      long largest = largest(x, from, from + size);
      long sum = 0;
      for (int i = from; i < from + size; i++) {
        x[i] = weights[(int) (largest - x[i])];
        sum += x[i];
      }
      for (int i = from; i < from + size; i++) {
        x[i] = sum == 0 ? 0 : x[i] * (call.get("levels") - 1) / sum;
      }
    }
    call.place("out").write(element, x);
  }

  private static long shiftRight(long value, long distance) {
    return value >> Math.min(distance, MAX_SHIFT);
  }

  private static long largest(long[] x, int from, int to) {
    long largest = x[from];
    for (int i = from + 1; i < to; i++) {
      largest = Math.max(largest, x[i]);
    }
    return largest;
  }

  private static void softmax(KernelArguments call, ElementType element) {
    int size = call.get("size");
    long a = call.integer("a");
    long b = call.integer("b");
    long c = call.integer("c");
    long log2 = call.integer("log2");
    long top = call.integer("levels") - 1;
    long[] x = call.place("x").longs(element, call.get("rows") * size);
    for (int from = 0; from < x.length; from += size) {
      long largest = largest(x, from, from + size);
      long sum = 0;
      for (int i = from; i < from + size; i++) {
        long t = x[i] - largest;
        long z = -t / log2;
        long shifted = t + z * log2 + b;
        x[i] = shiftRight(a * shifted * shifted + c, z);
        sum += x[i];
      }
      for (int i = from; i < from + size; i++) {
        x[i] = Math.clamp(sum == 0 ? 0 : x[i] * top / sum, 0, top);
      }
    }
    call.place("out").write(element, x);
  }

  private static void powerSoftmax(KernelArguments call, ElementType element) {
    int size = call.get("size");
    int unit = call.get("unit");
    int requested = call.get("group");
    long levels = call.integer("levels");
    int group = requested > 0 && requested < size ? requested : size;
    long top = requested > 0 ? levels / 2 - 1 : levels - 1;
    long half = (1L << unit) / 2;
    long[] x = call.place("x").longs(element, call.get("rows") * size);
    for (int row = 0; row < x.length; row += size) {
      long largest = x[row];
      long sum = 0;
      for (int from = row; from < row + size; from += group) {
        int to = Math.min(row + size, from + group);
        long before = largest;
        largest = Math.max(largest, largest(x, from, to));
        sum = shiftRight(sum, (largest - before + half) >> unit);
        for (int i = from; i < to; i++) {
          sum += shiftRight(levels, (largest - x[i] + half) >> unit);
        }
      }
      long inverse = sum == 0 ? 0 : top * levels / sum;
      for (int i = row; i < row + size; i++) {
        x[i] = shiftRight(inverse, (largest - x[i] + half) >> unit);
      }
    }
    call.place("out").write(element, x);
  }

  private static void norm(KernelArguments call, ElementType element, boolean isCentred) {
    int size = call.get("size");
    int rows = call.get("rows");
    long[] x = call.place("x").longs(element, rows * size);
    long[] weight = parameters(call.place("weight"), size, call.get("weight_stride"));
    long[] bias = parameters(call.place("bias"), size, call.get("bias_stride"));
    int shift = call.get("shift");
    for (int from = 0; from < x.length; from += size) {
      long mean = 0;
      for (int i = from; i < from + size && isCentred; i++) {
        mean += x[i];
      }
      mean /= size;
      long squares = 0;
      for (int i = from; i < from + size; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
      }
      long root = Math.max(1, squareRoot(squares / size + 1));
      for (int i = 0; i < size; i++) {
        long weighted = (x[from + i] - mean) * weight[i] / root + bias[i];
        x[from + i] = Math.clamp(weighted >> shift, call.integer("low"), call.integer("high"));
      }
    }
    call.place("out").write(element, x);
  }

  /** Returns the elements, or zeros without a pointer. */
  private static long[] parameters(Place place, int size, int stride) {
    return place == null
        ? new long[size]
        : place.longs(ElementType.I32, new int[] {size}, new int[] {stride});
  }

  /** Returns the floor of the square root; 0 after an overflow. */
  private static long squareRoot(long square) {
    if (square <= 0) {
      return 0;
    }
    long root = (long) Math.sqrt((double) square);
    while (root * root > square || root > 3_037_000_499L) {
      root--;
    }
    while (root < 3_037_000_499L && (root + 1) * (root + 1) <= square) {
      root++;
    }
    return root;
  }

  private static void gelu(KernelArguments call, ElementType element) {
    long b = call.integer("b");
    long one = call.integer("one");
    long[] x = call.place("x").longs(element, call.get("count"));
    for (int i = 0; i < x.length; i++) {
      long magnitude = x[i] < 0 ? -x[i] : x[i];
      long inside = Math.min(magnitude, -b) + b;
      long error = Long.signum(x[i]) * (one - inside * inside);
      x[i] = x[i] * ((one + error) >> 1);
    }
    call.place("out").write(element, x);
  }

  private static void lookup(KernelArguments call, ElementType from, ElementType to) {
    long[] x = call.place("x").longs(from, call.get("count"));
    Place table = call.place("table");
    Place out = call.place("out");
    for (int i = 0; i < x.length; i++) {
      out.copy(to.bits() / Byte.SIZE, i, 1, table, (int) (x[i] - from.minimum()), 1, 1);
    }
  }
}
