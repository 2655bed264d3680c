package io.partita.tests.recorded;

import io.partita.driver.cases.TestCase;
import io.partita.ir.file.ScratchFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text that a decoder writes with a user's commands: compile, then generate. */
final class WrittenText {
  private static final Pattern CODE = Pattern.compile("error (P\\d+)");

  private WrittenText() {}

  /** {@code yes}, {@code WRONG}, or the number of the diagnostic that ended a command. */
  static String verdict(TestCase test, String target) {
    Path folder = UserModels.folder(test).toAbsolutePath().normalize();
    try (ScratchFolder scratch = new ScratchFolder()) {
      Path program = scratch.path().resolve("program");
      List<String> compile =
          new ArrayList<>(
              List.of("compile", folder.resolve("network.onnx").toString(), "--target", target));
      compile.addAll(Files.readAllLines(folder.resolve("compile.args")));
      compile.addAll(List.of("-o", program.toString()));
      String prompt = Files.readString(folder.resolve("prompt.txt")).stripTrailing();
      String expected = Files.readString(folder.resolve("greedy.txt")).stripTrailing();
      Ended compiled = partita(scratch.path(), compile);
      if (compiled.exit() != 0) {
        return compiled.code();
      }
      List<String> generate =
          List.of(
              "generate",
              program.toString(),
              "--vocab",
              folder.resolve("vocab.json").toString(),
              "--prompt",
              prompt,
              "--tokens",
              Integer.toString(expected.length() - prompt.length()));
      Ended generated = partita(scratch.path(), generate);
      if (generated.exit() != 0) {
        return generated.code();
      }
      return generated.out().stripTrailing().equals(expected) ? "yes" : "WRONG";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record Ended(int exit, String out, String err) {
    String code() {
      Matcher code = CODE.matcher(err);
      return code.find() ? code.group(1) : "WRONG";
    }
  }

  private static Ended partita(Path folder, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dfile.encoding=UTF-8",
            "-Dstdout.encoding=UTF-8",
            "-Dsun.jnu.encoding=UTF-8",
            "-cp",
            System.getProperty("java.class.path"),
            "io.partita.cli.Main"));
    command.addAll(arguments);
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("LC_ALL", "C.UTF-8");
    Process process = builder.start();
    try {
      int exit = process.waitFor();
      return new Ended(
          exit,
          Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8));
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException(interrupted);
    }
  }
}
