package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests errors of commands: suggestions, JSON, and no remaining files. */
@Timeout(120)
class MistakesTest {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  @TempDir Path scratch;

  @Test
  void failuresAreJsonOnRequest() {
    Invocation missing = Invocation.of("inspect", scratch.resolve("none.onnx"), "--json");
    assertThat(missing.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(missing.json())
        .containsEntry("exitCode", 2)
        .containsOnlyKeys("exitCode", "diagnostics");
    Map<?, ?> first = (Map<?, ?>) ((List<?>) missing.json().get("diagnostics")).getFirst();
    assertThat(first.keySet().toString()).isEqualTo("[code, title, where, expected, found, fix]");
    assertThat(first.get("code").toString()).startsWith("P1");
    Invocation usage = Invocation.of("plan", "--json");
    assertThat(usage.json()).containsEntry("exitCode", 2).containsKey("message");
    assertThat(Invocation.of("inspect", scratch.resolve("none.onnx")).out()).isEmpty();
  }

  @Test
  void everyCommandWithJsonFailsInJson() {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    CommandLine commands = Main.commandLine(nowhere, nowhere);
    int tested = 0;
    for (String command : commands.getSubcommands().keySet()) {
      Invocation mistake = Invocation.of(command, "--no-such-option", "--json");
      boolean hasJson =
          commands.getSubcommands().get(command).getCommandSpec().findOption("--json") != null;
      if (hasJson) {
        tested++;
        assertThat(mistake.exitCode()).as(command).isEqualTo(ExitCode.USER_ERROR);
        assertThat(mistake.json())
            .as(command)
            .containsEntry("exitCode", ExitCode.USER_ERROR)
            .containsKey("message");
        assertThat(mistake.err()).doesNotContain("%%");
      }
    }
    assertThat(tested).isGreaterThan(13);
    assertThat(Invocation.of("tune").err()).contains("'--max-loss=X%'");
  }

  @Test
  void whatIsNoProgramIsReportedFirst() {
    Invocation run =
        Invocation.of("run", scratch, "--json", "--inputs", "x.npz", "-o", scratch.resolve("y"));
    assertThat(run.json().get("diagnostics").toString()).contains("P5004");
    assertThat(Invocation.of("run", scratch, "--profile").err()).startsWith("error P5004");
  }

  @Test
  void misspelledNamesGetSuggestions() {
    assertThat(Invocation.of("compile", "x", "--targt", "java", "-o", "y").err())
        .contains("Did you mean: --target?");
    assertThat(Invocation.of("inspect", "x", "--jsno").err()).contains("Did you mean: --json?");
    assertThat(Invocation.of("compile", "x", "--target=siracuza", "-o", "y").err())
        .contains("did you mean 'siracusa'?");
    assertThat(Invocation.of("opt", Invocation.DECODER, "--passes", "simplfy").err())
        .contains("did you mean 'simplify'?");
    assertThat(Invocation.of("zoo", "tinylama-42m", "-o", scratch.resolve("x.onnx")).err())
        .contains("error P6101", "did you mean 'tinyllama-42m'?");
    assertThat(Invocation.of("plan", "tinylama-42m", "--target=siracusa").err())
        .contains("error P6101", "did you mean 'tinyllama-42m'?");
    assertThat(Invocation.of("opt", Invocation.DECODER, "--dim", "psat=3").err()).contains("past");
    assertThat(Invocation.of("opt", Invocation.DECODER, "--bind", "input_idz=1").err())
        .contains("error P6008", "did you mean 'input_ids'?");
    assertThat(Invocation.of("explain", "P20066").err()).contains("did you mean 'P2006'?");
    assertThat(Invocation.of("complie").err()).contains("Did you mean: compile?");
    assertThat(Invocation.of("help", "complie").err()).contains("Did you mean: compile?");
    assertThat(Invocation.of("run", "x", "--on", "gvsock").err())
        .startsWith(
            "Invalid value for option '--on': expected one of host, mpi, qemu, gvsoc, emulation,"
                + " ttsim but was 'gvsock'\nDid you mean: gvsoc?\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tinylama", "tinyllama-42m.onnx"})
  void modelsOfTheZooAreSuggested(String name) {
    assertThat(Invocation.of("plan", name, "--target=siracusa").err())
        .contains("error P6101", "did you mean 'tinyllama-42m'?");
    assertThat(Invocation.of("inspect", name).err())
        .contains("error P1001", "partita zoo tinyllama-42m -o tinyllama-42m.onnx");
    assertThat(Invocation.of("compile", name, "--target=java", "-o", "x").err())
        .contains("error P1001", "partita zoo tinyllama-42m -o tinyllama-42m.onnx");
  }

  /** Tests that each kind of file or folder that a command reads is looked for. */
  @Test
  void misspeltPathsAreCorrected() {
    Path model = Invocation.DECODER.resolveSibling("netwrok.onnx");
    assertThat(Invocation.of("inspect", model).err())
        .contains("error P1001", "did you mean '" + Invocation.DECODER + "'?");
    Path cases = Invocation.SHAKESPEARE.resolveSibling("tiny-shakespear");
    assertThat(Invocation.of("check", "--target=java", cases).err())
        .contains("error P6002", "did you mean '" + Invocation.SHAKESPEARE + "'?");
    Path data = Invocation.SHAKESPEARE.resolve("evall.npz");
    assertThat(Invocation.of("evaluate", Invocation.DECODER, "--data", data).err())
        .contains("error P6005", "did you mean '" + Invocation.SHAKESPEARE + "/eval.npz'?");
    Path program = scratch.resolve("program");
    String[] compile = {"compile", Invocation.DECODER.toString(), "--target=java", "--dim=past=8"};
    Invocation.of(Stream.concat(Stream.of(compile), Stream.of("-o", program)).toArray());
    assertThat(Invocation.of("run", scratch.resolve("progam")).err())
        .contains("error P5004", "did you mean '" + program + "'?");
  }

  @Test
  void tooManyDevicesAreRefusedBeforeTheModelIsRead() {
    Invocation compile =
        Invocation.of("compile", "none.onnx", "--target=siracusa", "--devices=1000", "-o", "x");
    assertThat(compile.err())
        .contains("error P6017", "choose --devices 8 or fewer")
        .doesNotContain("chips=1000");
    assertThat(
            Invocation.of("compile", "none.onnx", "--target=siracusa", "--devices=60", "-o", "x")
                .err())
        .contains("siracusa:chips=60");
    for (String devices : List.of("--devices=5000", "--strategy=pipeline=100,tensor=50")) {
      assertThat(Invocation.of("compile", "none.onnx", "--target=java", devices, "-o", "x").err())
          .contains("4096")
          .contains("fix:")
          .doesNotContain("none.onnx");
    }
  }

  @Test
  void namesAreEscapedForTerminals() {
    StringWriter terminal = new StringWriter();
    PrintWriter out =
        Main.commandLine(new PrintWriter(terminal, true), new PrintWriter(terminal, true)).getOut();
    out.println("node\u001b[2J\u0007 \u009b1m\tä");
    assertThat(terminal.toString().strip()).isEqualTo("node\ufffd[2J\ufffd \ufffd1m\tä");
  }

  /** Tests that the escape sequences of colours aren't taken for those of names. */
  @ParameterizedTest
  @ValueSource(strings = {"help plan", "plan --help", "--help"})
  void helpIsColouredOnTerminals(String command) {
    StringWriter terminal = new StringWriter();
    PrintWriter out = new PrintWriter(terminal, true);
    int exitCode =
        Main.commandLine(out, out)
            .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.ON))
            .execute(command.split(" "));
    assertThat(exitCode).isZero();
    assertThat(terminal.toString()).contains("\u001b[1m").doesNotContain("\ufffd");
  }

  /** Tests help on a pseudo-terminal, which {@code script} opens. */
  @ParameterizedTest
  @CsvSource({"xterm, false, true", "xterm, true, false", "dumb, false, false"})
  void helpHasColorsWhereTheyAreWanted(String terminal, boolean noColor, boolean colors)
      throws Exception {
    assumeThat(Build.find("script")).isPresent();
    Path printed = scratch.resolve("printed");
    ProcessBuilder help =
        new ProcessBuilder("script", "-qec", "\"$JAVA\" \"$MAIN\" help plan", printed.toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    Map<String, String> environment = help.environment();
    environment.keySet().removeAll(List.of("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"));
    environment.putAll(Map.of("SHELL", "/bin/sh", "TERM", terminal, "JAVA", JAVA));
    environment.put("CLASSPATH", System.getProperty("java.class.path"));
    environment.put("MAIN", Main.class.getName());
    if (noColor) {
      environment.put("NO_COLOR", "1");
    }
    assertThat(help.start().waitFor()).isZero();
    String text = Files.readString(printed);
    assertThat(text).contains("--strategy");
    assertThat(text.contains("\u001b[")).isEqualTo(colors);
  }

  @Test
  void numberedFilesAreOneLine() {
    assertThat(
            EmittedFiles.lines(
                Path.of("out"),
                List.of(
                    "Model.java",
                    "Model.device0.weights",
                    "Model.device1.weights",
                    "Model.device10.weights",
                    "role_0.c",
                    "chip0.l2",
                    "chip1.l2")))
        .containsExactly(
            "out/Model.java",
            "out/Model.device0.weights … Model.device10.weights (3)",
            "out/role_0.c",
            "out/chip0.l2 … chip1.l2 (2)");
  }

  /** Tests models of the zoo, which are in a temporary folder. */
  @Tag("thorough")
  @Test
  void ctrlCInPlanLeavesNoFiles() throws Exception {
    Process plan =
        new ProcessBuilder(
                JAVA,
                "-Djava.io.tmpdir=" + scratch,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "plan",
                "tinyllama-42m",
                "--mode=decode",
                "--target=siracusa:chips=64")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      while (folders() == 0 && plan.isAlive()) {
        Thread.sleep(10);
      }
      assertThat(plan.isAlive()).isTrue();
      new ProcessBuilder("kill", "-TERM", Long.toString(plan.pid())).start().waitFor();
      assertThat(plan.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(folders()).isZero();
    } finally {
      plan.destroyForcibly();
    }
  }

  private long folders() throws IOException {
    try (Stream<Path> files = Files.list(scratch)) {
      return files.filter(file -> file.getFileName().toString().startsWith("partita")).count();
    }
  }
}
