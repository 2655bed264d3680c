package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what the messages of the runtime and the simulator tell, as they were recorded. */
class SimulatedProgramTest {
  /** A program for one chip, with a library that simulates two. */
  private static final String TOO_MANY =
      """
      2026-11-28 06:49:26.293 | critical |          Always | TT_FATAL: Two ASICs in the physical \
      system descriptor share the address (vm, tray 8366, loc 0): ids 1635983534 and 5930950830. \
      An address names one chip, so this would merge them into a single topology node. \
      (assert.hpp:104)
      Traceback (most recent call last):
        File "model.py", line 556, in <module>
          main(*sys.argv[1:])
        File "model.py", line 197, in main
          device = ttnn.open_device(device_id=0)
      RuntimeError: TT_FATAL @ /project/tt_metal/fabric/physical_system_descriptor.cpp:526: inserted
      info:
      Two ASICs in the physical system descriptor share the address (vm, tray 8366, loc 0): ids \
      1635983534 and 5930950830. An address names one chip, so this would merge them into a \
      single topology node.

      [3282] 0.3 seconds (9.5 KHz)
      """;

  /** A program for two chips, with a library that simulates one. */
  private static final String TOO_FEW =
      """
      Traceback (most recent call last):
        File "model.py", line 612, in <module>
          main(*sys.argv[1:])
      RuntimeError: Simulator libttsim.so exposes 1 PCI endpoint(s), so chip 1 has none of its own.
      """;

  @ParameterizedTest
  @CsvSource({
    "1, a library that simulates one chip, one that simulates several, of a release of ttsim",
    "2, a library that simulates two chips, one that simulates one, NUM_MMIO_CHIPS are 2"
  })
  void librariesWithAnotherNumberOfChipsAreNamed(
      int chips, String expected, String found, String remedy) {
    assertThat(failure(chips, chips == 1 ? TOO_MANY : TOO_FEW))
        .contains("error P5102", "--ttsim libttsim.so", expected, found, remedy)
        .doesNotContain("compile the model again");
  }

  /** A message of a program with another number of chips has another cause. */
  @Test
  void otherMessagesAreThoseOfTheProgram() {
    assertThat(failure(2, TOO_MANY)).contains("error P5104", "inserted", "compile the model again");
    assertThat(failure(1, TOO_FEW)).contains("error P5104", "PCI endpoint");
    assertThat(failure(1, "RuntimeError: Out of Memory")).contains("error P5104", "Out of Memory");
  }

  private static String failure(int chips, String messages) {
    Mesh mesh = new Mesh(chips == 1 ? List.of() : List.of(new MeshAxis("tensor", chips)));
    ProgramInterface whole =
        new ProgramInterface(
            "block", mesh, List.of(), List.of(), List.of(), Optional.empty(), Optional.empty());
    return new SimulatedProgram(
            Path.of("program"), whole, null, Path.of("libttsim.so"), Path.of("work"))
        .failed(messages)
        .getMessage();
  }
}
