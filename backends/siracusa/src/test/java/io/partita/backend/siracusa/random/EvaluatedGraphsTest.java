package io.partita.backend.siracusa.random;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that evaluated schedules, after printing and parsing, have the results of random graphs of
 * views and operations, in large and small tiles, on one and several chips. A failure names the
 * seed of the graph and prints it.
 */
class EvaluatedGraphsTest {
  /** The number of runs, so that states have an effect. */
  private static final int RUNS = 3;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"1, 700", "3, 800"})
  void graphs(int chips, long l1) {
    assertThat(wrong(new RandomPrograms(chips, l1), 3000 * l1, 10)).isEmpty();
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1, 262144", "2, 1500"})
  void graphsOfOtherSizes(int chips, long l1) {
    graphs(chips, l1);
  }

  /** {@code -Dcases=N -Dseed=S} tries others; 4,000 take some minutes. */
  @Test
  @Tag("thorough")
  void manyGraphs() {
    verify(Integer.getInteger("cases", 40), Long.getLong("seed", 0));
  }

  @Test
  @Tag("exhaustive")
  void otherGraphs() {
    verify(200, 10_000_000);
  }

  private void verify(int cases, long seed) {
    List<RandomPrograms> programs =
        List.of(
            new RandomPrograms(1, 262144),
            new RandomPrograms(1, 1200),
            new RandomPrograms(1, 400),
            new RandomPrograms(2, 2000),
            new RandomPrograms(3, 800));
    List<String> wrong = new ArrayList<>();
    for (int number = 0; number < programs.size(); number++) {
      int count = cases / programs.size();
      wrong.addAll(wrong(programs.get(number), seed + number * 1_000_000L, count));
    }
    assertThat(wrong).isEmpty();
  }

  /** {@link RandomGraphsTest} reports errors of scheduling. */
  private static Optional<Schedule> schedule(RandomPrograms programs, long seed) {
    try {
      return programs.schedule(seed);
    } catch (RuntimeException e) {
      return Optional.empty();
    }
  }

  private List<String> wrong(RandomPrograms programs, long seed, int count) {
    List<String> wrong = new ArrayList<>();
    int done = 0;
    for (long next = seed; done < count; next++) {
      Optional<Schedule> schedule = schedule(programs, next);
      if (schedule.isPresent()) {
        done++;
        try {
          difference(schedule.get(), next).ifPresent(wrong::add);
        } catch (RuntimeException e) {
          RandomPrograms.Drawn drawn = RandomPrograms.Drawn.of(List.of(next));
          String text = PirPrinter.print(drawn.module());
          wrong.add(programs + ", seed " + next + ": " + e + "\n" + text);
        }
      }
    }
    return wrong;
  }

  /** Parts that are not in the text. */
  private static List<ChipSchedule> withoutMeaning(List<ChipSchedule> roles) {
    return roles.stream()
        .map(
            role ->
                new ChipSchedule(
                    role.devices(),
                    role.cores(),
                    role.memories(),
                    role.kernels(),
                    role.start(),
                    role.steps(),
                    role.inputs(),
                    role.outputs(),
                    role.states(),
                    role.constants(),
                    role.residences(),
                    Optional.empty()))
        .toList();
  }

  private Optional<String> difference(Schedule schedule, long seed) {
    RandomPrograms.Drawn drawn = RandomPrograms.Drawn.of(List.of(seed));
    List<Map<String, Tensor>> expected = drawn.runs(RUNS);
    Path file = folder.resolve(seed + ".sched");
    ScheduleFile.write(schedule, file);
    Schedule read = ScheduleFile.read(file);
    assertThat(read.roles()).isEqualTo(withoutMeaning(schedule.roles()));
    assertThat(SchedulePrinter.print(read)).isEqualTo(SchedulePrinter.print(schedule));
    ScheduleEvaluator evaluator = new ScheduleEvaluator(read);
    for (int run = 0; run < RUNS; run++) {
      Map<String, Tensor> found = evaluator.run(drawn.inputs());
      for (Map.Entry<String, Tensor> each : expected.get(run).entrySet()) {
        Optional<String> difference =
            TensorDifference.find(each.getValue(), found.get(each.getKey()));
        if (difference.isPresent()) {
          String where = "seed " + seed + ", run " + run + ", " + each.getKey() + ": ";
          return difference.map(text -> where + text + "\n" + PirPrinter.print(drawn.module()));
        }
      }
    }
    return Optional.empty();
  }
}
