package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that varying values have the same meaning in each stage. */
class VaryingProgramsTest {
  private static void assertClose(Map<String, Tensor> found, Map<String, Tensor> expected) {
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    CloseTensors.verify(
        expected.keySet().stream().map(found::get).toList(), List.copyOf(expected.values()));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void programsAndSchedulesAgreeWithTheMesh(int devices) {
    for (Module module : VaryingModules.all(devices)) {
      SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, devices);
      Map<String, Tensor> expected = VaryingModules.evaluate(module, inputs);
      Program program = Localization.of(module, 1);
      assertClose(new ProgramEvaluator(program, 1).run(inputs), expected);
      Schedule schedule =
          Scheduler.schedule(
              program,
              TargetLibrary.find("siracusa:chips=" + devices),
              new SchedulerOptions(OptionalLong.empty(), true, true));
      assertClose(new ScheduleEvaluator(schedule).run(inputs), expected);
    }
  }

  /** Tests that the block has one all-reduce, and that localize and settle send nothing. */
  @Test
  void onlySyncsSend() {
    for (Module device : Localization.of(VaryingModules.block(4, false), 1).devices()) {
      assertThat(device.graph().nodes())
          .filteredOn(node -> node.op() instanceof Communication.Exchange)
          .hasSize(1);
    }
  }

  @Test
  void varyingOutputsAreRefused() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%a: f32[4,6{x}], %b: f32[6{x},4]) -> ("y": f32[4,4] at(x: 0)) {
                %0 = matmul(%a, %b) {result = f32} : f32[4,4] partial(sum: x)
                %1 = localize(%0) {axis = "x"} : f32[4,4] varying(x)
                %2 = settle(%1) {axis = "x", by = "take(0)"} : f32[4,4] at(x: 0)
                return %2
              }
            }
            """);
    Program program = Localization.of(module, 1);
    assertThat(program.outputs().get("y")).hasToString("f32[4,4] at(x: 0)");
    GraphEditor editor = new GraphEditor(module.graph());
    editor.replace(module.graph().nodes().get(2).result(), module.graph().nodes().get(1).result());
    Module varies = module.with(editor.freeze());
    assertThatThrownBy(() -> Localization.of(varies, 1))
        .hasMessage(
            """
            error P3405: a varying value has no single value
              where:     output y
              expected:  a value that is whole, split or partial
              found:     one that varies over [x]
              fix:       end the variation first, with settle, and a sync of partial sums""");
  }
}
