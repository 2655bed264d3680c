package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that 'compile --plan' emits the program of 'plan'. */
final class PlannedCompilationTest {
  private static final String TARGET = "siracusa:chips=4";

  @TempDir Path scratch;

  private Invocation compile(String folder, Object... options) {
    return Invocation.of(
        Stream.concat(
                Stream.of(
                    "compile",
                    Invocation.DECODER,
                    "--target=java",
                    "--dim=past=64",
                    "--json",
                    "-o",
                    scratch.resolve(folder)),
                Stream.of(options))
            .toArray());
  }

  private Object text(String folder) {
    Invocation generated =
        Invocation.of(
            "generate",
            scratch.resolve(folder),
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"),
            "--prompt=ROMEO:",
            "--tokens=30",
            "--json");
    assertThat(generated.exitCode()).as(generated.err()).isZero();
    return generated.json().get("text");
  }

  @Tag("thorough")
  @Test
  void emittedProgramsHaveTheMeshOfThePlan() {
    Invocation plan =
        Invocation.of("plan", Invocation.DECODER, "--dim=past=64", "--target", TARGET, "--json");
    Invocation compiled = compile("planned", "--plan", TARGET);
    assertThat(compiled.exitCode()).as(compiled.err()).isZero();
    assertThat(compiled.json()).containsEntry("devices", 4);
    @SuppressWarnings("unchecked")
    Map<String, Object> mesh = (Map<String, Object>) plan.json().get("mesh");
    mesh.forEach(
        (axis, size) ->
            assertThat(compiled.json().get("mesh").toString()).contains(axis + "=" + size));
    assertThat(compile("single").exitCode()).isZero();
    assertThat(text("planned")).isEqualTo(text("single"));
  }

  @Test
  void oneDeviceMayBeBest() {
    // A message takes 500 ms, longer than the whole model.
    Invocation compiled = compile("auto", "--plan", "wifi-laptops:latency=500ms", "--devices=auto");
    assertThat(compiled.exitCode()).as(compiled.err()).isZero();
    assertThat(compiled.json()).doesNotContainKey("devices");
  }

  @Test
  void autoNeedsATarget() {
    Invocation compiled = compile("none", "--devices=auto");
    assertThat(compiled.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compiled.err()).contains("error P4301").contains("--plan siracusa:chips=8");
  }

  @Test
  void programsThatDontFitAreNotCompiled() {
    Invocation compiled = compile("large", "--plan", "siracusa:chips=1,l3=1MiB", "--set=l2=132KiB");
    assertThat(compiled.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compiled.err()).contains("error P4161").contains("partita plan");
    assertThat(scratch.resolve("large")).doesNotExist();
  }
}
