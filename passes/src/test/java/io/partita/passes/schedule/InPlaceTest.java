package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.input;
import static io.partita.passes.schedule.SmallPrograms.linear;
import static io.partita.passes.schedule.SmallPrograms.nodes;
import static io.partita.passes.schedule.SmallPrograms.only;
import static io.partita.passes.schedule.SmallPrograms.unary;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests values that share bytes with others: views, parts, updated caches, dead operands. */
class InPlaceTest {
  private static long result(ChipSchedule chip, int step) {
    return ((RunTiles) chip.steps().get(step)).operands().getLast();
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
}
