package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Module;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.program.localize.Localization;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests devices with varying values, as threads. */
class VaryingDevicesTest {
  @ParameterizedTest
  @ValueSource(ints = 2)
  void emittedJavaAgreesWithTheMesh(int devices) {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      for (Module module : VaryingModules.all(devices)) {
        SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, devices);
        Map<String, Tensor> expected = VaryingModules.evaluate(module, inputs);
        EmittedJava program =
            JavaBackend.emit(Localization.of(module, 1), new JavaOptions("emitted", "Model"));
        try (ProgramRunner runner = ProgramRunner.load(compiler, program)) {
          List<Tensor> given =
              runner.description().whole().inputs().stream()
                  .map(port -> inputs.get(port.name()))
                  .toList();
          List<Tensor> found = runner.run(given);
          assertThat(found).hasSameSizeAs(expected.keySet());
          CloseTensors.verify(
              found,
              runner.description().whole().outputs().stream()
                  .map(port -> expected.get(port.name()))
                  .toList());
        }
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = 4)
  void emittedJavaOfFourDevicesAgreesWithTheMesh(int devices) {
    emittedJavaAgreesWithTheMesh(devices);
  }
}
