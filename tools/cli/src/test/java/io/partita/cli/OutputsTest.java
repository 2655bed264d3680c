package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests outputs of commands and their failures. */
class OutputsTest {
  private static final String MODULE =
      """
      pir 1
      module {
        graph @identity(%x: f32[2]) -> ("y": f32[2]) {
          return %x
        }
      }
      """;

  @TempDir Path scratch;

  @Test
  void failedWritesAreFailures() throws IOException {
    Path full = Path.of("/dev/full");
    assumeThat(full).exists();
    Path module = Files.writeString(scratch.resolve("m.pir"), MODULE);
    for (List<String> command :
        List.of(
            List.of("explain"),
            List.of("inspect", Invocation.DECODER.toString(), "--json"),
            List.of("opt", module.toString()),
            List.of("zoo", "--json"))) {
      ByteArrayOutputStream errors = new ByteArrayOutputStream();
      try (OutputStream out = new FileOutputStream(full.toFile())) {
        assertThat(Main.run(out, errors, command.toArray(String[]::new)))
            .as(command.toString())
            .isEqualTo(ExitCode.USER_ERROR);
      }
      assertThat(errors.toString(StandardCharsets.UTF_8))
          .contains("error P6005", "standard output");
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(Main.run(out, OutputStream.nullOutputStream(), "explain")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("P1001");
  }

  @Test
  void emptyPathsAreRefused() throws IOException {
    Path module = Files.writeString(scratch.resolve("m.pir"), MODULE);
    for (List<Object> command :
        List.<List<Object>>of(
            List.of("compile", module, "--target=java", "-o", ""),
            List.of("opt", module, "-o", ""),
            List.of("run", "", "--inputs=x", "-o", "y"),
            List.of("zoo", "vit-base", "-o", " "))) {
      Invocation invocation = Invocation.of(command.toArray());
      assertThat(invocation.exitCode()).as(command.toString()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(invocation.err()).contains("a path can't be empty");
    }
  }

  @Test
  void optPrintsToTheStandardOutputUnderAnyName() throws IOException {
    Path module = Files.writeString(scratch.resolve("m.pir"), MODULE);
    Invocation opt = Invocation.of("opt", module, "-o", "/dev/stdout");
    assertThat(opt.exitCode()).as(opt.err()).isEqualTo(ExitCode.DONE);
    assertThat(opt.out()).isEqualTo(Invocation.of("opt", module).out()).contains("@identity");
  }

  @Test
  void classNamesNeedJava() throws IOException {
    Path module = Files.writeString(scratch.resolve("m.pir"), MODULE);
    Path folder = scratch.resolve("c");
    for (String option : List.of("--class=Mine", "--package=a.b")) {
      Invocation compile =
          Invocation.of("compile", module, "--target=siracusa", option, "-o", folder);
      assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(compile.err()).contains("--package and --class are for --target java");
      assertThat(folder).doesNotExist();
    }
  }

  /** Merges both streams, as on a terminal. */
  @Test
  void notesBeginOnANewLine() {
    Path folder = scratch.resolve("java");
    Invocation.of(
        "compile", Invocation.DECODER, "--target=java", "--dim=past=8", "-o", folder.toString());
    StringWriter terminal = new StringWriter();
    PrintWriter both = new PrintWriter(terminal, true);
    int exitCode =
        Main.commandLine(both, both)
            .execute(
                "generate",
                folder.toString(),
                "--prompt=ROMEO:",
                "--vocab=" + Invocation.SHAKESPEARE.resolve("vocab.json"));
    assertThat(exitCode).isEqualTo(ExitCode.DONE);
    assertThat(terminal.toString()).containsPattern("\nThe?\\R?note P6015");
    assertThat(terminal.toString().lines()).anyMatch(line -> line.startsWith("note P6015"));
  }

  /** Tests that an unsuitable folder is refused before the model is read. */
  @Test
  void foldersAreVerifiedFirst() throws IOException {
    Path model = Files.writeString(scratch.resolve("broken.pir"), "not a module");
    Path folder = Files.createDirectory(scratch.resolve("mine"));
    Files.writeString(folder.resolve("notes.txt"), "mine");
    Invocation compile = Invocation.of("compile", model, "--target=java", "-o", folder);
    assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compile.err()).contains("error P5003");
  }

  /** Tests that an unsuitable file is refused before anything is read or run. */
  @Test
  void filesAreVerifiedFirst() {
    Path program = scratch.resolve("java");
    Invocation.of("compile", Invocation.DECODER, "--target=java", "--dim=past=8", "-o", program);
    Path missing = scratch.resolve("missing");
    assertThat(Invocation.of("run", program, "--inputs", missing, "-o", scratch).err())
        .contains("error P6005", "it is a folder");
    assertThat(Invocation.of("opt", missing, "-o", scratch).err())
        .contains("error P6005", "it is a folder");
  }

  /** Tests that nothing is printed before an error about the command line. */
  @Test
  void wrongStopsAreReportedFirst() {
    Path folder = scratch.resolve("java");
    Invocation.of("compile", Invocation.DECODER, "--target=java", "--dim=past=8", "-o", folder);
    Path vocabulary = Invocation.SHAKESPEARE.resolve("vocab.json");
    Invocation generate =
        Invocation.of("generate", folder, "--prompt=R", "--vocab", vocabulary, "--stop=none");
    assertThat(generate.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(generate.out()).isEmpty();
    assertThat(generate.err()).contains("P6010", "--stop");
  }

  /** A remedy of 'plan' is appended to the options, so that the last of them counts there. */
  @Tag("thorough")
  @Test
  void dimensionsAreGivenOnceWhereNoRemedyAppendsThem() {
    Invocation twice = Invocation.of("inspect", Invocation.DECODER, "--dim=past=8", "--dim=past=9");
    assertThat(twice.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(twice.err())
        .contains("--dim is given twice, with different values: past=8 and past=9");
    Invocation same = Invocation.of("inspect", Invocation.DECODER, "--dim=past=8", "--dim=past=8");
    assertThat(same.exitCode()).as(same.err()).isEqualTo(ExitCode.DONE);
    Invocation appended =
        Invocation.of(
            "plan",
            Invocation.DECODER,
            "--target=siracusa",
            "--dim=past=8",
            "--json",
            "--dim=past=9");
    assertThat(appended.exitCode()).as(appended.err()).isEqualTo(ExitCode.DONE);
    Invocation last =
        Invocation.of("plan", Invocation.DECODER, "--target=siracusa", "--json", "--dim=past=9");
    assertThat(appended.json()).isEqualTo(last.json());
  }

  @Test
  void helpIsAlsoACommand() {
    assertThat(Invocation.of("help", "compile").out())
        .isEqualTo(Invocation.of("compile", "--help").out())
        .startsWith("Usage: partita compile");
    assertThat(Invocation.of("help").out()).startsWith("Usage: partita");
  }
}
