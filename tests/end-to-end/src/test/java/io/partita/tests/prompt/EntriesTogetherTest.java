package io.partita.tests.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleVerifier;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that schedules of two entry points that can't run in any order are refused. */
class EntriesTogetherTest {
  private static final ChipTarget TARGET = ChipTarget.of("siracusa:chips=1", Map.of());
  private static final Entries.Programs PROGRAMS =
      Distribution.programs(SmallChunkedDecoder.entries());
  private static final List<Schedule> BOTH = TARGET.schedule(PROGRAMS);
  private static final ChipSchedule CHUNK = BOTH.getLast().roles().getFirst();

  private static Schedule chunk(
      List<ScheduleStep> start,
      List<ChipSchedule.Port> states,
      List<ChipSchedule.StoredConstant> constants) {
    ChipSchedule chip =
        new ChipSchedule(
            CHUNK.devices(),
            CHUNK.cores(),
            CHUNK.memories(),
            CHUNK.kernels(),
            start,
            CHUNK.steps(),
            CHUNK.inputs(),
            CHUNK.outputs(),
            states,
            constants,
            CHUNK.residences(),
            CHUNK.meaning());
    return of(List.of(chip));
  }

  private static Schedule of(List<ChipSchedule> roles) {
    Schedule chunk = BOTH.getLast();
    return new Schedule(chunk.program(), chunk.target(), roles, chunk.inputs(), chunk.outputs());
  }

  private static void rejected(Schedule chunk, String expected) {
    assertThatThrownBy(() -> ScheduleVerifier.verifyTogether(List.of(BOTH.getFirst(), chunk)))
        .hasMessageContaining("error P44")
        .hasMessageContaining(expected);
  }

  @Test
  void schedulesOfOneProgramAreConsistent() {
    assertThat(BOTH).hasSize(2);
    assertThatCode(() -> ScheduleVerifier.verifyTogether(BOTH)).doesNotThrowAnyException();
  }

  /** Schedules each alone, so neither knows the other's loops and weights. */
  @Test
  void schedulesOfSeparateProgramsAreRejected() {
    Schedule alone =
        TARGET.schedule(new Entries.Programs(PROGRAMS.chunk().orElseThrow())).getFirst();
    ScheduleVerifier.verify(alone);
    rejected(alone, "for all entry points");
  }

  @Test
  void otherStatesAreRejected() {
    ChipSchedule.Port cache = CHUNK.states().getFirst();
    assertThat(CHUNK.states()).hasSize(1);
    rejected(chunk(CHUNK.start(), List.of(), CHUNK.constants()), "the same states and weights");
    assertThat(cache.name()).isEqualTo("past");
  }

  @Test
  void otherWeightsAreRejected() {
    assertThat(CHUNK.constants()).hasSizeGreaterThan(1);
    rejected(
        chunk(CHUNK.start(), CHUNK.states(), CHUNK.constants().reversed()),
        "the same states and weights");
    rejected(
        chunk(CHUNK.start(), CHUNK.states(), CHUNK.constants().subList(0, 1)),
        "the same states and weights");
  }

  @Test
  void otherNumbersOfRolesAreRejected() {
    rejected(of(List.of()), "1 roles");
  }

  /** The previous run may have been that of the other entry point. */
  @Test
  void transfersInFlightAreRejected() {
    List<ScheduleStep> start =
        List.of(
            new ScheduleStep.StartTransfer(
                0, true, new Address(2, 0), 0, 16, Origin.named("head.weight")));
    Schedule chunk = chunk(start, CHUNK.states(), CHUNK.constants());
    assertThatThrownBy(() -> ScheduleVerifier.verifyTogether(List.of(chunk, chunk)))
        .hasMessageContaining("no transfer in flight when a run begins");
  }
}
