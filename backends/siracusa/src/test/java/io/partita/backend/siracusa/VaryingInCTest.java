package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Module;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests chips with varying values. */
@Order(Integer.MAX_VALUE - 1)
@ExtendWith(WithCompiler.class)
class VaryingInCTest {
  @TempDir private Path folder;

  @Tag("thorough")
  @Test
  void emittedCAgreesWithTheMesh() throws IOException {
    verify(List.of(VaryingModules.block(4, true), VaryingModules.classToken(2)), 0);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void allModules(int chips) throws IOException {
    verify(VaryingModules.all(chips), chips);
  }

  private void verify(List<Module> modules, int seed) throws IOException {
    for (Module module : modules) {
      int chips = module.placement().orElseThrow().mesh().devices();
      SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, seed);
      Map<String, Tensor> expected = VaryingModules.evaluate(module, inputs);
      Schedule schedule =
          Scheduler.schedule(
              Localization.of(module, 1),
              TargetLibrary.find("siracusa:chips=" + chips),
              new SchedulerOptions(OptionalLong.empty(), true, true));
      Path own = folder.resolve(module.graph().name() + module.graph().inputs().size());
      Map<String, Tensor> found = SanitisedBuild.run(schedule, inputs, own, "early");
      assertThat(found.keySet()).isEqualTo(expected.keySet());
      CloseTensors.verify(
          expected.keySet().stream().map(found::get).toList(), List.copyOf(expected.values()));
    }
  }
}
