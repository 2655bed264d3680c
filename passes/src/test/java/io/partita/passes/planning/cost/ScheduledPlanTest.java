package io.partita.passes.planning.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the figures of a plan equal those of the emitted schedule. */
final class ScheduledPlanTest {
  private static final Module MODEL = new Module(new DecoderBlocks().build(2));
  private static final double ROUNDING = 1e-9;

  private static Program program(String strategy) {
    Strategy split = Strategy.parse(strategy);
    Module mesh = split.devices() == 1 ? MODEL : new ShardPass(split).run(MODEL);
    return Localization.of(mesh, 1);
  }

  private static TargetDescription chips(int count) {
    return TargetLibrary.find("siracusa:chips=" + count);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"tensor=2", "tensor=3", "tensor=3,norm=root", "pipeline=2,tensor=3", "sequence=2"})
  void figuresMatchTheEmittedSchedule(String strategy) {
    Program program = program(strategy);
    TargetDescription target = chips(program.devices().size());
    PlanReport report = Plans.report(program, target, PlanOptions.DEFAULT);
    Schedule schedule = Scheduler.schedule(program, target, SchedulerOptions.STANDARD);
    SchedulePrediction prediction = SchedulePrediction.of(schedule, target);

    assertThat(report.fits()).isTrue();
    assertThat(report.seconds()).isEqualTo(prediction.seconds());
    assertThat(report.interval()).isGreaterThanOrEqualTo(report.seconds());
    assertThat(report.breakdown()).isEqualTo(prediction.breakdown());
    assertThat(report.totalJoules())
        .isCloseTo(prediction.joules(), within(ROUNDING * prediction.joules()));
    assertThat(report.devices()).hasSize(program.devices().size());
    for (ChipSchedule role : schedule.roles()) {
      for (int device : role.devices()) {
        DeviceReport own = report.devices().get(device);
        assertThat(own.device()).isEqualTo(device);
        assertThat(own.memory("l1").used()).isEqualTo(role.working().used());
        assertThat(own.memory("l2").used()).isEqualTo(role.home().used());
        assertThat(own.memory("l3").used()).isEqualTo(role.farther().getFirst().used());
      }
    }
    assertThat(report.bytes().get("links"))
        .isEqualTo(report.syncs().stream().mapToLong(SyncReport::bytes).sum());
    assertThat(report.syncs()).isNotEmpty().allMatch(sync -> sync.seconds() > 0);
  }

  @Test
  void unplacedDataIsAShortage() {
    TargetDescription small =
        TargetChange.set(
            TargetLibrary.find("siracusa:chips=2"),
            Map.of("l2", Quantity.parse("129 KiB").orElseThrow()));
    PlanReport report = Plans.report(program("tensor=2"), small, PlanOptions.DEFAULT);
    assertThat(report.fits()).isFalse();
    Shortage shortage = report.shortages().getFirst();
    assertThat(shortage.memory()).isEqualTo("l2");
    assertThat(shortage.needed()).isGreaterThan(shortage.available());
    DeviceReport device = report.devices().get(shortage.device());
    assertThat(device.memory("l2").used()).isEqualTo(shortage.needed());
    assertThat(device.memory("l2").fits()).isFalse();
  }

  @Test
  void assumptionsAndOtherTargetsHaveEstimates() {
    Program program = program("tensor=2");
    assertThat(ScheduledPlan.applies(program, chips(2), PlanOptions.DEFAULT)).isTrue();
    assertThat(ScheduledPlan.applies(program, chips(2), PlanOptions.DEFAULT.filled(3))).isFalse();
    assertThat(ScheduledPlan.applies(program, chips(2), PlanOptions.DEFAULT.awaitsBlocks(false)))
        .isFalse();
    assertThat(
            ScheduledPlan.applies(
                program, TargetLibrary.find("wifi-laptops:laptops=2"), PlanOptions.DEFAULT))
        .isFalse();
    assertThat(ScheduledPlan.applies(program, TargetLibrary.find("n150"), PlanOptions.DEFAULT))
        .isFalse();
  }
}
