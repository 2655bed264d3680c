package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** The kernel of {@code nearest_centroid.h}. */
final class NearestCentroidKernels {
  private static final KernelStruct NEAREST =
      KernelStruct.in("nearest_centroid.h", "nearest_centroid")
          .pointers("x", "centroids", "distances", "out")
          .integers("rows", "groups", "size", "width", "start", "first", "more")
          .requires("groups >= 1", call -> call.get("groups") >= 1)
          .build(
              NearestCentroidKernels::accesses,
              call ->
                  List.of(
                      call.get("groups"), call.get("rows"), call.get("size"), call.get("width")));

  private NearestCentroidKernels() {}

  private static void accesses(Accesses all) {
    all.add("x", READ, Float.SIZE, all.vector("rows", "groups", "width"));
    all.add("centroids", READ, Float.SIZE, all.vector("groups", "size", "width"));
    if (all.get("first") == 0) {
      all.add("distances", READ, Float.SIZE, all.vector("rows", "groups"));
      all.add("out", READ, Integer.SIZE, all.vector("rows", "groups"));
    }
    if (all.get("more") != 0) {
      all.add("distances", WRITE, Float.SIZE, all.vector("rows", "groups"));
    }
    all.add("out", WRITE, Integer.SIZE, all.vector("rows", "groups"));
  }

  static void add(KernelTable table) {
    table.add(
        NEAREST,
        "nearest_centroid_f32",
        KernelClass.MATVEC,
        List.of(ElementType.F32),
        NearestCentroidKernels::run);
  }

  private static void run(KernelArguments call) {
    int groups = call.get("groups");
    int size = call.get("size");
    int width = call.get("width");
    boolean isFirst = call.get("first") != 0;
    int count = call.get("rows") * groups;
    float[] x = call.place("x").floats(count * width);
    float[] centroids = call.place("centroids").floats(groups * size * width);
    float[] distances = isFirst ? new float[count] : call.place("distances").floats(count);
    int[] indices = isFirst ? new int[count] : call.place("out").ints(count);
    for (int i = 0; i < count; i++) {
      float least = isFirst ? Float.POSITIVE_INFINITY : distances[i];
      for (int k = 0; k < size; k++) {
        int centroid = (i % groups * size + k) * width;
        float sum = 0;
        for (int j = 0; j < width; j++) {
          float difference = x[i * width + j] - centroids[centroid + j];
          sum += difference * difference;
        }
        if (sum < least) {
          least = sum;
          indices[i] = call.get("start") + k;
        }
      }
      distances[i] = least;
    }
    if (call.get("more") != 0) {
      call.place("distances").write(distances);
    }
    call.place("out").write(indices);
  }
}
