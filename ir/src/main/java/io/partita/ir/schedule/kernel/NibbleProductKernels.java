package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.ElementType;
import java.util.List;

/** The kernels of {@code nibble_gemm.h}. */
final class NibbleProductKernels {
  /** What converting and scaling the sums of a group takes, in steps along its rows. */
  private static final long GROUP_STEPS = 24;

  /** Types of x, codes, scales and the sums. */
  private static final KernelStruct NIBBLE_GEMM =
      KernelStruct.in("nibble_gemm.h", "nibble_gemm")
          .pointers("x", "codes", "scales", "out")
          .integers("rows", "panels", "groups", "group", "accumulate")
          .requires(
              "group % 8 = 0 and 0 < group <= 8192",
              call -> NibblePanels.isGroup(call.get("group")))
          .shared(new WorkSharing(1, NibblePanels.COLUMNS, 0))
          .build(
              NibbleProductKernels::accesses,
              call ->
                  List.of(
                      TileExpression.of(1),
                      call.get("rows"),
                      call.get("panels").times(NibblePanels.COLUMNS),
                      call.get("groups")
                          .times(call.get("group").plus(TileExpression.of(GROUP_STEPS)))));

  private NibbleProductKernels() {}

  private static void accesses(Accesses all) {
    long panels = all.get("panels");
    long groups = all.get("groups");
    long rows = all.get("rows");
    long group = all.get("group");
    long columns = NibblePanels.COLUMNS;
    all.add("x", READ, all.bits(0), KernelAccess.contiguous(rows, groups * group));
    all.add(
        "codes",
        READ,
        all.bits(1),
        KernelAccess.contiguous(panels, groups, NibblePanels.bytes(group)));
    all.add("scales", READ, all.bits(2), KernelAccess.contiguous(panels, groups, columns));
    if (all.get("accumulate") != 0) {
      all.add("out", READ, all.bits(3), KernelAccess.contiguous(rows, panels * columns));
    }
    all.add("out", WRITE, all.bits(3), KernelAccess.contiguous(rows, panels * columns));
  }

  static void add(KernelTable table) {
    for (ElementType x : List.of(ElementType.I8, ElementType.U8)) {
      for (ElementType scale : List.of(ElementType.F32, ElementType.BF16)) {
        table.add(
            NIBBLE_GEMM,
            "nibble_gemm_" + x + "_" + scale,
            KernelClass.MATMUL,
            List.of(x, ElementType.U8, scale, ElementType.F32),
            call -> run(call, x, scale));
      }
    }
  }

  private static void run(KernelArguments call, ElementType element, ElementType scaleType) {
    int rows = call.get("rows");
    int panels = call.get("panels");
    int groups = call.get("groups");
    int group = call.get("group");
    int columns = panels * NibblePanels.COLUMNS;
    int bytes = (int) NibblePanels.bytes(group);
    Place codes = call.place("codes");
    long[] x = call.place("x").longs(element, rows * groups * group);
    double[] scales = call.place("scales").doubles(scaleType, groups * columns);
    boolean accumulates = call.get("accumulate") != 0;
    float[] out =
        accumulates ? call.place("out").floats(rows * columns) : new float[rows * columns];
    for (int panel = 0; panel < panels; panel++) {
      for (int part = panel * groups; part < (panel + 1) * groups; part++) {
        int first = part % groups * group;
        for (int line = 0; line < rows; line++) {
          int from = line * groups * group + first;
          for (int column = 0; column < NibblePanels.COLUMNS; column++) {
            int sum = 0;
            for (int row = 0; row < group; row++) {
              sum +=
                  (int) x[from + row]
                      * NibblePanels.at(codes.memory(), codes.at() + part * bytes, row, column);
            }
            out[line * columns + panel * NibblePanels.COLUMNS + column] +=
                sum * (float) scales[part * NibblePanels.COLUMNS + column];
          }
        }
      }
    }
    call.place("out").write(out);
  }
}
