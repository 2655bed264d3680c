package io.partita.passes.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.op.Structured;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the closed form of a kernel's time with a timeline of its tiles. */
class KernelTimesTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");
  private static final ChipKind CHIP = SIRACUSA.devices().getFirst();

  @ParameterizedTest
  @CsvSource({"l2, 1", "l2, 16", "l3, 1", "l3, 16", "l2, 256", "l3, 256"})
  void agreesWithATimelineOfTiles(String home, long rows) {
    List<TensorType> operands =
        List.of(
            TensorType.of(ElementType.I8, rows, 1024), TensorType.of(ElementType.I8, 1024, 2048));
    List<TensorType> results = List.of(TensorType.of(ElementType.I8, rows, 2048));
    Structured.Linear linear = new Structured.Linear(false, false);
    KernelCost cost = KernelCosts.of(linear, operands, results, i -> i == 1);
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.kernel(0, "linear", cost, home, "l2");
    Outcome tiles = timeline.play();
    double cold = new WarmKernels(CHIP).coldCycles(cost.work());
    List<KernelTimes.Operand> stored =
        List.of(operand(operands.getFirst(), "l2"), operand(operands.getLast(), home));
    KernelTime time = new KernelTimes(2).of(CHIP, linear, stored, results, "l2", cold);
    // Tiles on a timeline differ by a byte, and the first one's input needn't wait for L3.
    assertThat(time.seconds()).isCloseTo(tiles.seconds(), within(0.04 * tiles.seconds()));
    assertThat(time.computeSeconds()).isCloseTo(cost.cycles(CHIP) / CHIP.hertz(), within(1e-12));
    long bytes = time.bytes().values().stream().mapToLong(Long::longValue).sum();
    assertThat(bytes).isEqualTo(cost.bytes() + (home.equals("l3") ? cost.weightBytes() : 0));
  }

  private static KernelTimes.Operand operand(TensorType type, String memory) {
    return new KernelTimes.Operand(type, type.bytes(), memory);
  }

  @Test
  void withOneBufferCoresWaitForEachTile() {
    // Six tiles, since 200 KiB of L1 are free: 800 cycles of cores, and the way in of each tile.
    KernelTime time = new KernelTimes(1).of(CHIP, 800, Map.of("l2", 1L << 20), "l2", 0);
    double in = 6 * (2 * 23 + 174_763 / 8.0);
    assertThat(time.seconds() * CHIP.hertz()).isCloseTo(800 + in, within(1e-6));
    assertThat(time.waits().keySet()).containsExactly("l2 -> l1");
  }
}
