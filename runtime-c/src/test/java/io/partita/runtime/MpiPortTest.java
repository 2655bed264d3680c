package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the contract of {@code hal.h} with chips as ranks. */
@ExtendWith(WithMpi.class)
class MpiPortTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void meetsItsContract(int chips, Mpi mpi) throws IOException {
    Path program = mpi.executable("hal-test", HalPrograms.source("hal_test.c"));
    List<byte[]> copied = HalPrograms.copied(chips);
    List<byte[]> outputs =
        mpi.run(
            program,
            folder,
            HalPrograms.inputs(0, copied),
            "--l3",
            HalPrograms.image(folder).toString(),
            "--report",
            folder.resolve("report-%").toString());
    assertThat(outputs).containsExactlyElementsOf(copied);
    String all = "\"1\": 1000012, \"2\": 1000012, \"3\": 1000012";
    assertThat(Files.readString(folder.resolve("report-0")))
        .matches(
            HalPrograms.report(
                0, "" + (chips - 1) * 1000012, "\\{" + (chips > 1 ? all : "") + "}"));
  }

  @ParameterizedTest
  @EnumSource(names = "NO_SUCH_CHIP")
  void reportsMisuse(HalPrograms.Misuse misuse, Mpi mpi) {
    Path program = mpi.executable("misuse", HalPrograms.source("misuse.c"));
    List<byte[]> inputs = Collections.nCopies(2, misuse.input());
    assertThatThrownBy(() -> mpi.run(program, folder, inputs))
        .hasMessageContaining(": " + misuse.message + "\n");
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"SECOND_WAIT", "BEYOND_L3", "OTHER_SIZE"})
  void reportsOtherMisuse(HalPrograms.Misuse misuse, Mpi mpi) {
    reportsMisuse(misuse, mpi);
  }
}
