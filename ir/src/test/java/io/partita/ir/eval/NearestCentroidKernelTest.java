package io.partita.ir.eval;

import static io.partita.ir.type.ElementType.I32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.NearTies;
import io.partita.ir.op.Contraction.NearestCentroid;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestCentroidKernelTest {
  private static Tensor matrix(int width, float... values) {
    return Tensor.floats(Shape.of(values.length / width, width), values);
  }

  @Test
  void eachGroupHasCentroidsOfItsOwn() {
    Tensor centroids = matrix(2, 0, 0, 1, 1, 5, 5, /* second group */ 9, 9, 0, 0, 1, 1);
    assertThat(Evaluated.of(new NearestCentroid(2), matrix(4, 4, 4, 1, 2), centroids))
        .isEqualTo(Tensor.ofLongs(TensorType.of(I32, 1, 2), new long[] {2, 2}));
  }

  @Test
  void theFirstOfEqualDistancesWins() {
    Tensor x = matrix(1, 1, 2, -3).reshaped(Shape.of(3, 1));
    assertThat(Evaluated.of(new NearestCentroid(1), x, matrix(1, 3, 1, 3, 1, 0)).longs())
        .containsExactly(1, 0, 4);
  }

  @Test
  void distancesThatAreNotNumbersAreNeverTheLeast() {
    Tensor centroids = matrix(1, Float.NaN, Float.POSITIVE_INFINITY, 7);
    Tensor x = matrix(1, 1, Float.NaN, Float.POSITIVE_INFINITY);
    assertThat(Evaluated.of(new NearestCentroid(1), x, centroids).longs()).containsExactly(2, 0, 0);
  }

  @Test
  void noVectorsHaveNoIndices() {
    Tensor none = Tensor.floats(Shape.of(2, 0, 3));
    assertThat(Evaluated.of(new NearestCentroid(3), none, matrix(1, 1, 2, 3)).shape())
        .isEqualTo(Shape.of(2, 0, 3));
  }

  /** In the order of features, rounded after each operation. */
  @ParameterizedTest
  @CsvSource({"2,7,1,5,3", "1,3,16,1,17", "2,5,3,7,256", "1,11,2,24,1024"})
  void distancesAreSummedInOrder(int batch, int tokens, int groups, int width, int size) {
    NearTies drawn = new NearTies(1, batch, tokens, groups, width, size);
    float[] x = drawn.vectors().floats();
    float[] e = drawn.centroids().floats();
    long[] expected = new long[batch * tokens * groups];
    for (int i = 0; i < expected.length; i++) {
      float least = Float.MAX_VALUE;
      for (int k = 0; k < size; k++) {
        float sum = 0;
        for (int j = 0; j < width; j++) {
          float difference = x[i * width + j] - e[(i % groups * size + k) * width + j];
          sum = sum + difference * difference;
        }
        if (sum < least) {
          least = sum;
          expected[i] = k;
        }
      }
    }
    assertThat(Evaluated.of(new NearestCentroid(groups), drawn.vectors(), drawn.centroids()))
        .isEqualTo(Tensor.ofLongs(TensorType.of(I32, batch, tokens, groups), expected));
  }

  @Test
  void typesMustFit() {
    TensorType x = TensorType.of(ElementType.F32, 3, 6);
    refused(1, x, TensorType.of(ElementType.F32, 4, 5), "5 features");
    refused(2, x, TensorType.of(ElementType.F32, 3, 3), "as many centroids in each of 2 groups");
    refused(1, x, TensorType.of(ElementType.F32, 0, 6), "as many centroids in each of 1 groups");
    refused(0, x, TensorType.of(ElementType.F32, 4, 6), "at least one group");
    refused(1, x.with(ElementType.F16), TensorType.of(ElementType.F32, 4, 6), "vectors");
  }

  private static void refused(long groups, TensorType x, TensorType centroids, String message) {
    assertThatThrownBy(() -> new NearestCentroid(groups).resultTypes(List.of(x, centroids)))
        .isInstanceOf(TypeMismatch.class)
        .hasMessageContaining(message);
  }
}
