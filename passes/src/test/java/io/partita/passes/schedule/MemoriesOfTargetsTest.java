package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests chips with other memories than Siracusa's three. */
class MemoriesOfTargetsTest {
  private static final TargetDescription THREE = SmallPrograms.withL2(200);

  private static final ChipKind CHIP = THREE.chips().getFirst();

  private static TargetDescription with(
      UnaryOperator<List<Memory>> memories, Stream<DmaChannel> more) {
    ChipKind other =
        new ChipKind(
            CHIP.name(),
            CHIP.figures(),
            memories.apply(CHIP.memories()),
            Stream.concat(CHIP.channels().stream(), more).toList(),
            CHIP.kernels(),
            CHIP.functions());
    return new TargetDescription(
        "other",
        THREE.purpose(),
        List.of(),
        THREE.sources(),
        List.of(other),
        THREE.groups(),
        THREE.links(),
        THREE.connections());
  }

  private static DmaChannel like(String from, String to, DmaChannel channel) {
    return new DmaChannel(from, to, channel.bothWays(), channel.figures());
  }

  private static List<String> names(ChipSchedule chip) {
    return chip.memories().stream().map(MemoryUse::name).toList();
  }

  /** Returns {@link SmallPrograms#layers} of six weights for any memories. */
  private static void computesTheSame(Program program, Schedule schedule) {
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, 1, 128), 0.001));
    Schedule usual = SmallPrograms.schedule(program);
    assertThat(new ScheduleEvaluator(schedule).run(inputs).toString())
        .isEqualTo(new ScheduleEvaluator(usual).run(inputs).toString());
  }

  @Test
  void withTwoThereIsNoFarMemory() {
    TargetDescription two = with(all -> all.subList(0, 2), Stream.of());
    Program fits = SmallPrograms.layers(3, 128);
    Schedule schedule = Scheduler.schedule(fits, two, SchedulerOptions.STANDARD);
    assertThat(names(schedule.roles().getFirst())).containsExactly("l1", "l2");
    computesTheSame(fits, schedule);
    assertThatThrownBy(
            () -> Scheduler.schedule(SmallPrograms.layers(6, 128), two, SchedulerOptions.STANDARD))
        .hasMessageContaining("P4403")
        .hasMessageContaining("memory l2");
  }

  /**
   * Tests that the largest memory on the chip is the home memory, and weights come from outside.
   */
  @Test
  void withFourTheLargestOnChipMemoryIsHome() {
    DmaChannel load = CHIP.channel("l2", "l1").orElseThrow();
    DmaChannel store = CHIP.channel("l1", "l2").orElseThrow();
    DmaChannel far = CHIP.channel("l3", "l2").orElseThrow();
    TargetDescription four =
        with(
            all -> {
              List<Memory> memories = new ArrayList<>(all);
              memories.add(1, new Memory("buffer", all.getFirst().figures()));
              return memories;
            },
            Stream.of(
                like("buffer", "l1", load),
                like("l1", "buffer", store),
                like("l3", "buffer", far)));
    Program program = SmallPrograms.layers(6, 128);
    Schedule schedule = Scheduler.schedule(program, four, SchedulerOptions.STANDARD);
    ChipSchedule chip = schedule.roles().getFirst();
    assertThat(names(chip)).containsExactly("l1", "l2", "l3");
    assertThat(chip.steps())
        .filteredOn(StartTransfer.class::isInstance)
        .isNotEmpty()
        .allMatch(step -> ((StartTransfer) step).far().memory() == 2);
    computesTheSame(program, schedule);
  }
}
