package io.partita.tests.hostile;

import static io.partita.tests.hostile.Onnx.graph;
import static io.partita.tests.hostile.Onnx.model;
import static io.partita.tests.hostile.Onnx.node;
import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.GraphProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the command as a process: exit codes, no stack traces, no partial files. */
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileCommandsTest {
  @TempDir Path root;
  private Path folder;
  private Path log;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectory(root.resolve("work"));
    log = root.resolve("log");
  }

  private Process start(String heap, String... arguments) throws IOException {
    return start(Map.of(), heap, arguments);
  }

  private Process start(Map<String, String> environment, String heap, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-Xmx" + heap, "-cp", System.getProperty("java.class.path")));
    command.add("io.partita.cli.Main");
    command.addAll(List.of(arguments));
    ProcessBuilder process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    process.environment().putAll(environment);
    return process.start();
  }

  private void requireRefused(String code, String heap, String... arguments) throws Exception {
    int exit = start(heap, arguments).waitFor();
    String output = Files.readString(log);
    assertThat(output).contains("error " + code).doesNotContain("\tat ", "Exception in thread");
    assertThat(exit).as(output).isEqualTo(2);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  @Tag("thorough")
  @Test
  void everyCommandRefusesDamagedModels() throws Exception {
    Path model = Files.write(folder.resolve("cut.onnx"), new byte[] {0x3a, 100, 1});
    requireRefused("P1004", "256m", "compile", "cut.onnx", "--target", "java", "-o", "out");
    requireRefused("P1004", "256m", "inspect", "cut.onnx");
    requireRefused("P1004", "256m", "opt", "cut.onnx", "-o", "out.pir");
    assertThat(files()).containsExactly(model);
  }

  @Test
  void damagedCasesAreUnsupported() throws Exception {
    Path set = Files.createDirectories(folder.resolve("case").resolve("test_data_set_0"));
    Files.write(set.resolve("input_0.pb"), new byte[] {8, 2, 16});
    Files.write(
        folder.resolve("case").resolve("model.onnx"),
        model(graph(node("Relu", "x->y"))).build().toByteArray());
    int exit = start("256m", "check", "case").waitFor();
    assertThat(Files.readString(log))
        .contains("UNSUPPORTED case", "P1016", "0 passed, 0 failed, 1 unsupported");
    assertThat(exit).isZero();
  }

  /** A case that this computer can't run hasn't passed, nor does its model lack support. */
  @Tag("thorough")
  @Test
  void casesAreNotUnsupportedWithoutTheToolsThatRunThem() throws Exception {
    String model = Path.of("../models/tiny-shakespeare/decode").toRealPath().toString();
    Map<String, String> noTools = Map.of("PATH", folder.toString());
    int exit = start(noTools, "256m", "check", model, "--target", "siracusa").waitFor();
    assertThat(Files.readString(log))
        .contains("error P5102", "fix: ")
        .doesNotContain("UNSUPPORTED", "\tat ");
    assertThat(exit).isEqualTo(2);
  }

  @Test
  void missingTemporaryFoldersAreNamed() throws Exception {
    String model = Path.of("../models/tiny-shakespeare/decode").toRealPath().toString();
    Map<String, String> nowhere =
        Map.of("JDK_JAVA_OPTIONS", "-Djava.io.tmpdir=" + folder.resolve("none"));
    int exit = start(nowhere, "256m", "check", model, "--target", "java").waitFor();
    assertThat(Files.readString(log))
        .contains("error P5002", folder.resolve("none").toString(), "-J-Djava.io.tmpdir=FOLDER")
        .doesNotContain("\tat ");
    assertThat(exit).isEqualTo(2);
  }

  @Tag("thorough")
  @Test
  void fullHeapsAreReported() throws Exception {
    GraphProto.Builder graph = graph();
    for (int i = 0; i < 300_000; i++) {
      String last = i == 0 ? "x" : "t" + (i - 1);
      graph.addNode(node("Tanh", last + "->" + (i == 299_999 ? "y" : "t" + i)));
    }
    Path model = folder.resolve("long.onnx");
    Files.write(model, model(graph).build().toByteArray());
    requireRefused(
        "P6009", "96m", "compile", "long.onnx", "--target", "java", "-o", "out", "--json");
    assertThat(Files.readString(log)).contains("\"code\" : \"P6009\"");
    assertThat(files()).containsExactly(model);
  }

  @Tag("thorough")
  @Test
  void interruptedZooLeavesNoPartialFiles() throws Exception {
    requireNoFilesAfter("zoo", "gpt2-medium", "-o", "model.onnx");
    assertThat(files()).isEmpty();
  }

  @Tag("thorough")
  @Test
  void interruptedCompilationsLeaveNoPartialFiles() throws Exception {
    assertThat(start("1g", "zoo", "tinyllama-42m", "-o", "model.onnx").waitFor()).isZero();
    requireNoFilesAfter("compile", "model.onnx", "--target", "java", "-o", "out");
    assertThat(files()).containsExactly(folder.resolve("model.onnx"));
  }

  /** Terminates it after the first megabyte, like Ctrl-C; SIGINT may be ignored here. */
  private void requireNoFilesAfter(String... arguments) throws Exception {
    long before = size();
    Process writing = start("1g", arguments);
    while (writing.isAlive() && size() < before + (1 << 20)) {
      Thread.sleep(5);
    }
    new ProcessBuilder("kill", "-TERM", Long.toString(writing.pid())).start().waitFor();
    assertThat(writing.waitFor()).as(Files.readString(log)).isEqualTo(143);
  }

  private long size() throws IOException {
    long size = 0;
    for (Path file : files()) {
      size += file.toFile().length();
    }
    return size;
  }
}
