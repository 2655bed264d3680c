package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.npz.Npz;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder in which the commands of the documentation run as written: with the repository's tests,
 * {@code ./partita}, and files for those that pages call {@code model.onnx} or {@code data.npz}.
 * Its name has a space, and there is no terminal. One JVM runs all commands that take no more of a
 * shell than words and quotes.
 */
final class DocumentedShell implements AutoCloseable {
  private static final Path SHARED = Path.of("../../../shared/models").toAbsolutePath();
  private static final int SAMPLES = 2;

  /** A search of mixes takes ten minutes on a machine that is busy with other work. */
  private static final int LIMIT_MINUTES = 30;

  private static final int IMAGES = 80;

  private static final String PROGRAM = "./partita";

  /** What a shell would do more with than to take it as it is, and options of a JVM. */
  private static final Pattern SHELL_SYNTAX = Pattern.compile("[\n\\\\$`<>|&;()*?~#]| -J");

  private final Path folder;
  private final ResidentCommands resident;

  DocumentedShell(Path scratch) throws IOException {
    folder = Files.createDirectories(scratch.resolve("my checkout"));
    resident = new ResidentCommands(folder);
  }

  /** Begins a page, which doesn't see what those before it have written. */
  void clear() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        OutputFolder.delete(file);
      }
    }
    Path tests = Invocation.ROOT.resolve("tests").toRealPath();
    Path tiny = tests.resolve("models/tiny-shakespeare");
    link("tests", tests);
    link("model.onnx", tiny.resolve("prefill/network.onnx"));
    shorten(tiny.resolve("eval.npz"), "data.npz", SAMPLES);
    for (String model : new String[] {"shakespeare-llama", "shakespeare-opt"}) {
      if (Files.isDirectory(SHARED.resolve(model))) {
        Files.createDirectories(folder.resolve(model));
        for (String part : new String[] {"prefill", "decode", "vocab.json"}) {
          link(model + "/" + part, SHARED.resolve(model).resolve(part));
        }
        shorten(SHARED.resolve(model).resolve("eval.npz"), model + "/eval.npz", SAMPLES);
      }
    }
    if (Files.isDirectory(SHARED.resolve("mnist-vit"))) {
      Files.createDirectories(folder.resolve("mnist-vit"));
      link("mnist-vit/network.onnx", SHARED.resolve("mnist-vit/network.onnx"));
      shorten(SHARED.resolve("mnist-vit/eval.npz"), "mnist-vit/eval.npz", IMAGES);
    }
    writeProgram();
  }

  private void link(String name, Path file) throws IOException {
    Files.createSymbolicLink(folder.resolve(name), file);
  }

  /** Keeps the first samples of each array. */
  private void shorten(Path file, String name, int count) throws IOException {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    Npz.read(file)
        .forEach(
            (array, all) -> {
              Shape first = all.shape().with(0, Dim.of(count));
              arrays.put(array, all.stretch(all.type().with(first), 0));
            });
    try (OutputStream out = Files.newOutputStream(folder.resolve(name))) {
      Npz.write(arrays, out);
    }
  }

  /** Writes {@code ./partita}, which runs the tested classes; the launcher has its own test. */
  private void writeProgram() throws IOException {
    Path program = folder.resolve(PROGRAM);
    Files.writeString(
        program,
        """
        #!/bin/sh
        for argument in "$@"; do
          case $argument in
            -J?*) shift; set -- "$@" ;;
            *) break ;;
          esac
        done
        exec "%s/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \\
          -XX:+UseSerialGC -cp "%s" io.partita.cli.Main "$@"
        """
            .formatted(System.getProperty("java.home"), System.getProperty("java.class.path")));
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  void write(String name, String content) throws IOException {
    Files.writeString(folder.resolve(name), content);
  }

  /** Whether the file that a command names first is there. */
  boolean has(String file) {
    return Files.exists(folder.resolve(file));
  }

  /** Runs a command. */
  Invocation run(String command, int expectedExit) throws IOException, InterruptedException {
    boolean isPlain =
        command.startsWith(PROGRAM + " ") && !SHELL_SYNTAX.matcher(command.strip()).find();
    Invocation invocation = isPlain ? runResident(command) : runInShell(command);
    assertThat(invocation.exitCode()).as(command + "\n" + invocation.err()).isEqualTo(expectedExit);
    return invocation;
  }

  private Invocation runResident(String command) throws IOException {
    List<String> words = ShellWords.commands(command).getFirst();
    return resident.run(words.subList(1, words.size()), LIMIT_MINUTES);
  }

  private Invocation runInShell(String command) throws IOException, InterruptedException {
    Path out = folder.resolve("printed.out");
    Path err = folder.resolve("printed.err");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command)
            .directory(folder.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().merge("PATH", "", (path, none) -> jdk() + ":" + path);
    Process process = builder.start();
    try {
      assertThat(process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)).as(command).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    return new Invocation(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  @Override
  public void close() throws IOException {
    resident.close();
  }

  private static Path jdk() {
    return Path.of(System.getProperty("java.home"), "bin");
  }
}
