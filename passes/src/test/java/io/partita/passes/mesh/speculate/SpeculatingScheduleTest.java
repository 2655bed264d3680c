package io.partita.passes.mesh.speculate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.Guard;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.ChangedChips;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules skip the guarded regions of two groups of chips. */
class SpeculatingScheduleTest {
  private static final int TOKENS = 14;

  private static Program program(int chips, double lambda) {
    return program(chips, lambda, Guess.COMPUTED);
  }

  private static Program program(int chips, double lambda, Guess guess) {
    SpeculateGroups pass =
        new SpeculateGroups(new Speculation(lambda, 4, guess), OptionalLong.of(chips));
    return Localization.of(pass.run(SmallDecoder.module()), 1);
  }

  private static Schedule schedule(Program program) {
    return Scheduler.schedule(
        program,
        TargetLibrary.find("siracusa:chips=" + program.devices().size()),
        SchedulerOptions.STANDARD);
  }

  /** The evaluator refuses to read a value that a skipped step would have written. */
  @ParameterizedTest
  @CsvSource({"2, 0.3, COMPUTED", "4, 1000, COMPUTED", "4, 0.3, SENT"})
  void schedulesGiveWhatTheProgramGives(int chips, double lambda, Guess guess) {
    Program program = program(chips, lambda, guess);
    ProgramEvaluator reference = new ProgramEvaluator(program, 1);
    ScheduleEvaluator evaluator = new ScheduleEvaluator(schedule(program));
    for (int position = 0; position < TOKENS; position++) {
      Map<String, Tensor> inputs = SmallDecoder.token(position);
      assertThat(evaluator.run(inputs).get("y").doubles())
          .as("token %d", position)
          .containsExactly(reference.run(inputs).get("y").doubles(), within(1e-4));
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "2, 0, COMPUTED",
    "2, 1000, COMPUTED",
    "4, 0, COMPUTED",
    "4, 0.3, COMPUTED",
    "2, 0, SENT",
    "2, 0.3, SENT",
    "2, 1000, SENT",
    "4, 0, SENT",
    "4, 1000, SENT"
  })
  void otherSchedulesGiveWhatTheProgramGives(int chips, double lambda, Guess guess) {
    schedulesGiveWhatTheProgramGives(chips, lambda, guess);
  }

  @Test
  void guardsAreReadAgain(@TempDir Path folder) {
    Schedule schedule = schedule(program(2, 0.3));
    assertThat(SchedulePrinter.print(schedule))
        .containsPattern("when (not )?0x[0-9a-f]+ for [0-9]+ ");
    Path file = folder.resolve("groups.sched");
    ScheduleFile.write(schedule, file);
    Schedule read = ScheduleFile.read(file);
    for (int role = 0; role < schedule.roles().size(); role++) {
      assertThat(read.roles().get(role).steps()).isEqualTo(schedule.roles().get(role).steps());
    }
  }

  /** A sender skips its network after a hit, and both groups their exchanges together. */
  @Test
  void guardsCoverLoopsAndMessages() {
    Set<Class<?>> skipped = new HashSet<>();
    for (ChipSchedule role : schedule(program(4, 0.3)).roles()) {
      for (int i = 0; i < role.steps().size(); i++) {
        if (role.steps().get(i) instanceof Guard guard) {
          role.steps().subList(i + 1, i + 1 + guard.steps()).stream()
              .filter(ScheduleStep::isSkippable)
              .forEach(step -> skipped.add(step.getClass()));
        }
      }
    }
    assertThat(skipped)
        .containsExactlyInAnyOrder(ScheduleStep.RunTiles.class, ScheduleStep.Exchange.class);
  }

  /** With the foreseen steps only, and without guards, outputs are those of the program. */
  @ParameterizedTest
  @CsvSource({"2, 0, COMPUTED, MISS", "2, 1000, COMPUTED, HIT", "2, 1000, SENT, HIT"})
  void skippedRegionsAreForeseen(int chips, double lambda, Guess guess, Verdict verdict) {
    Program program = program(chips, lambda, guess);
    Schedule schedule = schedule(program);
    List<ChipSchedule> roles = new ArrayList<>();
    int skipped = 0;
    for (ChipSchedule role : schedule.roles()) {
      List<ScheduleStep> steps = new ArrayList<>(role.steps());
      for (int i = 0; i < role.steps().size(); i++) {
        if (role.steps().get(i) instanceof Guard guard) {
          assertThat(guard.foreseen()).isPresent();
          List<Integer> running = guard.foreseen().get().devices(verdict);
          assertThat(role.devices()).containsAll(running);
          // The devices of a role do the same here, so a step is removed for all of them.
          assertThat(running.size()).isIn(0, role.devices().size());
          steps.set(i, nothing(guard));
          for (int j = i + 1; running.isEmpty() && j <= i + guard.steps(); j++) {
            if (role.steps().get(j).isSkippable()) {
              steps.set(j, nothing(role.steps().get(j)));
              skipped++;
            }
          }
        }
      }
      roles.add(ChangedChips.with(role, steps));
    }
    assertThat(skipped).isGreaterThan(10);
    ScheduleEvaluator evaluator =
        new ScheduleEvaluator(
            new Schedule(
                schedule.program(),
                schedule.target(),
                roles,
                schedule.inputs(),
                schedule.outputs()));
    ProgramEvaluator reference = new ProgramEvaluator(program, 1);
    for (int position = 0; position < TOKENS; position++) {
      Map<String, Tensor> inputs = SmallDecoder.token(position);
      assertThat(evaluator.run(inputs).get("y").doubles())
          .containsExactly(reference.run(inputs).get("y").doubles(), within(1e-4));
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "4, 0, COMPUTED, MISS",
    "4, 1000, COMPUTED, HIT",
    "2, 0, SENT, MISS",
    "4, 0, SENT, MISS",
    "4, 1000, SENT, HIT"
  })
  void skippedRegionsOfMoreChipsAreForeseen(
      int chips, double lambda, Guess guess, Verdict verdict) {
    skippedRegionsAreForeseen(chips, lambda, guess, verdict);
  }

  @Test
  void hitsTakeLessTimeThanMisses() {
    Program program = program(4, 0.3);
    TargetDescription target = TargetLibrary.find("siracusa:chips=4");
    SchedulePrediction misses = SchedulePrediction.of(schedule(program), target);
    SchedulePrediction hits = SchedulePrediction.ofHits(schedule(program), target).orElseThrow();
    assertThat(hits.seconds()).isLessThan(0.95 * misses.seconds());
    PlanReport planned = Plans.report(program, target, PlanOptions.DEFAULT);
    assertThat(planned.seconds()).isEqualTo(misses.seconds());
    assertThat(planned.hitSeconds()).hasValue(hits.seconds());
    PlanReport formulas =
        Plans.report(program, target, PlanOptions.DEFAULT.filled(SmallDecoder.CAPACITY));
    assertThat(formulas.hitSeconds()).isPresent();
    assertThat(formulas.hitSeconds().getAsDouble()).isLessThan(formulas.seconds());
  }

  @Test
  void wrongGuardsAreRefused() {
    Schedule schedule = schedule(program(2, 0.3));
    for (int longer : new int[] {1000, -1000}) {
      Schedule wrong =
          changed(
              schedule,
              guard ->
                  new Guard(
                      guard.conditions(),
                      guard.steps() + longer,
                      guard.foreseen(),
                      guard.origin()));
      assertThatThrownBy(() -> ScheduleVerifier.verify(wrong))
          .hasMessageContaining("a guarded region inside of the run");
    }
    Schedule unwritten =
        changed(
            schedule,
            guard ->
                new Guard(
                    List.of(
                        new ScheduleStep.Condition(
                            schedule.roles().getFirst().home().used(), true)),
                    guard.steps(),
                    guard.foreseen(),
                    guard.origin()));
    assertThatThrownBy(() -> ScheduleVerifier.verify(unwritten)).hasMessageContaining("P441");
  }

  /** Without its guards, a program exchanges and adds what it should have discarded. */
  @Test
  void droppedGuardsChangeTheResult() {
    Program program = program(2, 0.3);
    Schedule dropped = changed(schedule(program), guard -> null);
    ScheduleEvaluator evaluator = new ScheduleEvaluator(dropped);
    ProgramEvaluator reference = new ProgramEvaluator(program, 1);
    boolean differs = false;
    for (int position = 0; position < TOKENS; position++) {
      Map<String, Tensor> inputs = SmallDecoder.token(position);
      double found = evaluator.run(inputs).get("y").doubles()[0];
      differs |= Math.abs(found - reference.run(inputs).get("y").doubles()[0]) > 1e-3;
    }
    assertThat(differs).isTrue();
  }

  /** Replaces each guard; by a step without effect for null. */
  private static Schedule changed(
      Schedule schedule, java.util.function.UnaryOperator<Guard> change) {
    List<ChipSchedule> roles = new ArrayList<>();
    for (ChipSchedule role : schedule.roles()) {
      List<ScheduleStep> steps = new ArrayList<>();
      for (ScheduleStep step : role.steps()) {
        ScheduleStep other = step instanceof Guard guard ? change.apply(guard) : step;
        steps.add(other == null ? nothing(step) : other);
      }
      roles.add(ChangedChips.with(role, steps));
    }
    return new Schedule(
        schedule.program(), schedule.target(), roles, schedule.inputs(), schedule.outputs());
  }

  private static ScheduleStep nothing(ScheduleStep step) {
    return new ScheduleStep.Clear(0, 0, step.origin());
  }
}
