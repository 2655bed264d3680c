package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.input;
import static io.partita.passes.schedule.SmallPrograms.linear;
import static io.partita.passes.schedule.SmallPrograms.unary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SchedulerTest {
  private static ChipSchedule only(Schedule schedule) {
    assertThat(schedule.roles()).hasSize(1);
    return schedule.roles().getFirst();
  }

  private static List<String> nodes(ChipSchedule chip) {
    return chip.steps().stream().map(step -> step.origin().name()).toList();
  }

  @Test
  void emptyStatesNeedNoMemory() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = input(graph, "past", 0, 16);
              graph.output("present", unary(graph, UnaryFunction.NEG, past));
              Value joined = graph.add(new Movement.Concat(0), past, input(graph, "x", 2, 16));
              graph.output("y", unary(graph, UnaryFunction.SQRT, joined));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(chip.states()).isEmpty();
  }

  @Test
  void oldStatesAreOutputBeforeTheirUpdate() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = input(graph, "past", 2, 16);
              graph.output("present", unary(graph, UnaryFunction.NEG, input(graph, "x", 2, 16)));
              Value rows = graph.at("old").add(new Movement.Reshape(Shape.of(32)), past);
              graph.output("y", rows);
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("NEG", "old", "NEG");
  }

  @Test
  void statesMayBecomeInputs() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              graph.output("y", unary(graph, UnaryFunction.NEG, input(graph, "past", 2, 16)));
              graph.output("present", input(graph, "x", 2, 16));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("NEG", "x");
  }

  @Test
  void transposesOfHeadsNeedNoStep() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = linear(graph, input(graph, "x", 1, 5, 32), 32, 64, 1);
              Value heads = graph.add(new Movement.Reshape(Shape.of(1, 5, 4, 16)), x);
              Value swapped = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads);
              Value y = unary(graph, UnaryFunction.SQRT, swapped);
              Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), y);
              graph.output("y", graph.add(new Movement.Reshape(Shape.of(1, 5, 64)), back));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("linear 1", "SQRT");
  }

  @Test
  void partsOfConcatenationsAreWrittenInPlace() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 4, 16);
              Value left = unary(graph, UnaryFunction.SQRT, x);
              Value right = unary(graph, UnaryFunction.NEG, x);
              graph.output("y", graph.at("join").add(new Movement.Concat(1), left, right, x));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("SQRT", "NEG", "join");
    long y = chip.outputs().getFirst().at().offset();
    assertThat(result(chip, 0)).isEqualTo(y);
    assertThat(result(chip, 1)).isEqualTo(y + 16 * Float.BYTES);
    assertThat(result(chip, 2)).isEqualTo(y + 32 * Float.BYTES);
  }

  @Test
  void emptyOutputsHaveNoBytes() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 4, 16);
              graph.output("y", unary(graph, UnaryFunction.SQRT, x));
              Movement.Slice none =
                  new Movement.Slice(
                      List.of(Dim.of(0), Dim.of(8)),
                      List.of(Dim.of(4), Dim.of(0)),
                      List.of(1L, 1L));
              graph.output("none", graph.add(none, x));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("SQRT");
    assertThat(chip.outputs().getLast().type()).isEqualTo(TensorType.of(ElementType.F32, 4, 0));
  }

  private static long result(ChipSchedule chip, int step) {
    return ((RunTiles) chip.steps().get(step)).operands().getLast();
  }

  @Test
  void cachesAreUpdatedInPlace() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = input(graph, "past", 1, 2, 8, 16);
              Value x = input(graph, "x", 1, 2, 1, 16);
              Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
              Value present =
                  graph.at("update").add(new Structured.CacheUpdate(2, false), past, x, position);
              graph.output("present", present);
              graph.output("y", unary(graph, UnaryFunction.NEG, present));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("update", "NEG");
    assertThat(chip.states()).extracting(ChipSchedule.Port::name).containsExactly("past");
    assertThat(result(chip, 0)).isEqualTo(chip.states().getFirst().at().offset());
    assertThat(chip.outputs()).extracting(ChipSchedule.Port::name).containsExactly("y");
    assertThat(chip.start())
        .containsExactly(
            new ScheduleStep.Clear(
                chip.states().getFirst().at().offset(),
                2 * 8 * 16 * Float.BYTES,
                Origin.named("past")));
  }

  @Test
  void cachesWithLaterUsersAreCopied() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value past = input(graph, "past", 1, 2, 8, 16);
              Value x = input(graph, "x", 1, 2, 1, 16);
              Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
              Value present =
                  graph.at("update").add(new Structured.CacheUpdate(2, false), past, x, position);
              graph.output("y", unary(graph, UnaryFunction.NEG, present));
              graph.output("z", unary(graph, UnaryFunction.SQRT, past));
            });
    assertThat(nodes(only(SmallPrograms.schedule(program))))
        .containsExactly("update", "update", "NEG", "SQRT");
  }

  @Test
  void elementwiseResultsReplaceDeadOperands() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 4, 16);
              Value y = unary(graph, UnaryFunction.SQRT, x);
              Value z = graph.at("sum").add(new Elementwise.Binary(BinaryFunction.ADD), y, x);
              graph.output("z", unary(graph, UnaryFunction.NEG, z));
              graph.output("y", unary(graph, UnaryFunction.EXP, y));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("SQRT", "sum", "EXP");
    long x = chip.inputs().getFirst().at().offset();
    long y = result(chip, 0);
    assertThat(y).isNotEqualTo(x);
    assertThat(result(chip, 1)).isEqualTo(x);
    assertThat(result(chip, 2)).isEqualTo(y);
    assertThat(chip.home().used()).isEqualTo(2 * 4 * 16 * Float.BYTES);
  }

  @Test
  void broadcastRowsAreNotReplaced() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 1, 16);
              Value row = unary(graph, UnaryFunction.SQRT, x);
              Value all = unary(graph, UnaryFunction.NEG, input(graph, "all", 4, 16));
              graph.output(
                  "y", graph.at("sum").add(new Elementwise.Binary(BinaryFunction.ADD), row, all));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("SQRT", "NEG");
    assertThat(result(chip, 1)).isEqualTo(chip.inputs().getLast().at().offset());
  }

  @Test
  void rowsOfATableAreFetchedFromL3() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value ids = graph.input("ids", TensorType.of(ElementType.I64, 3));
              Value table = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 50, 8), 2));
              graph.output("y", graph.at("rows").add(new Structured.Embedding(), table, ids));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    StoredConstant table = chip.constants().getFirst();
    assertThat(chip.constants()).hasSize(1);
    assertThat(table.at().isHome()).isFalse();
    assertThat(chip.steps())
        .containsExactly(
            new ScheduleStep.FetchRows(
                table.at(),
                50,
                32,
                chip.inputs().getFirst().at().offset(),
                ElementType.I64,
                3,
                chip.outputs().getFirst().at().offset(),
                Origin.named("rows")));
  }

  @Test
  void weightsStayInL2WhileThereIsRoom() {
    Program layers = SmallPrograms.layers(8, 128);
    ChipSchedule chip = only(SmallPrograms.schedule(layers));
    assertThat(chip.steps())
        .noneMatch(step -> step instanceof StartTransfer || step instanceof WaitTransfer);
    assertThat(chip.constants()).isNotEmpty().allMatch(constant -> constant.at().isHome());
    assertThat(chip.farther().getFirst().used()).isZero();
  }

  @Test
  void otherwiseSomeStayAndOthersArePrefetchedOnce() {
    Program layers = SmallPrograms.layers(8, 128);
    Schedule schedule =
        Scheduler.schedule(layers, SmallPrograms.withL2(256), SchedulerOptions.STANDARD);
    ChipSchedule chip = only(schedule);
    assertThat(staying(chip)).isGreaterThan(64 * 1024);
    assertThat(fetched(chip) + staying(chip)).isEqualTo(8 * 128 * 128 * Float.BYTES);
    assertThat(fetched(chip)).isEqualTo(chip.farther().getFirst().used());
    assertThat(chip.home().used()).isLessThanOrEqualTo(256 * 1024);
    assertThat(loopsUnderWay(chip)).isGreaterThan(8);
  }

  private static long staying(ChipSchedule chip) {
    return chip.constants().stream()
        .filter(constant -> constant.at().isHome())
        .mapToLong(StoredConstant::bytes)
        .sum();
  }

  /** Tests that weights with room are fetched before the run, and the others during it. */
  @Test
  void theFirstWeightsAreFetchedByTheRunBefore() {
    Program layers = SmallPrograms.layers(8, 128);
    ChipSchedule chip =
        only(Scheduler.schedule(layers, SmallPrograms.withL2(320), SchedulerOptions.STANDARD));
    assertThat(chip.start()).isNotEmpty().hasOnlyElementsOfType(StartTransfer.class);
    List<ScheduleStep> ends =
        chip.steps().stream().filter(step -> chip.start().contains(step)).toList();
    assertThat(ends).isEqualTo(chip.start());
    List<ScheduleStep> beforeLastLoop = new ArrayList<>(chip.steps());
    while (!(beforeLastLoop.removeLast() instanceof ScheduleStep.RunTiles)) {
      assertThat(beforeLastLoop).isNotEmpty();
    }
    assertThat(beforeLastLoop).contains(chip.start().getFirst());
    assertThat(chip.steps().getFirst())
        .isEqualTo(
            new WaitTransfer(
                ((StartTransfer) chip.start().getFirst()).transfer(),
                chip.start().getFirst().origin()));
  }

  @Test
  void withoutPrefetchTransfersAreNotOverlapped() {
    Program layers = SmallPrograms.layers(8, 128);
    SchedulerOptions options = new SchedulerOptions(OptionalLong.empty(), true, false);
    ChipSchedule chip = only(Scheduler.schedule(layers, SmallPrograms.withL2(256), options));
    assertThat(fetched(chip) + staying(chip)).isEqualTo(8 * 128 * 128 * Float.BYTES);
    assertThat(loopsUnderWay(chip)).isZero();
  }

  /** The fastest placement keeps a large ring, through which more weights pass. */
  @Test
  void leastTrafficLoadsOnlyWhatHasNoRoom() {
    Program layers = SmallPrograms.layers(16, 128);
    TargetDescription target = SmallPrograms.withL2(640);
    SchedulerOptions least = SchedulerOptions.STANDARD.withLeastTraffic(true);
    ChipSchedule chip = only(Scheduler.schedule(layers, target, least));
    long weights = 16 * 128 * 128 * Float.BYTES;
    long room = chip.home().available();
    assertThat(fetched(chip) + staying(chip)).isEqualTo(weights);
    assertThat(fetched(chip))
        .isLessThan(fetched(only(Scheduler.schedule(layers, target, SchedulerOptions.STANDARD))))
        .isBetween(weights - room, weights - room * 3 / 4);
  }

  /** Tests a matrix of 256 KiB in less than half of that memory. */
  @Test
  void largeMatricesAreFetchedByColumns() {
    Program layers = SmallPrograms.layers(1, 256);
    ChipSchedule chip =
        only(Scheduler.schedule(layers, SmallPrograms.withL2(100), SchedulerOptions.STANDARD));
    assertThat(fetched(chip) + staying(chip)).isEqualTo(256 * 256 * Float.BYTES);
    assertThat(chip.steps().stream().filter(step -> step.origin().name().equals("linear 1")))
        .filteredOn(step -> step instanceof RunTiles)
        .hasSizeGreaterThan(3);
    assertThat(loopsUnderWay(chip)).isGreaterThan(1);
  }

  private static long fetched(ChipSchedule chip) {
    return chip.steps().stream()
        .mapToLong(step -> step instanceof StartTransfer start ? start.bytes() : 0)
        .sum();
  }

  private static int loopsUnderWay(ChipSchedule chip) {
    int underWay = chip.start().size();
    int loops = 0;
    for (ScheduleStep step : chip.steps()) {
      switch (step) {
        case StartTransfer start -> underWay++;
        case WaitTransfer wait -> underWay--;
        case RunTiles run -> loops += underWay > 0 ? 1 : 0;
        case ScheduleStep other -> {}
      }
    }
    return loops;
  }

  @Test
  void schedulesAreDeterministic() {
    ChipSchedule first = only(SmallPrograms.schedule(SmallPrograms.layers(3, 64)));
    ChipSchedule second = only(SmallPrograms.schedule(SmallPrograms.layers(3, 64)));
    assertThat(second).isEqualTo(first);
  }

  @Test
  void tilesGetNoMoreOfL1ThanTheOptionSays() {
    SchedulerOptions options = new SchedulerOptions(OptionalLong.of(4096), true, true);
    Program layers = SmallPrograms.layers(1, 128);
    ChipSchedule chip = only(Scheduler.schedule(layers, SmallPrograms.withL2(256), options));
    assertThat(chip.working().used()).isLessThanOrEqualTo(4096);
    ChipSchedule same =
        only(Scheduler.schedule(layers, SmallPrograms.with("l1", 4096), SchedulerOptions.STANDARD));
    assertThat(same.kernels()).isEqualTo(chip.kernels());
  }

  @Test
  void allUnsupportedNodesAreNamed() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F64, 2, 3));
              Value y = unary(graph, UnaryFunction.ASIN, x);
              graph.output("y", unary(graph, UnaryFunction.ATANH, y));
            });
    assertThatThrownBy(() -> SmallPrograms.schedule(program))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P4401: there is no kernel for an operation
              where:     node "ASIN"
              expected:  an operation and element types that a kernel of the runtime computes
              found:     asin of f64[2,3] that gives f64[2,3]
              fix:       use other operations or element types, such as f32 or i8; \
            the Java backend supports all operations
            error P4401: there is no kernel for an operation
              where:     node "ATANH"
              expected:  an operation and element types that a kernel of the runtime computes
              found:     atanh of f64[2,3] that gives f64[2,3]
              fix:       use other operations or element types, such as f32 or i8; \
            the Java backend supports all operations""");
  }

  @Test
  void shortagesAreReported() {
    Program program =
        SmallPrograms.of(
            graph -> graph.output("y", linear(graph, input(graph, "x", 256, 64), 64, 64, 1)));
    assertThatThrownBy(
            () -> Scheduler.schedule(program, SmallPrograms.withL2(100), SchedulerOptions.STANDARD))
        .hasMessage(
            """
            error P4403: a program doesn't fit the home memory
              where:     device 0 (siracusa), memory l2
              expected:  at most 102,400 B (233,472 B minus the space for code, data and messages)
              found:     147,456 B: activations 131,072 B, weights 16,384 B; \
            the largest are x 65,536 B, linear 1 65,536 B, constant 16,384 B
              fix:       use more devices, smaller element types, fewer tokens or a shorter KV cache""");
    assertThatThrownBy(
            () ->
                Scheduler.schedule(
                    SmallPrograms.layers(20, 256),
                    SmallPrograms.with("l3", 1 << 20),
                    SchedulerOptions.STANDARD))
        .hasMessageContaining(
            "error P4404: weights and states don't fit the memory outside the chip")
        .hasMessageContaining("at most 1,048,576 B")
        .hasMessageContaining("found:     3,670,016 B");
  }

  /** Tests that L2 isn't named where only the memory outside of the chip is too small. */
  @Test
  void onlyMemoryThatIsTooSmallIsNamed() {
    PricedSchedule priced =
        Scheduler.price(
            SmallPrograms.layers(20, 256),
            SmallPrograms.with("l3", 1 << 20),
            SchedulerOptions.STANDARD);
    assertThat(priced.misfits()).extracting(misfit -> misfit.memory().name()).containsExactly("l3");
  }

  /** Tests updates whose data is in the cache. */
  @Test
  void cachesUpdatedWithThemselvesAreCopied() {
    Schedule schedule =
        SmallPrograms.schedule(
            SmallPrograms.of(
                graph -> {
                  Value cache = SmallPrograms.input(graph, "cache", 1, 1, 4, 8);
                  Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
                  Structured.CacheUpdate update = new Structured.CacheUpdate(2, false);
                  graph.output("y", graph.add(update, cache, cache, position));
                }));
    List<ScheduleStep> steps = schedule.roles().getFirst().steps();
    assertThat(steps).hasSize(2);
  }

  /** Tests that each result of an operation has its own place. */
  @Test
  void indicesOfPoolsAreWrittenIntoConcatenations() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 3, 3, 5);
              Value other = graph.input("other", TensorType.of(ElementType.I64, 3, 3, 6));
              Window window =
                  new Window(List.of(1L), List.of(1L), List.of(1L), List.of(1L), List.of(0L));
              Contraction.Pool pool = new Contraction.Pool(true, window, false, false, true);
              List<Value> results = graph.addNode(pool, List.of(x)).results();
              graph.output("y", results.get(0));
              Value joined = graph.add(new Movement.Concat(2), results.get(1), other);
              graph.output("indices", joined);
            });
    TiledKernel pool = SmallPrograms.schedule(program).roles().getFirst().kernels().getFirst();
    assertThat(pool.operands().get(1).box().get(1).stride()).isEqualTo(6);
    assertThat(pool.operands().get(2).box().get(1).stride()).isEqualTo(12);
  }

  /** Tests tables that are too large for folding. */
  @Test
  void constantExpressionsAreStored() {
    Program program =
        SmallPrograms.of(
            graph -> {
              long rows = 300;
              Value table = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 5, 4), 2));
              Value indices =
                  graph.constant(Tensor.filled(TensorType.of(ElementType.I64, rows, rows, 2), 1));
              Value places =
                  graph.add(
                      new Movement.Slice(
                          List.of(Dim.ZERO, Dim.ZERO, Dim.ONE),
                          List.of(Dim.of(rows), Dim.of(rows), Dim.ONE),
                          List.of(1L, 1L, 1L)),
                      indices);
              Value same = graph.add(new Elementwise.Binary(BinaryFunction.MUL), places, places);
              Value summed =
                  graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1, 2), false), same);
              Value one = graph.constant(Tensor.filled(TensorType.of(ElementType.I64, 1), 299));
              Value index = graph.add(new Elementwise.Binary(BinaryFunction.SUB), summed, one);
              Value bias = graph.add(new Structured.Embedding(), table, index);
              Value x = input(graph, "x", rows, 4);
              graph.output("y", graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, bias));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(chip.kernels())
        .singleElement()
        .extracting(TiledKernel::name)
        .asString()
        .startsWith("add");
    assertThat(chip.constants()).singleElement().extracting(each -> each.bytes()).isEqualTo(4800L);
  }
}
