package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.BeginExchange;
import io.partita.ir.schedule.ScheduleStep.Exchange;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.ScheduleFile;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests exchanges that begin before their own step. */
class BegunExchangesTest {
  private static final TargetDescription TARGET = TargetLibrary.find("siracusa:chips=4");

  private static Schedule schedule(Graph graph, String strategy, Algorithm algorithm, int tiles) {
    return Scheduler.schedule(
        OverlappedBlocks.program(graph, strategy, algorithm, tiles),
        TARGET,
        SchedulerOptions.STANDARD);
  }

  @ParameterizedTest
  @ValueSource(ints = 2)
  void resultsAreThoseOfTheModel(int tiles) {
    Graph graph = OverlappedBlocks.graph();
    Map<String, Tensor> inputs = SampleValues.inputs(graph, new Draw(tiles));
    List<Tensor> expected = Evaluator.run(graph, List.copyOf(inputs.values()));
    for (String strategy : OverlappedBlocks.STRATEGIES) {
      for (Algorithm algorithm : OverlappedBlocks.ALGORITHMS) {
        Schedule schedule = schedule(graph, strategy, algorithm, tiles);
        ScheduleVerifier.verify(schedule);
        Map<String, Tensor> found = new ScheduleEvaluator(schedule).run(inputs);
        CloseTensors.verify(List.copyOf(found.values()), expected);
        assertThat(SchedulePrediction.of(schedule, TARGET).seconds()).isPositive();
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void resultsOfOtherTilesAreThoseOfTheModel(int tiles) {
    resultsAreThoseOfTheModel(tiles);
  }

  /** Tests that an operand that is being sent isn't overwritten by its last reader. */
  @Test
  void operandsAreKept() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%a: f32[600{x},40], %w: f32[40,40]) -> ("y": f32[600,40], "z": f32[600{x},40]) {
                %0 = neg(%a) : f32[600{x},40]
                %1 = sync(%0) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[600,40]
                %2 = relu(%0) : f32[600{x},40]
                %3 = matmul(%2, %w) {result = f32} : f32[600{x},40]
                return %1, %3
              }
            }
            """);
    Program program = DelayReceives.apply(Localization.of(module, 1), 1);
    Schedule schedule = Scheduler.schedule(program, TARGET, SchedulerOptions.STANDARD);
    assertThat(begins(schedule.roles().getFirst().steps())).hasSize(1);
    Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(1));
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(inputs);
    assertThat(new ScheduleEvaluator(schedule).run(inputs).get("y")).isEqualTo(expected.get("y"));
  }

  /** Tests that the operand of a gather is computed in its place in the vector. */
  @Test
  void operandsOfBegunGathersAreNotCopied() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%a: f32[601{x},40], %b: f32[601{x},40], %w: f32[40,40]) -> ("y": f32[601,40], "z": f32[601{x},40]) {
                %0 = neg(%a) : f32[601{x},40]
                %1 = sync(%0) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[601,40]
                %2 = matmul(%b, %w) {result = f32} : f32[601{x},40]
                %3 = relu(%1) : f32[601,40]
                return %3, %2
              }
            }
            """);
    Program program = DelayReceives.apply(Localization.of(module, 1), 1);
    Schedule schedule = Scheduler.schedule(program, TARGET, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    for (ChipSchedule role : schedule.roles()) {
      assertThat(begins(role.steps())).hasSize(1);
      assertThat(role.steps())
          .filteredOn(Exchange.class::isInstance)
          .singleElement()
          .satisfies(step -> assertThat(((Exchange) step).operand()).isEmpty());
    }
    Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(1));
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(inputs);
    assertThat(new ScheduleEvaluator(schedule).run(inputs).get("y")).isEqualTo(expected.get("y"));
  }

  /** Tests that parts of a product, which is computed while rows are gathered, aren't copied. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void partsOfAProductAreStoredInTheWhole(int devices) {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=%d)
              graph @main(%%a: f32[1,130{x},40], %%w: f32[40,24]) -> ("y": f32[1,130,24]) {
                %%0 = neg(%%a) : f32[1,130{x},40]
                %%1 = sync(%%0) {kind = "all_gather(x)", to = "[*,*,*]", algorithm = "direct"} : f32[1,130,40]
                %%2 = matmul(%%1, %%w) {result = f32} : f32[1,130,24]
                %%3 = relu(%%2) : f32[1,130,24]
                return %%3
              }
            }
            """
                .formatted(devices));
    Program program = DelayReceives.apply(Localization.of(module, 1), 1);
    Schedule schedule = Scheduler.schedule(program, TARGET, SchedulerOptions.STANDARD);
    ChipSchedule role = schedule.roles().getFirst();
    assertThat(begins(role.steps())).hasSize(1);
    assertThat(role.steps())
        .filteredOn(step -> step instanceof RunTiles)
        .hasSize(3)
        .noneMatch(step -> isCopy(role, (RunTiles) step));
    Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(1));
    List<Tensor> expected = Evaluator.run(module.graph(), List.copyOf(inputs.values()));
    Map<String, Tensor> found = new ScheduleEvaluator(schedule).run(inputs);
    CloseTensors.verify(List.copyOf(found.values()), expected);
  }

  /** Tests that products run between the begin of an exchange and its end. */
  @Test
  void partsTravelWhileTheNextIsComputed() {
    Schedule schedule =
        schedule(OverlappedBlocks.graph(), "tensor=3,norm=tokens", new Algorithm.Direct(), 3);
    List<ScheduleStep> steps = schedule.roles().getFirst().steps();
    List<Integer> begins = begins(steps);
    assertThat(begins).hasSize(4);
    assertThat(begins)
        .allSatisfy(
            begin -> {
              int end = begin + 1;
              while (!(steps.get(end) instanceof Exchange)) {
                end++;
              }
              assertThat(steps.subList(begin, end)).hasAtLeastOneElementOfType(RunTiles.class);
            });
  }

  /**
   * Tests that an exchange is predicted to take its control cycles when it begins and again later.
   */
  @Test
  void controlIsPredictedTwice() {
    Schedule schedule =
        schedule(OverlappedBlocks.graph(), "tensor=3,norm=tokens", new Algorithm.Direct(), 3);
    List<ScheduleStep> steps = schedule.roles().getFirst().steps();
    List<StepPrediction> predicted =
        SchedulePrediction.of(schedule, TARGET).devices().getFirst().steps();
    double control = TARGET.devices().getFirst().exchangeCycles();
    for (int begin : begins(steps)) {
      int end = steps.indexOf(((BeginExchange) steps.get(begin)).next(steps, begin).orElseThrow());
      assertThat(predicted.get(begin).cycles()).isGreaterThan(control);
      assertThat(predicted.get(end).cycles() - predicted.get(end).computeCycles())
          .isGreaterThan(control);
    }
  }

  /** Tests that parts of a sum are stored in lines of the whole, not copied there. */
  @Test
  void partsAreStoredInLines() {
    Schedule schedule =
        schedule(OverlappedBlocks.graph(), "tensor=2,norm=tokens", new Algorithm.Direct(), 3);
    ChipSchedule role = schedule.roles().getFirst();
    assertThat(role.steps())
        .filteredOn(step -> step instanceof Exchange)
        .filteredOn(
            step -> ((Exchange) step).result().filter(lines -> !lines.isContiguous()).isPresent())
        .hasSize(6);
    assertThat(role.steps())
        .filteredOn(step -> step instanceof RunTiles)
        .noneMatch(step -> isCopy(role, (RunTiles) step));
  }

  private static boolean isCopy(ChipSchedule role, RunTiles run) {
    return role.kernels().get(run.kernel()).name().startsWith("copy");
  }

  @Test
  void textsAreReadAgain(@TempDir Path folder) throws IOException {
    Schedule schedule =
        schedule(OverlappedBlocks.graph(), "tensor=2,norm=tokens", new Algorithm.Direct(), 2);
    Path first = folder.resolve("first.sched");
    ScheduleFile.write(schedule, first);
    assertThat(first).content().contains(": begin ").contains(" lines 48 B step 96 B ");
    Path second = folder.resolve("second.sched");
    ScheduleFile.write(ScheduleFile.read(first), second);
    assertThat(second).hasSameTextualContentAs(first);
  }

  private static List<Integer> begins(List<ScheduleStep> steps) {
    return IntStream.range(0, steps.size())
        .filter(i -> steps.get(i) instanceof BeginExchange)
        .boxed()
        .toList();
  }

  @Test
  void wrongBeginsAreRefused() {
    Schedule schedule = schedule(OverlappedBlocks.graph(), "tensor=2", new Algorithm.Direct(), 2);
    ChipSchedule role = schedule.roles().getFirst();
    List<ScheduleStep> steps = role.steps();
    int begin = begins(steps).getFirst();
    BeginExchange own = (BeginExchange) steps.get(begin);
    Exchange exchange = own.next(steps, begin).orElseThrow();
    int end = steps.indexOf(exchange);
    rejected(schedule, role, with(steps, begin, own, own), "a second begin");
    rejected(schedule, role, with(steps, steps.size() - 1, steps.getLast(), own), "no exchange");
    rejected(
        schedule,
        role,
        with(steps, begin, own, new ScheduleStep.Clear(exchange.vector(), 8, Origin.NONE)),
        "a vector that is written");
    rejected(
        schedule,
        role,
        with(
            steps,
            begin,
            own,
            new ScheduleStep.Clear(exchange.message().orElseThrow(), 8, Origin.NONE)),
        "a message that is written");
    List<ScheduleStep> early = new ArrayList<>(steps);
    early.remove(begin);
    early.add(begin - 1, own);
    rejected(schedule, role, early, "a begin before the operand is written");
    assertThat(steps.subList(begin, end)).hasAtLeastOneElementOfType(RunTiles.class);
  }

  /** Returns the steps with another one in place of one and a second one after it. */
  private static List<ScheduleStep> with(
      List<ScheduleStep> steps, int index, ScheduleStep first, ScheduleStep second) {
    List<ScheduleStep> changed = new ArrayList<>(steps);
    changed.set(index, first);
    changed.add(index + 1, second);
    return changed;
  }

  private static void rejected(
      Schedule schedule, ChipSchedule role, List<ScheduleStep> steps, String change) {
    Schedule changed =
        ChangedChips.with(
            schedule, ChangedChips.with(role, role.kernels(), steps, List.of(), Optional.empty()));
    assertThatThrownBy(() -> ScheduleVerifier.verify(changed))
        .as(change)
        .hasMessageContaining("error P441");
  }
}
