package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.Port;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that {@code partita diff} accepts correct programs and locates errors on every port. */
@Tag("thorough")
@Timeout(300)
final class DiffOnPortsTest {
  private static final String MULTIPLIES =
      "multiply_columns(gemm, (struct partita_block){batch, row, column, rows, columns});";

  /** Adds to element [1, 2], after the blocks that it is in. */
  private static final String CHANGES =
      " if (row == 0 && column == 0 && gemm->m > 1)"
          + " { ((float *)gemm->out)[gemm->out_row + 2] += 0.25f; }";

  private static final String REDUCES = "const int32_t is_alone = tile->join.elements";

  @TempDir static Path scratch;
  private static Path inputs;
  private static Path one;
  private static Path two;

  @BeforeAll
  static void compile() throws IOException {
    inputs = SmallChipProgram.inputs(scratch);
    one = SmallChipProgram.compiled(scratch, 1);
    two = SmallChipProgram.compiled(scratch, 2);
  }

  private static Invocation diff(Path folder, Port port, String... more) {
    List<Object> command = new ArrayList<>(List.of("diff", folder, "--inputs", inputs));
    command.addAll(SmallChipProgram.on(port));
    command.addAll(List.of(more));
    return Invocation.of(command.toArray());
  }

  /** Returns the finding for a changed file of a folder, which is restored. */
  private static Map<String, Object> found(
      Path folder, String file, UnaryOperator<String> change, Port port) throws IOException {
    Path changed = folder.resolve(file);
    String text = Files.readString(changed);
    assertThat(change.apply(text)).isNotEqualTo(text);
    Files.writeString(changed, change.apply(text));
    try {
      Invocation diff = diff(folder, port, "--json", "--timeout=200");
      assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.CHECK_FAILED);
      return diff.json();
    } finally {
      Files.writeString(changed, text);
    }
  }

  @ParameterizedTest
  @EnumSource
  void correctProgramsPass(Port port) {
    for (Path folder : port == Port.QEMU ? List.of(one) : List.of(one, two)) {
      Stream<List<String>> ways =
          port == Port.GVSOC
              ? Stream.of(List.of())
              : Stream.of(List.of("--transfers=early"), List.of("--transfers=late"));
      ways.forEach(
          way -> {
            Invocation diff = diff(folder, port, way.toArray(String[]::new));
            assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
            assertThat(diff.out()).startsWith("PASS ");
          });
    }
  }

  @ParameterizedTest
  @EnumSource
  void errorInAKernel(Port port) throws IOException {
    Map<String, Object> found =
        found(
            one,
            "runtime/kernels/gemm_f32.c",
            text -> text.replace(MULTIPLIES, MULTIPLIES + CHANGES),
            port);
    assertThat(found)
        .containsEntry("status", "DIVERGES")
        .containsEntry("chip", 0)
        .containsEntry("node", "/up")
        .containsEntry("part", "element [1, 2]");
  }

  @ParameterizedTest
  @EnumSource(names = {"HOST", "MPI", "GVSOC"})
  void errorInAReduction(Port port) throws IOException {
    Map<String, Object> found =
        found(
            two,
            "runtime/collectives/exchange_joins.c",
            text -> text.replace(REDUCES, "tile->join.elements *= partita_chip() != 0; " + REDUCES),
            port);
    assertThat(found).containsEntry("status", "DIVERGES").containsEntry("chip", 0);
    assertThat((String) found.get("part"))
        .matches("message \\d of \\d \\(receive \\d+ B from 1\\), element \\d+ of the vector");
  }

  @ParameterizedTest
  @EnumSource(names = {"HOST", "MPI", "GVSOC"})
  void messageOfWrongElements(Port port) throws IOException {
    Map<String, Object> found =
        found(
            two,
            "chip1_messages.c",
            text -> text.replaceFirst("(SEND, .*data = \\w+)([,}])", "$1 + 4$2"),
            port);
    assertThat(found).containsEntry("status", "DIVERGES").containsEntry("chip", 1);
    assertThat((String) found.get("part")).startsWith("message ");
  }

  @ParameterizedTest
  @EnumSource(names = {"HOST", "MPI", "GVSOC"})
  void stoppedChip(Port port) throws IOException {
    Map<String, Object> found =
        found(
            two,
            "role_0.c",
            text -> text.replaceFirst("END_STEP\\(1\\);", "partita_fail(\"on purpose\");"),
            port);
    assertThat(found).containsEntry("status", "STOPS").containsEntry("step", 1);
    assertThat((String) found.get("message")).contains(": on purpose");
  }
}
