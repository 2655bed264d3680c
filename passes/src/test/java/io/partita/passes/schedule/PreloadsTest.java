package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.AwaitPreload;
import io.partita.ir.schedule.ScheduleStep.Condition;
import io.partita.ir.schedule.ScheduleStep.Exchange;
import io.partita.ir.schedule.ScheduleStep.Guard;
import io.partita.ir.schedule.ScheduleStep.Preload;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreloadsTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");

  /** Layers that compute longer than their weights, of 16 KiB, are under way. */
  private static final Program LAYERS =
      SmallPrograms.of(
          graph -> {
            Value x = graph.input("x", TensorType.of(ElementType.F32, 16, 64));
            for (int i = 0; i < 4; i++) {
              TensorType type = TensorType.of(ElementType.F32, 64, 64);
              Value weight = graph.at("weight" + i).constant(Tensor.filled(type, 0.01 * i));
              x = graph.at("linear" + i).add(new Structured.Linear(false, false), x, weight);
              x = graph.at("tanh" + i).add(new Elementwise.Unary(UnaryFunction.TANH), x);
            }
            graph.output("y", x);
          });

  private static final Schedule AHEAD =
      Scheduler.schedule(LAYERS, SIRACUSA, SchedulerOptions.STANDARD);

  private static final Schedule IN_TIME = inTime(LAYERS, SIRACUSA);

  private static final ChipSchedule CHIP = AHEAD.roles().getFirst();

  private static List<Preload> preloads() {
    return CHIP.steps().stream()
        .filter(Preload.class::isInstance)
        .map(Preload.class::cast)
        .toList();
  }

  private static int[] places(Class<? extends ScheduleStep> kind) {
    return IntStream.range(0, CHIP.steps().size())
        .filter(i -> kind.isInstance(CHIP.steps().get(i)))
        .toArray();
  }

  private static double cycles(Schedule schedule) {
    return SchedulePrediction.of(schedule, SIRACUSA).devices().getFirst().cycles();
  }

  @Test
  void weightsOfAllLayersAreCopiedAhead() {
    assertThat(preloads().stream().mapToLong(Preload::bytes).sum()).isEqualTo(4 * 4 * 64 * 64);
    assertThat(IN_TIME.roles().getFirst().steps())
        .noneMatch(step -> step instanceof Preload || step instanceof AwaitPreload);
    assertThat(cycles(AHEAD)).isLessThan(cycles(IN_TIME));
  }

  @Test
  void resultsAreTheSame() {
    requireSameResults(AHEAD, IN_TIME, 16);
  }

  @Test
  void copiesAreBehindWhatTheStepsInBetweenUse() {
    for (int from : places(Preload.class)) {
      Preload preload = (Preload) CHIP.steps().get(from);
      List<ScheduleStep> twice =
          Stream.concat(CHIP.steps().stream(), CHIP.steps().stream()).toList();
      int to = from + 1;
      while (!(twice.get(to) instanceof AwaitPreload await
          && await.preload() == preload.preload())) {
        to++;
      }
      assertThat(twice.subList(from, to + 2))
          .filteredOn(RunTiles.class::isInstance)
          .allMatch(step -> kernel(step).workingBytes() <= preload.working());
    }
  }

  /**
   * Two chips, each with half of the features between two products; their sums are exchanged.
   *
   * @param features between the two products
   */
  private static Program exchangedSums(int rows, int features) {
    String weight = hundredths(64L * features);
    StringBuilder layers = new StringBuilder();
    String x = "x";
    for (int i = 0; i < 3; i++) {
      layers.append(
          """
          %IN = constant WEIGHT : f32[64,FEATURES]
          %OUT = constant WEIGHT : f32[FEATURES,64]
          %OWN_IN = reshard(%IN) {to = "[*,*{x}]"} : f32[64,FEATURES{x}]
          %OWN_OUT = reshard(%OUT) {to = "[*{x},*]"} : f32[FEATURES{x},64]
          %WIDE = linear(%X, %OWN_IN) : f32[ROWS,FEATURES{x}]
          %ACTIVE = tanh(%WIDE) : f32[ROWS,FEATURES{x}]
          %TERM = linear(%ACTIVE, %OWN_OUT) : f32[ROWS,64] partial(sum: x)
          %SUM = sync(%TERM) {kind = "all_reduce(x)", to = "[*,*]"} : f32[ROWS,64]
          """
              .replace("%X", "%" + x)
              .replaceAll("%(IN|OUT|OWN_IN|OWN_OUT|WIDE|ACTIVE|TERM|SUM)\\b", "%$1" + i)
              .replace("WEIGHT", weight));
      x = "SUM" + i;
    }
    String module =
        "pir 1\nmodule {\nmesh(x=2)\ngraph @layers(%x: f32[ROWS,64]) -> (\"y\": f32[ROWS,64]) {\n"
            + layers
            + "return %"
            + x
            + "\n}\n}\n";
    module = module.replace("ROWS", "" + rows).replace("FEATURES", "" + features);
    return Localization.of(PirParser.parse(module), 1);
  }

  private static String hundredths(long count) {
    return Stream.generate(() -> "0.01").limit(count).collect(Collectors.joining(", ", "[", "]"));
  }

  @Test
  void exchangesLeaveWhatIsUnderWay() {
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    Program program = exchangedSums(16, 64);
    Schedule schedule = Scheduler.schedule(program, target, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    int limited = 0;
    for (ChipSchedule chip : schedule.roles()) {
      Map<Integer, Long> underWay = new HashMap<>();
      for (ScheduleStep step : chip.steps()) {
        switch (step) {
          case Preload preload -> underWay.merge(preload.preload(), preload.working(), Math::min);
          case AwaitPreload await -> underWay.remove(await.preload());
          case Exchange exchange -> {
            long end = exchange.working() + exchange.workingBytes();
            assertThat(underWay.values()).allMatch(working -> end <= working);
            limited += underWay.isEmpty() ? 0 : 1;
          }
          default -> {}
        }
      }
    }
    assertThat(limited).isPositive();
    requireSameResults(schedule, inTime(program, target), 16);
  }

  private static Schedule inTime(Program program, TargetDescription target) {
    return Scheduler.schedule(
        program, target, new SchedulerOptions(OptionalLong.empty(), true, false));
  }

  private static void requireSameResults(Schedule one, Schedule other, long rows) {
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, rows, 64), 0.001));
    assertThat(new ScheduleEvaluator(one).run(inputs).toString())
        .isEqualTo(new ScheduleEvaluator(other).run(inputs).toString());
  }

  /** A row takes a loop less time than its weights take the DMA. */
  @Test
  void exchangesStartWhatLoopsHaveNoTimeFor() {
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    Program program = exchangedSums(1, 512);
    Schedule schedule = Scheduler.schedule(program, target, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    long started = 0;
    for (ChipSchedule chip : schedule.roles()) {
      long asked = 0;
      for (ScheduleStep step : chip.steps()) {
        if (step instanceof Preload preload) {
          asked += preload.bytes();
        } else {
          started += step instanceof Exchange ? asked : 0;
          asked = 0;
        }
      }
    }
    assertThat(started).isPositive();
    Schedule inTime = inTime(program, target);
    requireSameResults(schedule, inTime, 1);
    assertThat(SchedulePrediction.of(schedule, target).devices().getFirst().cycles())
        .isLessThan(SchedulePrediction.of(inTime, target).devices().getFirst().cycles());
  }

  /** A run begins with a wait for them, so they arrive before the weights of later loops. */
  @Test
  void theLastExchangeStartsTheConstantsOfTheNextRun() {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 6; i++) {
      lines.append(
          """
          %addend = constant LINE : f32[64]
          %moved = add(%x, %addend) : f32[16,64]
          %X = softmax(%moved) {axis = 1} : f32[16,64]
          """
              .replace("LINE", hundredths(64))
              .replaceAll("%(addend|moved)", "%$1" + i)
              .replace("%x", i == 0 ? "%x" : "%x" + (i - 1))
              .replace("%X", "%x" + i));
    }
    String module =
        """
        pir 1
        module {
        mesh(x=2)
        graph @sums(%x: f32[16,64]) -> ("y": f32[16,64]) {
        LINES
        %weight = constant WEIGHT : f32[64,64]
        %own = reshard(%weight) {to = "[*{x},*]"} : f32[64{x},64]
        %part = reshard(%x5) {to = "[*,*{x}]"} : f32[16,64{x}]
        %term = linear(%part, %own) : f32[16,64] partial(sum: x)
        %sum = sync(%term) {kind = "all_reduce(x)", to = "[*,*]"} : f32[16,64]
        %y = tanh(%sum) : f32[16,64]
        return %y
        }
        }
        """
            .replace("LINES", lines)
            .replace("WEIGHT", hundredths(64 * 64));
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    Program program = Localization.of(PirParser.parse(module), 1);
    Schedule schedule = Scheduler.schedule(program, target, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    for (ChipSchedule chip : schedule.roles()) {
      Preload constants =
          chip.start().stream()
              .filter(Preload.class::isInstance)
              .map(Preload.class::cast)
              .filter(preload -> preload.origin().name().equals("small constants"))
              .findFirst()
              .orElseThrow(() -> new AssertionError(SchedulePrinter.print(schedule)));
      int exchange = lastIndex(chip, Exchange.class);
      assertThat(chip.steps().subList(0, exchange)).contains(constants);
      assertThat(chip.steps().subList(exchange, chip.steps().size())).doesNotContain(constants);
    }
    requireSameResults(schedule, inTime(program, target), 16);
  }

  private static int lastIndex(ChipSchedule chip, Class<? extends ScheduleStep> kind) {
    return IntStream.range(0, chip.steps().size())
        .filter(i -> kind.isInstance(chip.steps().get(i)))
        .max()
        .orElseThrow();
  }

  /** What is left of a step's time is for the weights of a later loop. */
  @Test
  void stepsStartCopiesOfSeveralWeights() {
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    Schedule schedule =
        Scheduler.schedule(exchangedSums(1, 256), target, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    assertThat(mostAtOnce(schedule)).isBetween(2, Preload.MOST);
    requireSameResults(schedule, inTime(exchangedSums(1, 256), target), 1);
  }

  private static int mostAtOnce(Schedule schedule) {
    int most = 0;
    for (ChipSchedule chip : schedule.roles()) {
      int count = 0;
      for (ScheduleStep step : chip.steps()) {
        count = step instanceof Preload ? count + 1 : 0;
        most = Math.max(most, count);
      }
    }
    return most;
  }

  @Test
  void moreCopiesThanTheRuntimeKeepsAreRefused() {
    int place = places(Preload.class)[0];
    Preload own = (Preload) CHIP.steps().get(place);
    long part = own.bytes() / (Preload.MOST + 1) / 16 * 16;
    List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
    steps.remove(place);
    for (int i = 0; i <= Preload.MOST; i++) {
      long from = i * part;
      long bytes = i < Preload.MOST ? part : own.bytes() - from;
      steps.add(
          place + i,
          new Preload(own.preload(), own.home() + from, own.working() + from, bytes, own.origin()));
    }
    rejected(steps, "in many parts").hasMessageContaining("at most 4 before the same step");
  }

  private static TiledKernel kernel(ScheduleStep step) {
    return CHIP.kernels().get(((RunTiles) step).kernel());
  }

  @Test
  void textsAreReadAgain(@TempDir Path folder) {
    Path file = folder.resolve("layers.sched");
    ScheduleFile.write(AHEAD, file);
    Schedule read = ScheduleFile.read(file);
    String text = SchedulePrinter.print(AHEAD);
    assertThat(text).contains(": preload 0 l2 0x").contains(": await 0");
    assertThat(SchedulePrinter.print(read)).isEqualTo(text);
  }

  /** What the first loop uses is under way when a run begins; the first run begins it itself. */
  @Test
  void lastStepsStartWhatTheNextRunUsesFirst() {
    List<Preload> early =
        CHIP.start().stream().filter(Preload.class::isInstance).map(Preload.class::cast).toList();
    assertThat(early).isNotEmpty();
    int[] last = places(Preload.class);
    assertThat(CHIP.steps().get(last[last.length - 1])).isEqualTo(early.getLast());
    int number = early.getLast().preload();
    int awaited = 0;
    while (!(CHIP.steps().get(awaited) instanceof AwaitPreload await
        && await.preload() == number)) {
      awaited++;
    }
    assertThat(awaited).isLessThan(last[last.length - 1]);
    // Each run gives the same.
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, 16, 64), 0.001));
    ScheduleEvaluator twice = new ScheduleEvaluator(AHEAD);
    assertThat(twice.run(inputs).toString()).isEqualTo(twice.run(inputs).toString());
  }

  /** Another entry point may run in between. */
  @Test
  void runsOfSeveralEntryPointsBeginWithoutPreloads() {
    List<Schedule> entries =
        Scheduler.schedule(
            List.of(LAYERS, LAYERS), SIRACUSA, SchedulerOptions.STANDARD, ProgressListener.NONE);
    assertThat(entries)
        .allSatisfy(
            entry ->
                assertThat(entry.roles().getFirst().start()).noneMatch(Preload.class::isInstance));
    assertThatThrownBy(() -> ScheduleVerifier.verifyTogether(List.of(AHEAD, AHEAD)))
        .hasMessageContaining("no transfer in flight when a run begins");
  }

  @Test
  void missingAwaitsAreRefused() {
    for (int place : places(AwaitPreload.class)) {
      List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
      steps.remove(place);
      rejected(steps, "without await " + place);
    }
  }

  @Test
  void missingPartsAreRefused() {
    for (int place : places(Preload.class)) {
      List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
      steps.remove(place);
      rejected(steps, "without preload " + place);
    }
  }

  @Test
  void otherBytesAreRefused() {
    for (int place : places(Preload.class)) {
      Preload own = (Preload) CHIP.steps().get(place);
      for (long shift : List.of(-64L, 64L)) {
        List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
        steps.set(
            place,
            new Preload(
                own.preload(), own.home(), own.working() + shift, own.bytes(), own.origin()));
        rejected(steps, "copied elsewhere at step " + place);
      }
    }
  }

  /** The bytes of a copy don't change while it arrives. */
  @Test
  void copiesThatOverlapAreRefused() {
    for (int place : places(Preload.class)) {
      List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
      steps.add(place, steps.get(place));
      rejected(steps, "twice at step " + place);
    }
  }

  /** Otherwise, nothing would start the transfer where a device skips the loop. */
  @Test
  void preloadsByGuardedLoopsAreRefused() {
    int[] besideAwaits =
        Arrays.stream(places(Preload.class))
            .filter(
                place ->
                    CHIP.steps().get(place + 1) instanceof AwaitPreload
                        && CHIP.steps().get(place + 2) instanceof RunTiles)
            .toArray();
    assertThat(besideAwaits).isNotEmpty();
    for (int place : besideAwaits) {
      List<ScheduleStep> steps = new ArrayList<>(CHIP.steps());
      Preload own = (Preload) steps.remove(place);
      steps.add(place + 1, own);
      List<Condition> conditions = List.of(new Condition(own.home(), true));
      steps.add(place + 1, new Guard(conditions, 2, Optional.empty(), own.origin()));
      rejected(steps, "in a guarded region at step " + place)
          .hasMessageContaining("a loop or an exchange after it that always runs");
    }
  }

  private static AbstractThrowableAssert<?, ?> rejected(List<ScheduleStep> steps, String change) {
    // Live ranges are stated by the numbers of steps.
    boolean isSameSize = steps.size() == CHIP.steps().size();
    ChipSchedule chip =
        ChangedChips.with(
            CHIP,
            CHIP.kernels(),
            steps,
            isSameSize ? CHIP.residences() : List.of(),
            Optional.empty());
    Schedule schedule = ChangedChips.with(AHEAD, chip);
    return assertThatThrownBy(() -> ScheduleVerifier.verify(schedule))
        .as(change)
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("error P441");
  }
}
