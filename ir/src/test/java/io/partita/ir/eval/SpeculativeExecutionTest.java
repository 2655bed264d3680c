package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.SpeculativeExecution.ByPriority;
import io.partita.ir.eval.SpeculativeExecution.Event;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compares the paper's algorithms with each other and with an exact decoder. */
class SpeculativeExecutionTest {
  private static final int LAYERS = 5;
  private static final int CHUNK = 4;
  private static final int TOKENS = 40;

  private static List<double[]> tokens() {
    SplittableRandom random = new SplittableRandom(3);
    List<double[]> tokens = new ArrayList<>();
    for (int i = 0; i < TOKENS; i++) {
      tokens.add(random.doubles(ToyDecoder.SIZE, -1, 1).toArray());
    }
    return tokens;
  }

  private static ToyDecoder decoder() {
    return new ToyDecoder(LAYERS, CHUNK, 11);
  }

  @Test
  void chunksAtTheEndsAreReadFirst() {
    double[][] keys = new double[14][1];
    double[][] values = new double[14][1];
    for (int i = 0; i < keys.length; i++) {
      values[i][0] = i;
    }
    FlashDecode.Result result = new FlashDecode(new double[] {1}, keys, values, 14, 4, 2).run();
    assertThat(result.order()).containsExactly(List.of(0, 3), List.of(1), List.of(2));
    assertThat(result.approximate()[0]).isCloseTo((0 + 1 + 2 + 3 + 12 + 13) / 6.0, within(1e-12));
    assertThat(result.exact()[0]).isCloseTo(6.5, within(1e-12));
  }

  @Test
  void bothAlgorithmsAgreeForEachThreshold() {
    for (double lambda : new double[] {0, 0.05, 0.2, 0.5, Double.POSITIVE_INFINITY}) {
      ToyDecoder threads = decoder();
      ToyDecoder first = decoder();
      ToyDecoder second = decoder();
      int hits = 0;
      for (double[] token : tokens()) {
        List<Boolean> accepted = new ArrayList<>();
        double[] expected = SpeculativeExecution.byThreads(threads, token, lambda, accepted);
        ByPriority devices = new ByPriority(first, second, lambda);
        assertThat(devices.run(token)).isEqualTo(expected);
        List<Boolean> skipped =
            devices.priorities().stream()
                .map(p -> Arrays.stream(p).anyMatch(each -> each == ByPriority.SKIP))
                .toList();
        assertThat(skipped).isEqualTo(accepted);
        hits += (int) accepted.stream().filter(each -> each).count();
      }
      int all = TOKENS * LAYERS;
      if (lambda == 0) {
        assertThat(hits).isZero();
      } else if (lambda == Double.POSITIVE_INFINITY) {
        assertThat(hits).isEqualTo(all);
      } else {
        assertThat(hits).isBetween(1, all - 1);
      }
      for (int layer = 0; layer < LAYERS; layer++) {
        assertThat(first.cached(layer)).isEqualTo(TOKENS);
        assertThat(second.cached(layer)).isEqualTo(TOKENS);
      }
    }
  }

  @Test
  void withoutHitsTheResultIsExact() {
    ToyDecoder exact = decoder();
    ToyDecoder speculating = decoder();
    for (double[] token : tokens()) {
      double[] x = token;
      for (int layer = 0; layer < LAYERS; layer++) {
        double[] query = exact.beforeAttention(layer, x);
        x = exact.afterAttention(layer, x, exact.attention(layer, query).exact());
      }
      assertThat(SpeculativeExecution.byThreads(speculating, token, 0, new ArrayList<>()))
          .isEqualTo(x);
    }
  }

  /** Figure 6: after a hit, the receiver becomes the sender of the next layer. */
  @Test
  void devicesSwapAfterAHit() {
    ByPriority devices = new ByPriority(decoder(), decoder(), Double.POSITIVE_INFINITY);
    devices.run(tokens().getFirst());
    assertThat(devices.timeline())
        .startsWith(
            new Event(0, 0, "skips"),
            new Event(0, 1, "approximate"),
            new Event(1, 0, "approximate"),
            new Event(1, 1, "skips"));
    assertThat(devices.priorities().get(0)).containsExactly(0, 1);
    assertThat(devices.priorities().get(1)).containsExactly(1, 0);
    ByPriority misses = new ByPriority(decoder(), decoder(), 0);
    misses.run(tokens().getFirst());
    assertThat(misses.timeline())
        .startsWith(new Event(0, 0, "exact"), new Event(0, 1, "approximate"));
    assertThat(misses.priorities()).allSatisfy(p -> assertThat(p).containsExactly(2, 1));
  }
}
