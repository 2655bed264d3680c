package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.input;
import static io.partita.passes.schedule.SmallPrograms.only;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.tile.LoopTime;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When the kernels of a loop may begin although tiles are on their way. */
class AwaitedTilesTest {
  /** A norm by two kernels, of which only the second one uses the scale. */
  private static TiledKernel norm(long columns) {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 1, columns);
              Value scale =
                  graph.constant(Tensor.filled(TensorType.of(ElementType.F32, columns), 0.5));
              Structured.Norm norm =
                  new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false);
              graph.output("y", graph.at("norm").add(norm, x, scale));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    TiledKernel kernel = chip.kernels().getFirst();
    assertThat(kernel.calls()).hasSize(2);
    return kernel;
  }

  /** Returns how many kernels begin before the loop awaits an operand. */
  private static long callsBefore(TiledKernel kernel, String operand) {
    int number =
        IntStream.range(0, kernel.operands().size())
            .filter(i -> kernel.operands().get(i).name().equals(operand))
            .findFirst()
            .orElseThrow();
    List<Stage.Action> actions = kernel.stages().getFirst().actions();
    int await = actions.indexOf(new Stage.Await(number));
    assertThat(await).isNotNegative();
    return actions.subList(0, await).stream().filter(Stage.Call.class::isInstance).count();
  }

  @Test
  void largeTilesAreAwaitedByTheFirstKernelThatUsesThem() {
    TiledKernel kernel = norm(2048);
    assertThat(callsBefore(kernel, "x")).isZero();
    assertThat(callsBefore(kernel, "scale")).isEqualTo(1);
  }

  /** Starting the cores once more takes longer than what is left of a short transfer. */
  @Test
  void smallTilesAreAwaitedTogether() {
    TiledKernel kernel = norm(768);
    assertThat(callsBefore(kernel, "x")).isZero();
    assertThat(callsBefore(kernel, "scale")).isZero();
  }

  /** What is awaited later arrives while cores compute, and is predicted to. */
  @Test
  void laterTilesArriveWhileCoresCompute() {
    ChipKind chip = TargetLibrary.find("siracusa").chips().getFirst();
    LoopTime together = LoopTime.of(norm(768), chip);
    assertThat(together.cycles())
        .isGreaterThan(together.computeCycles() + together.loadCycles() + together.storeCycles());
    LoopTime later = LoopTime.of(norm(2048), chip);
    assertThat(later.cycles())
        .isLessThan(later.computeCycles() + later.loadCycles() + later.storeCycles());
  }
}
