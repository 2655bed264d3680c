package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.driver.evaluate.MixFront.Cost;
import io.partita.driver.evaluate.MixFront.Mix;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MixFrontTest {
  private static final int TRIES = 12;

  private static List<List<Cost>> random(int blocks, int methods, int seed) {
    Random random = new Random(seed);
    List<List<Cost>> costs = new ArrayList<>();
    for (int block = 0; block < blocks; block++) {
      List<Cost> each = new ArrayList<>();
      for (int method = 0; method < methods; method++) {
        each.add(new Cost(-random.nextInt(20), random.nextDouble() - 0.1));
      }
      costs.add(each);
    }
    return costs;
  }

  /** Returns the fewest bytes of all mixes within a limit. */
  private static double least(List<List<Cost>> costs, int block, double bytes, double left) {
    if (block == costs.size()) {
      return left >= 0 ? bytes : Double.POSITIVE_INFINITY;
    }
    double least = Double.POSITIVE_INFINITY;
    for (Cost cost : costs.get(block)) {
      least = Math.min(least, least(costs, block + 1, bytes + cost.bytes(), left - cost.loss()));
    }
    return least;
  }

  @Test
  void theFrontHasTheBestMixForEachLimit() {
    for (int seed = 0; seed < 20; seed++) {
      List<List<Cost>> costs = random(5, 3, seed);
      List<Mix> front = MixFront.of(costs);
      assertThat(front).isNotEmpty();
      for (int i = 0; i < front.size(); i++) {
        Mix mix = front.get(i);
        double bytes = 0;
        double loss = 0;
        for (int block = 0; block < costs.size(); block++) {
          Cost cost = costs.get(block).get(mix.methods().get(block));
          bytes += cost.bytes();
          loss += cost.loss();
        }
        assertThat(mix.bytes()).isCloseTo(bytes, within(1e-9));
        assertThat(mix.loss()).isCloseTo(loss, within(1e-9));
        assertThat(least(costs, 0, 0, mix.loss() + 1e-9)).isEqualTo(mix.bytes());
        if (i > 0) {
          assertThat(mix.bytes()).isGreaterThan(front.get(i - 1).bytes());
          assertThat(mix.loss()).isLessThan(front.get(i - 1).loss());
        }
      }
    }
  }

  /** Tests eighty blocks of six methods, whose mixes can't be enumerated. */
  @Test
  void longFrontsAreThinned() {
    List<Mix> front = MixFront.of(random(80, 6, 1));
    assertThat(front).hasSizeBetween(100, 20_000);
    assertThat(front.getFirst().methods()).hasSize(80);
  }

  /** Tests real losses that are smaller than their sums, larger, and shifted. */
  @ParameterizedTest
  @ValueSource(strings = {"0.6 0", "1 0", "1.7 0", "1 0.2", "1 -0.2"})
  void theCheapestMixWithinALimitIsFoundInFewTries(String factorAndShift) {
    double factor = Double.parseDouble(factorAndShift.split(" ")[0]);
    double shift = Double.parseDouble(factorAndShift.split(" ")[1]);
    ToDoubleFunction<Mix> real = mix -> factor * mix.loss() + shift;
    for (int seed = 0; seed < 20; seed++) {
      List<List<Cost>> costs = random(6, 4, seed);
      costs.forEach(block -> block.add(new Cost(0, 0)));
      List<Mix> front = MixFront.of(costs);
      double limit = 1;
      List<Mix> measured = new ArrayList<>();
      Optional<Mix> found =
          MixFront.cheapest(
              front,
              limit,
              TRIES,
              mix -> {
                measured.add(mix);
                return real.applyAsDouble(mix);
              });
      Mix cheapest =
          front.stream().filter(mix -> real.applyAsDouble(mix) <= limit).findFirst().orElseThrow();
      assertThat(found).contains(cheapest);
      assertThat(measured).doesNotHaveDuplicates().hasSizeLessThanOrEqualTo(TRIES);
    }
  }

  @Test
  void noMixIsFoundWhereNoneIsWithinTheLimit() {
    List<Mix> front = MixFront.of(random(6, 4, 1));
    List<Mix> measured = new ArrayList<>();
    assertThat(
            MixFront.cheapest(
                front,
                1,
                TRIES,
                mix -> {
                  measured.add(mix);
                  return mix.loss() + 5;
                }))
        .isEmpty();
    assertThat(measured).endsWith(front.getLast()).hasSizeLessThan(TRIES);
  }
}
