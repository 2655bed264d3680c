package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep.Exchange;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.passes.program.localize.Localization;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests operands of gathers that are written where they are in the whole vector. */
class GatheredOperandsTest {
  private static final TargetDescription TARGET = TargetLibrary.find("siracusa:chips=4");

  /**
   * Tests that neither the part nor the whole is overwritten by its own last reader while the other
   * is still read.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        %2 = exp(%1) : f32[600,40]
        %3 = relu(%0) : f32[600{x},40]
        """,
        """
        %3 = relu(%0) : f32[600{x},40]
        %2 = exp(%1) : f32[600,40]
        """
      })
  void partAndWholeAreKept(String readers) {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%%a: f32[600,40]) -> ("y": f32[600,40], "z": f32[600{x},40]) {
                %%4 = reshard(%%a) {to = "[*{x},*]"} : f32[600{x},40]
                %%0 = neg(%%4) : f32[600{x},40]
                %%1 = sync(%%0) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[600,40]
                %s
                return %%2, %%3
              }
            }
            """
                .formatted(readers));
    Program program = Localization.of(module, 1);
    Schedule schedule = Scheduler.schedule(program, TARGET, SchedulerOptions.STANDARD);
    ScheduleVerifier.verify(schedule);
    assertThat(schedule.roles().getFirst().steps())
        .filteredOn(Exchange.class::isInstance)
        .singleElement()
        .satisfies(step -> assertThat(((Exchange) step).operand()).isEmpty());
    Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(1));
    assertThat(new ScheduleEvaluator(schedule).run(inputs))
        .isEqualTo(new ProgramEvaluator(program, 1).run(inputs));
  }
}
