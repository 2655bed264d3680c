package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.NearCopy;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.tile.LoopTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NearCopyTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");

  /** The operand with the new rows; the next one is the cache. */
  private static final int ROWS = 1;

  /** An update of a cache of two heads, and another loop. */
  private static ChipSchedule updated() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = graph.input("past", TensorType.of(ElementType.I32, 1, 2, 8, 16));
              Value x = graph.input("x", TensorType.of(ElementType.I32, 1, 2, 1, 16));
              Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
              Value present =
                  graph.at("update").add(new Structured.CacheUpdate(2, false), past, x, position);
              graph.output("present", present);
              graph.output(
                  "y", graph.add(new Elementwise.Binary(BinaryFunction.ADD), present, present));
            });
    return Scheduler.schedule(program, SIRACUSA, SchedulerOptions.STANDARD).roles().getFirst();
  }

  private static TiledKernel update() {
    return updated().kernels().getFirst();
  }

  /** New rows that another loop has left in the working memory. */
  private static TiledKernel updateOfNearRows() {
    TiledKernel update = update();
    List<TileOperand> operands = new ArrayList<>(update.operands());
    TileOperand rows = operands.get(ROWS);
    operands.set(
        ROWS,
        new TileOperand(
            rows.name(),
            rows.element(),
            rows.packing(),
            rows.direction(),
            rows.box(),
            0,
            0,
            0,
            Optional.empty(),
            Optional.empty()));
    return new TiledKernel(
        update.name(),
        update.axes(),
        operands,
        update.scratch(),
        update.calls(),
        update.stages(),
        update.workingBytes());
  }

  @Test
  void newRowsOfCachesAreCopiedWithoutKernel() {
    TiledKernel update = updateOfNearRows();
    assertThat(NearCopy.of(update)).contains(new NearCopy(ROWS, ROWS + 1));
    LoopTime time = LoopTime.of(update, SIRACUSA.devices().getFirst());
    assertThat(time.computeCycles()).isZero();
    assertThat(time.cycles()).isPositive();
    assertThat(time.storedBytes()).isEqualTo(2 * 16 * Integer.BYTES);
  }

  @Test
  void rowsOfTheHomeMemoryAreCopiedByAKernel() {
    assertThat(NearCopy.of(update())).isEmpty();
    assertThat(LoopTime.of(update(), SIRACUSA.devices().getFirst()).computeCycles()).isPositive();
  }

  @Test
  void loopsThatComputeAreNoCopies() {
    assertThat(NearCopy.of(updated().kernels().getLast())).isEmpty();
  }
}
