package io.partita.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Runs the most common commands once, without output. The launcher records the loaded classes in
 * the JVM's AOT cache, so that later runs start fast.
 */
@Command(name = "warm-up", hidden = true, description = "Load the classes that most commands need.")
final class WarmUp implements Runnable {
  @Parameters(
      paramLabel = "CASE",
      arity = "0..1",
      description = "The folder of a recorded case, to inspect, compile and check as well.")
  Path example;

  @Override
  public void run() {
    execute("--version");
    execute("--help");
    execute("no-such-command");
    execute("opt", "--list-passes");
    if (example != null) {
      Path model = example.resolve("network.onnx");
      execute("inspect", model.toString());
      execute("check", "--target", "java", example.toString());
      compile(model);
    }
  }

  private static void compile(Path model) {
    try {
      Path folder = Files.createTempDirectory("partita-warm-up");
      for (String target : List.of("java", "siracusa")) {
        execute(
            "compile",
            model.toString(),
            "--target",
            target,
            "-o",
            folder.resolve(target).toString());
      }
      List<Path> files = new ArrayList<>();
      try (Stream<Path> found = Files.walk(folder)) {
        found.sorted(Comparator.reverseOrder()).forEach(files::add);
      }
      for (Path file : files) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void execute(String... command) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    Main.commandLine(nowhere, nowhere).execute(command);
  }
}
