package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.input;
import static io.partita.passes.schedule.SmallPrograms.linear;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.program.Program;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Unit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that programs that don't fit are refused with the memory that is too small. */
class ShortagesTest {
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

  /** Tests a weight that doesn't fit L2 as a whole, but in parts. */
  @Test
  void weightThatPassesInPartsNeedsNoLargerL2() {
    Program program =
        SmallPrograms.of(
            graph -> graph.output("y", linear(graph, input(graph, "x", 1, 512), 512, 1024, 1)));
    TargetDescription small = SmallPrograms.withL2(128);
    assertThat(tooSmall(program, small, 1 << 20)).containsExactly("l3");
    assertThat(tooSmall(program, small, 1 << 22)).isEmpty();
  }

  /**
   * Tests three weights of 1 MiB that fit both memories together, but none of which as a whole
   * beside a ring for another one; and as many as leave little of L2 for the ring.
   */
  @Test
  void weightsMayFillBothMemories() {
    Program program = SmallPrograms.layers(3, 512);
    TargetDescription target = SmallPrograms.withL2(1750);
    assertThat(tooSmall(program, target, 1536 << 10)).isEmpty();
    assertThat(tooSmall(program, target, 1408 << 10)).isEmpty();
    assertThat(tooSmall(program, target, 1280 << 10)).containsExactly("l3");
  }

  /** Returns the memories that are too small if L3 has so many bytes. */
  private static List<String> tooSmall(Program program, TargetDescription target, long bytes) {
    TargetDescription changed = TargetChange.set(target, Map.of("l3", new Quantity(bytes, Unit.B)));
    return Scheduler.price(program, changed, SchedulerOptions.STANDARD).misfits().stream()
        .map(misfit -> misfit.memory().name())
        .toList();
  }
}
