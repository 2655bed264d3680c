package io.partita.backend.siracusa.random;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.siracusa.SanitisedBuild;
import io.partita.backend.siracusa.WithCompiler;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that emitted C and evaluated schedules have the results of random graphs of views and
 * operations, in large and small tiles, on one and several chips. A failure names the seed of the
 * graph and prints it.
 */
@Order(1)
@ExtendWith(WithCompiler.class)
class RandomGraphsTest {
  /** The number of graphs in one program. */
  private static final int TOGETHER = 8;

  /** The number of graphs of each kind in the default build. */
  private static final int FEW = 5;

  /** The number of runs, so that states have an effect. */
  private static final int RUNS = 3;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource("2, 1500, early")
  void graphsInC(int chips, long l1, String transfers) throws IOException {
    verify(new RandomPrograms(chips, l1), 1000 * l1, FEW, transfers);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1, 262144, early", "1, 700, late"})
  void moreGraphsInC(int chips, long l1, String transfers) throws IOException {
    graphsInC(chips, l1, transfers);
  }

  /** {@code -Dcases=N -Dseed=S} tries others; 4,000 take a quarter of an hour. */
  @Test
  @Tag("thorough")
  void manyGraphsInC() throws IOException {
    verify(Integer.getInteger("cases", 40), Long.getLong("seed", 0));
  }

  @Test
  @Tag("exhaustive")
  void otherGraphsInC() throws IOException {
    verify(80, 10_000_000);
  }

  private void verify(int cases, long seed) throws IOException {
    List<RandomPrograms> programs =
        List.of(
            new RandomPrograms(1, 262144),
            new RandomPrograms(1, 1200),
            new RandomPrograms(1, 400),
            new RandomPrograms(2, 2000),
            new RandomPrograms(3, 800));
    for (int batch = 0; batch * TOGETHER < cases; batch++) {
      RandomPrograms chosen = programs.get(batch % programs.size());
      String transfers = batch % 2 == 0 ? "early" : "late";
      verify(chosen, seed + batch * 100_000L, TOGETHER, transfers);
    }
  }

  private void verify(RandomPrograms programs, long seed, int count, String transfers)
      throws IOException {
    List<Long> seeds = new ArrayList<>();
    for (long next = seed; seeds.size() < count; next++) {
      if (isScheduled(programs, next)) {
        seeds.add(next);
      }
    }
    RandomPrograms.Drawn drawn = RandomPrograms.Drawn.of(seeds);
    Path out = folder.resolve("" + seed);
    Schedule schedule = programs.schedule(seeds);
    List<Map<String, Tensor>> found =
        SanitisedBuild.run(schedule, drawn.inputs(), out, transfers, RUNS);
    ScheduleEvaluator evaluator = new ScheduleEvaluator(schedule);
    List<Map<String, Tensor>> evaluated = new ArrayList<>();
    for (int run = 0; run < RUNS; run++) {
      evaluated.add(evaluator.run(drawn.inputs()));
    }
    List<String> wrong = new ArrayList<>();
    for (long each : seeds) {
      difference(each, found).map(text -> "in C: " + text).ifPresent(wrong::add);
      difference(each, evaluated).map(text -> "evaluated: " + text).ifPresent(wrong::add);
    }
    assertThat(wrong).as("of %d graphs for %s", count, programs).isEmpty();
  }

  private static boolean isScheduled(RandomPrograms programs, long seed) {
    try {
      return programs.schedule(seed).isPresent();
    } catch (RuntimeException e) {
      throw new AssertionError(programs + ", seed " + seed + ":\n" + text(seed), e);
    }
  }

  private static String text(long seed) {
    return PirPrinter.print(RandomPrograms.Drawn.of(List.of(seed)).module());
  }

  private static Optional<String> difference(long seed, List<Map<String, Tensor>> found) {
    List<Map<String, Tensor>> expected = RandomPrograms.Drawn.of(List.of(seed)).runs(RUNS);
    for (int run = 0; run < RUNS; run++) {
      for (Map.Entry<String, Tensor> each : expected.get(run).entrySet()) {
        Tensor own = found.get(run).get(each.getKey());
        Optional<String> difference = TensorDifference.find(each.getValue(), own);
        if (difference.isPresent()) {
          String where = "seed " + seed + ", run " + run + ", " + each.getKey() + ": ";
          return difference.map(text -> where + text + "\n" + text(seed));
        }
      }
    }
    return Optional.empty();
  }
}
