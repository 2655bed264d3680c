package io.partita.runtime;

import io.partita.ir.arbitrary.NearTies;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Contraction.NearestCentroid;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares bit for bit, in one call and in tiles of centroids. */
@ExtendWith(WithKernels.class)
class NearestCentroidTest {
  private final Samples samples = new Samples(12);

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 17, 256, 1024})
  void findsTheIndicesOfTheReference(int size, Kernels kernels) {
    for (int round = 0; round < 8; round++) {
      int rows = samples.from(0, 7);
      int groups = samples.one(1, 2, 5);
      int width = samples.from(1, 9);
      NearTies drawn = new NearTies(round, 1, rows, groups, width, size);
      Tensor x = drawn.vectors();
      Tensor centroids = drawn.centroids();
      Tensor expected =
          OpEvaluator.evaluate(new NearestCentroid(groups), List.of(x, centroids)).getFirst();
      TensorType results = TensorType.of(ElementType.I32, rows, groups);
      Tensor distances = Tensor.filled(results.with(ElementType.F32), 0);
      Tensor indices = Tensor.filled(results, 99);
      int tile = samples.flag() ? size : samples.from(1, size);
      for (int start = 0; start < size; start += tile) {
        int count = Math.min(tile, size - start);
        KernelCall call =
            new KernelCall("partita_nearest_centroid_f32")
                .in(x)
                .in(part(centroids, groups, start, count))
                .inOut(distances)
                .inOut(indices)
                .i32(
                    rows,
                    groups,
                    count,
                    width,
                    start,
                    start == 0 ? 1 : 0,
                    start + tile < size ? 1 : 0);
        List<Tensor> found = kernels.run(call);
        Same.verify("contracted indices of " + size, kernels.contracted(call).get(1), found.get(1));
        distances = found.get(0);
        indices = found.get(1);
      }
      Same.verify("indices of " + size, indices.reshaped(expected.shape()), expected);
    }
  }

  private static Tensor part(Tensor centroids, int groups, int start, int count) {
    int width = (int) centroids.shape().extent(1);
    int size = (int) centroids.shape().extent(0) / groups;
    float[] all = centroids.floats();
    float[] part = new float[groups * count * width];
    for (int group = 0; group < groups; group++) {
      System.arraycopy(
          all, (group * size + start) * width, part, group * count * width, count * width);
    }
    return Tensor.floats(Shape.of((long) groups * count, width), part);
  }
}
