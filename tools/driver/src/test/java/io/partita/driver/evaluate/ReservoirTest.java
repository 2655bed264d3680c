package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ReservoirTest {
  private static float[] numbers(int from, int to) {
    float[] vectors = new float[2 * (to - from)];
    for (int i = from; i < to; i++) {
      vectors[2 * (i - from)] = i;
      vectors[2 * (i - from) + 1] = -i;
    }
    return vectors;
  }

  @Test
  void fewVectorsAreAllKept() {
    Reservoir reservoir = new Reservoir(2, 1000);
    reservoir.add(numbers(0, 3));
    reservoir.add(new float[0]);
    reservoir.add(numbers(3, 200));
    assertThat(reservoir.seen()).isEqualTo(200);
    assertThat(reservoir.vectors()).isEqualTo(numbers(0, 200));
  }

  @Test
  void anyVectorMayBeKept() {
    Reservoir reservoir = new Reservoir(2, 500);
    for (int i = 0; i < 10_000; i += 100) {
      reservoir.add(numbers(i, i + 100));
    }
    float[] kept = reservoir.vectors();
    assertThat(kept).hasSize(1000);
    float[] indices = new float[500];
    for (int i = 0; i < 500; i++) {
      indices[i] = kept[2 * i];
      assertThat(kept[2 * i + 1]).isEqualTo(-kept[2 * i]);
    }
    Arrays.sort(indices);
    for (int i = 1; i < 500; i++) {
      assertThat(indices[i]).isGreaterThan(indices[i - 1]);
    }
    // Quartiles of a uniform sample of 500, within four standard deviations.
    for (int quarter = 1; quarter <= 3; quarter++) {
      assertThat(indices[125 * quarter]).isCloseTo(2500f * quarter, within(900f));
    }
  }

  @Test
  void theSampleDoesNotDependOnTheParts() {
    Reservoir whole = new Reservoir(2, 10);
    whole.add(numbers(0, 300));
    Reservoir parts = new Reservoir(2, 10);
    parts.add(numbers(0, 7));
    parts.add(numbers(7, 300));
    assertThat(parts.vectors()).isEqualTo(whole.vectors());
  }
}
