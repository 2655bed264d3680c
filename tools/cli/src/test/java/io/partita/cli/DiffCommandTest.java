package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.backend.emitted.run.Build;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that errors in emitted folders are located. */
@Timeout(120)
final class DiffCommandTest {
  private static final Path CASE =
      Invocation.ROOT.resolve("tests/fixtures/llama/dynamo_eager_static_nomask");

  /** A value with which chips wait for each other forever. */
  private static final String LIMIT = "--timeout=6";

  @TempDir static Path scratch;
  private static Path one;
  private static Path four;

  @BeforeAll
  static void compile() {
    boolean canBuild = Stream.of("make", "gcc").allMatch(tool -> Build.find(tool).isPresent());
    if (!canBuild) {
      System.err.println("NO C COMPILER: 'partita diff' is NOT TESTED; apt-get install gcc make");
    }
    assumeTrue(canBuild);
    one = compiled("one", "--target=siracusa:chips=1");
    four = compiled("four", "--target=siracusa:chips=4", "--devices=4");
  }

  private static Path compiled(String name, Object... options) {
    return compiled(CASE.resolve("network.onnx"), name, options);
  }

  private static Path compiled(Path model, String name, Object... options) {
    Path folder = scratch.resolve(name);
    Invocation compiled =
        Invocation.of(
            Stream.concat(Stream.of("compile", model, "-o", folder), Stream.of(options)).toArray());
    assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  @Test
  void programsInJavaHaveNoStepsOfChips() {
    Invocation java = diff(compiled("java", "--target=java"));
    assertThat(java.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(java.err()).contains("holds a program in Java", "--target siracusa, n150 or n300");
  }

  private static Invocation diff(Path folder, Object... options) {
    return Invocation.of(
        Stream.concat(
                Stream.of("diff", folder, "--inputs", CASE.resolve("inputs.npz")),
                Stream.of(options))
            .toArray());
  }

  /** Returns the finding for a changed file of a folder, which is restored. */
  private static Map<String, Object> found(Path file, UnaryOperator<String> change)
      throws IOException {
    String text = Files.readString(file);
    String changed = change.apply(text);
    assertThat(changed).isNotEqualTo(text);
    Files.writeString(file, changed);
    try {
      Invocation diff = diff(file.getParent(), "--json", LIMIT);
      assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.CHECK_FAILED);
      return diff.json();
    } finally {
      Files.writeString(file, text);
    }
  }

  /** Returns the number of the step with a line of the run. */
  private static int step(String role, Pattern line) {
    String run = role.substring(role.indexOf("void partita_model_run"));
    Matcher call = line.matcher(run);
    assertThat(call.find()).as(line.pattern()).isTrue();
    Matcher end = Pattern.compile("END_STEP\\((\\d+)\\)").matcher(run);
    assertThat(end.find(call.start())).isTrue();
    return Integer.parseInt(end.group(1));
  }

  @Test
  void correctProgramsPass() {
    for (Path folder : List.of(one, four)) {
      for (String transfers : List.of("early", "late")) {
        Invocation diff = diff(folder, "--transfers", transfers);
        assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
        assertThat(diff.out()).startsWith("PASS ").contains("largest error ");
      }
    }
  }

  @Tag("thorough")
  @Test
  void bareMetalUnderQemu() {
    boolean canRun =
        Stream.of("riscv64-unknown-elf-gcc", "qemu-system-riscv32")
            .allMatch(tool -> Build.find(tool).isPresent());
    if (!canRun) {
      System.err.println(
          "NO QEMU OR RISC-V COMPILER: 'partita diff --on qemu' is NOT TESTED; apt-get install"
              + " qemu-system-misc gcc-riscv64-unknown-elf");
    }
    assumeTrue(canRun);
    Invocation diff = diff(one, "--on=qemu");
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
    assertThat(diff.out()).startsWith("PASS ");
  }

  @Test
  void wrongKernelArgument() throws IOException {
    Path role = four.resolve("role_0.c");
    int step = step(Files.readString(role), Pattern.compile(" attention_f32_"));
    Map<String, Object> found =
        found(role, text -> text.replaceFirst("\\.scale = [0-9][^,]*,", ".scale = 0.75f,"));
    assertThat(found)
        .containsEntry("status", "DIVERGES")
        .containsEntry("chip", 0)
        .containsEntry("block", 0)
        .containsEntry("role", "attention")
        .containsEntry("step", step);
    assertThat((String) found.get("part")).startsWith("element [0, 0, ");
  }

  @Test
  void wrongWeight() throws IOException {
    String steps = Files.readString(four.resolve("reference/chip1.json"));
    MatchResult weight =
        Pattern.compile("\"memory\" : (\\d),\\s*\"offset\" : (\\d+)")
            .matcher(steps)
            .results()
            .reduce((first, last) -> last)
            .orElseThrow();
    Path image = four.resolve("chip1.l" + (Integer.parseInt(weight.group(1)) + 1));
    byte[] bytes = Files.readAllBytes(image);
    byte[] changed = bytes.clone();
    changed[Integer.parseInt(weight.group(2)) + 3] ^= 0x40;
    Files.write(image, changed);
    Invocation diff = diff(four);
    Files.write(image, bytes);
    assertThat(diff.exitCode()).isEqualTo(ExitCode.CHECK_FAILED);
    assertThat(diff.out())
        .startsWith("DIVERGES chip 1, ")
        .contains("expected the weights that were compiled, found ")
        .contains(" with checksum ");
  }

  @Test
  void messageToTheWrongChip() throws IOException {
    Path messages = four.resolve("chip2_messages.c");
    int step =
        step(Files.readString(four.resolve("role_0.c")), Pattern.compile("partita_exchange"));
    Map<String, Object> found =
        found(
            messages,
            text -> text.replaceFirst("SEND, .step = 0, .chip = 3", "SEND, .step = 0, .chip = 0"));
    assertThat(found)
        .containsEntry("status", "DIVERGES")
        .containsEntry("chip", 2)
        .containsEntry("step", step)
        .containsEntry("part", "message 0 of 6 (send 384 B to 3)")
        .containsEntry("expected", "384 B to chip 3")
        .containsEntry("found", "384 B to chip 0");
  }

  @Test
  void messageOfWrongElements() throws IOException {
    Path messages = four.resolve("chip2_messages.c");
    Map<String, Object> found =
        found(
            messages,
            text ->
                text.replaceFirst(
                    "(?s)(SEND, .step = 2, .chip = 1, [^}]*data =) [^,}]+(?=.*?vector = (\\w+))",
                    "$1 $2 + 384"));
    assertThat(found).containsEntry("status", "DIVERGES").containsEntry("chip", 2);
    assertThat((String) found.get("part"))
        .startsWith("message 2 of 6 (send 384 B to 1), element 192 of the vector");
  }

  @Tag("thorough")
  @Test
  void chipThatWaitsForever() throws IOException {
    Path role = four.resolve("chip3_messages.c");
    Map<String, Object> found =
        found(
            role,
            text ->
                text.replaceFirst("\\.action_count = 9", ".action_count = 0")
                    .replaceFirst("\\.beginning = \\d+", ".beginning = 0"));
    assertThat(found).containsEntry("status", "DIVERGES").containsEntry("chip", 3);
    assertThat((String) found.get("part")).startsWith("message 0 of 6 ");
  }

  @Test
  void missingWait() throws IOException {
    Path role = one.resolve("role_0.c");
    int step = step(Files.readString(role), Pattern.compile(" rms_norm_f32_"));
    Map<String, Object> found =
        found(
            role,
            text -> {
              int loop = text.indexOf("\nstatic void rms_norm_f32_16(");
              String wait = "partita_box_wait(&loads[0]);";
              int place = text.indexOf(wait, loop);
              return text.substring(0, place) + text.substring(place + wait.length());
            });
    assertThat(found).containsEntry("chip", 0).containsEntry("step", step);
  }

  @Test
  void missingReference() throws IOException {
    Path file = one.resolve("reference/chip0.json");
    String text = Files.readString(file);
    Files.delete(file);
    Invocation diff = diff(one);
    Files.writeString(file, text);
    assertThat(diff.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(diff.err())
        .contains(
            "error P5106: the reference results of an emitted program can't be read\n  where:     "
                + file)
        .contains("found:     no such file");
  }

  /** A chip's records don't say which steps it skipped. */
  @Test
  void groupsThatMaySkipSteps() throws IOException {
    Path decoder = Invocation.ROOT.resolve("tests/models/tiny-shakespeare/decode");
    Path folder =
        compiled(
            decoder.resolve("network.onnx"),
            "groups",
            "--dim=past=64",
            "--target=siracusa:chips=2",
            "--devices=2",
            "--speculate=lambda=0.2,chunk=16");
    Map<String, Tensor> all = new LinkedHashMap<>(Npz.read(decoder.resolve("inputs.npz")));
    all.keySet().removeIf(name -> name.startsWith("past"));
    Path inputs = scratch.resolve("inputs.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(all, out);
    }
    Invocation diff = Invocation.of("diff", folder, "--inputs", inputs);
    assertThat(diff.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(diff.err())
        .contains("P5106", "depend on a comparison of attentions", "compile without --speculate");
  }
}
