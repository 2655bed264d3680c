package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Kernels of {@code gemm.h}. Sums run over the inner extent in ascending order, as in C, so that
 * products of floats have the same bits.
 */
final class ProductKernels {
  /** Types of left, right and the sums. */
  static final KernelStruct GEMM = gemm(KernelStruct.BLOCKS);

  /** The same of floats, most of which are computed in blocks of six rows. */
  static final KernelStruct GEMM_F32 = gemm(new WorkSharing(6, 4, 0));

  /** Types of left, right and the result. */
  static final KernelStruct GEMM_REQUANTIZE =
      KernelStruct.in("gemm.h", "gemm_requantize")
          .struct("gemm", GEMM)
          .pointers("multiplier", "addend")
          .integers("multiplier_row", "multiplier_column", "addend_row", "addend_column")
          .integers("shift", "low", "high")
          .requires("gemm.group >= 1", call -> call.get("gemm.group") >= 1)
          .requires("gemm.accumulate = 0", call -> call.get("gemm.accumulate") == 0)
          .requires("0 <= shift <= 62", Requantized::isShift)
          .shared(KernelStruct.BLOCKS)
          .build(
              all -> {
                product(all, "gemm.", all.bits(2));
                for (String vector : List.of("multiplier", "addend")) {
                  all.add(
                      vector,
                      READ,
                      Integer.SIZE,
                      List.of(
                          all.step("gemm.m", vector + "_row"),
                          all.step("gemm.n", vector + "_column")));
                }
              },
              call ->
                  List.of(
                      call.get("gemm.batch"),
                      call.get("gemm.m"),
                      call.get("gemm.n"),
                      call.get("gemm.k")));

  private static void product(Accesses all, String within, int bits) {
    Step batch = all.step(within + "batch", within + "left_batch");
    long matrices = batch.extent() / Math.max(1, all.get(within + "group"));
    List<Step> out =
        List.of(
            all.step(within + "batch", within + "out_batch"),
            all.step(within + "m", within + "out_row"),
            all.line(within + "n"));
    all.add(
        within + "left",
        READ,
        all.bits(0),
        List.of(
            batch,
            all.step(within + "m", within + "left_row"),
            all.step(within + "k", within + "left_column")));
    all.add(
        within + "right",
        READ,
        all.bits(1),
        List.of(
            new Step(matrices, all.get(within + "right_batch")),
            all.step(within + "k", within + "right_row"),
            all.step(within + "n", within + "right_column")));
    all.optional(within + "bias", READ, Integer.SIZE, all.vector(within + "n"));
    if (all.get(within + "accumulate") != 0) {
      all.add(within + "out", READ, bits, out);
    }
    all.add(within + "out", WRITE, bits, out);
  }

  private static final List<List<ElementType>> INTEGERS =
      List.of(
          List.of(ElementType.I8, ElementType.I8),
          List.of(ElementType.I8, ElementType.U8),
          List.of(ElementType.U8, ElementType.I8),
          List.of(ElementType.U8, ElementType.U8),
          List.of(ElementType.I16, ElementType.I8),
          List.of(ElementType.I16, ElementType.I16),
          List.of(ElementType.I32, ElementType.I8),
          List.of(ElementType.I32, ElementType.U8),
          List.of(ElementType.I32, ElementType.I32));

  /** Parameters for all results, for each column, or for each row without batches. */
  private static Optional<List<Argument>> requantization(List<Argument> end, int rank) {
    List<Argument> all = new ArrayList<>();
    for (String vector : List.of("multiplier", "addend")) {
      Optional<Integer> along = Epilogue.only(end, vector + "_strides", rank);
      boolean isRow = along.filter(each -> each == rank - 2).isPresent();
      boolean isColumn = along.filter(each -> each == rank - 1).isPresent();
      boolean isOne = along.filter(each -> each < 0).isPresent();
      if (!isOne && !isColumn && !(isRow && rank == 2)) {
        return Optional.empty();
      }
      all.add(new Argument(vector, CallFields.find(end, vector).orElseThrow()));
      all.add(Argument.integer(vector + "_row", isRow ? 1 : 0));
      all.add(Argument.integer(vector + "_column", isColumn ? 1 : 0));
    }
    return Epilogue.small(end, "shift", "low", "high")
        .map(
            more -> {
              all.addAll(more);
              return all;
            });
  }

  private ProductKernels() {}

  private static KernelStruct gemm(WorkSharing sharing) {
    return KernelStruct.in("gemm.h", "gemm")
        .pointers("left", "right", "bias", "out")
        .integers("batch", "group", "m", "n", "k", "accumulate")
        .integers("left_batch", "left_row", "left_column")
        .integers("right_batch", "right_row", "right_column")
        .integers("out_batch", "out_row")
        .requires("group >= 1", call -> call.get("group") >= 1)
        .shared(sharing)
        .build(
            all -> product(all, "", all.bits(2)),
            call -> List.of(call.get("batch"), call.get("m"), call.get("n"), call.get("k")));
  }

  static void add(KernelTable table) {
    for (String form : List.of("gemm", "gemv")) {
      KernelClass kernelClass = form.equals("gemv") ? KernelClass.MATVEC : KernelClass.MATMUL;
      List<ElementType> floats = List.of(ElementType.F32, ElementType.F32, ElementType.F32);
      table.add(GEMM_F32, form + "_f32", kernelClass, floats, ProductKernels::floats);
      for (List<ElementType> types : INTEGERS) {
        ElementType left = types.get(0);
        ElementType right = types.get(1);
        table.add(
            GEMM,
            form + "_" + left + "_" + right,
            kernelClass,
            List.of(left, right, ElementType.I32),
            call -> integers(call, left, right, null));
      }
    }
    for (ElementType left : List.of(ElementType.I8, ElementType.U8)) {
      for (ElementType out : List.of(ElementType.I8, ElementType.U8, ElementType.I32)) {
        table.add(requantized("gemm", KernelClass.MATMUL, left, out));
        table.add(requantized("gemv", KernelClass.MATVEC, left, out));
      }
    }
  }

  private static Kernel requantized(
      String form, KernelClass kernelClass, ElementType left, ElementType out) {
    return new Kernel(
        form + "_requantize_" + left + "_i8_" + out,
        GEMM_REQUANTIZE,
        List.of(left, ElementType.I8, out),
        kernelClass,
        left,
        true,
        call -> requantized(call, left, out),
        Optional.of(
            new Epilogue(
                form + "_" + left + "_i8",
                "requantize_i32_" + out,
                "gemm",
                ProductKernels::requantization)));
  }

  /** The extents and strides of a product. */
  private record Matrices(KernelArguments call, int batch, int group, int m, int n, int k) {
    static Matrices of(KernelArguments call) {
      return new Matrices(
          call, call.get("batch"), call.get("group"), call.get("m"), call.get("n"), call.get("k"));
    }

    int out(int item, int row) {
      return item * call.get("out_batch") + row * call.get("out_row");
    }

    int left(int item) {
      return item * call.get("left_batch");
    }

    int right(int item) {
      return item / group * call.get("right_batch");
    }

    int[] leftExtents() {
      return new int[] {m, k};
    }

    int[] leftStrides() {
      return new int[] {call.get("left_row"), call.get("left_column")};
    }

    int[] rightExtents() {
      return new int[] {k, n};
    }

    int[] rightStrides() {
      return new int[] {call.get("right_row"), call.get("right_column")};
    }
  }

  private static void floats(KernelArguments call) {
    Matrices all = Matrices.of(call);
    boolean accumulates = call.get("accumulate") != 0;
    Place out = call.place("out");
    Place biasPlace = call.place("bias");
    float[] bias = biasPlace == null ? null : biasPlace.floats(all.n);
    int known = -1;
    float[] right = new float[0];
    for (int item = 0; item < all.batch && all.m > 0 && all.n > 0; item++) {
      int from = all.right(item);
      if (from != known) {
        right = matrix(call.place("right"), from, all.rightExtents(), all.rightStrides());
        known = from;
      }
      float[] left =
          matrix(call.place("left"), all.left(item), all.leftExtents(), all.leftStrides());
      for (int row = 0; row < all.m; row++) {
        Place line = out.plus((long) Float.BYTES * all.out(item, row));
        float[] sums = accumulates ? line.floats(all.n) : new float[all.n];
        for (int l = 0; l < all.k; l++) {
          addProducts(sums, left[row * all.k + l], right, l * all.n);
        }
        for (int j = 0; j < all.n && bias != null; j++) {
          sums[j] += bias[j];
        }
        line.write(sums);
      }
    }
  }

  private static void addProducts(float[] sums, float factor, float[] line, int from) {
    for (int j = 0; j < sums.length; j++) {
      sums[j] += factor * line[from + j];
    }
  }

  /** Returns contiguous row-major strides. */
  private static float[] matrix(Place place, int from, int[] extents, int[] strides) {
    Place start = place.plus((long) Float.BYTES * from);
    int rows = extents[0];
    int columns = extents[1];
    if (strides[1] == 1 && (strides[0] == columns || rows == 1)) {
      return start.floats(rows * columns);
    }
    float[] values = new float[rows * columns];
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        values[row * columns + column] = start.floatAt(row * strides[0] + column * strides[1]);
      }
    }
    return values;
  }

  /** Finishes the sums of a row. */
  @FunctionalInterface
  private interface Finish {
    void write(int item, int row, int[] sums);
  }

  /**
   * @param finish the finishing step; null if sums are the result
   */
  private static void integers(
      KernelArguments call, ElementType leftType, ElementType rightType, Finish finish) {
    Matrices all = Matrices.of(call);
    boolean accumulates = call.get("accumulate") != 0;
    Place out = call.place("out");
    Place biasPlace = call.place("bias");
    int[] bias = biasPlace == null ? null : biasPlace.ints(all.n);
    int known = -1;
    int[] right = new int[0];
    for (int item = 0; item < all.batch && all.m > 0 && all.n > 0; item++) {
      int from = all.right(item);
      if (from != known) {
        right =
            matrix(call.place("right"), rightType, from, all.rightExtents(), all.rightStrides());
        known = from;
      }
      int[] left =
          matrix(
              call.place("left"), leftType, all.left(item), all.leftExtents(), all.leftStrides());
      for (int row = 0; row < all.m; row++) {
        int place = all.out(item, row);
        int[] sums =
            accumulates ? out.plus((long) Integer.BYTES * place).ints(all.n) : new int[all.n];
        for (int l = 0; l < all.k; l++) {
          addProducts(sums, left[row * all.k + l], right, l * all.n);
        }
        for (int j = 0; j < all.n && bias != null; j++) {
          sums[j] += bias[j];
        }
        if (finish == null) {
          out.plus((long) Integer.BYTES * place).write(sums);
        } else {
          finish.write(item, row, sums);
        }
      }
    }
  }

  private static void addProducts(int[] sums, int factor, int[] line, int from) {
    for (int j = 0; j < sums.length; j++) {
      sums[j] += factor * line[from + j];
    }
  }

  private static int[] matrix(
      Place place, ElementType element, int from, int[] extents, int[] strides) {
    long bytes = element.bits() / Byte.SIZE;
    long[] values = place.plus(bytes * from).longs(element, extents, strides);
    int[] matrix = new int[values.length];
    for (int i = 0; i < matrix.length; i++) {
      matrix[i] = (int) values[i];
    }
    return matrix;
  }

  private static void requantized(KernelArguments call, ElementType left, ElementType element) {
    KernelArguments product = call.within("gemm");
    Matrices all = Matrices.of(product);
    Requantized requantized = Requantized.of(call);
    Place multiplier = call.place("multiplier");
    Place addend = call.place("addend");
    integers(
        product,
        left,
        ElementType.I8,
        (item, row, sums) -> {
          long[] line = new long[sums.length];
          for (int j = 0; j < line.length; j++) {
            line[j] =
                requantized.at(
                    sums[j],
                    multiplier.intAt(
                        row * call.get("multiplier_row") + j * call.get("multiplier_column")),
                    addend.intAt(row * call.get("addend_row") + j * call.get("addend_column")));
          }
          long bytes = element.bits() / Byte.SIZE;
          product.place("out").plus(bytes * all.out(item, row)).write(element, line);
        });
  }
}
