package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests programs for several devices from the command line: threads, processes, and given
 * addresses.
 */
@Timeout(180)
final class DevicesCommandTest {
  @TempDir Path scratch;

  private Path compiled(Object... options) {
    Path folder = scratch.resolve("compiled");
    Invocation compile =
        Invocation.of(
            Stream.concat(
                    Stream.of("compile", Invocation.DECODER, "--target=java", "-o", folder),
                    Stream.of(options))
                .toArray());
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  private static List<Object> generating(Path folder, Object... options) {
    Stream<Object> usual =
        Stream.of(
            "generate",
            folder,
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"),
            "--prompt=ROMEO:");
    return Stream.concat(usual, Stream.of(options)).toList();
  }

  private static String text(Path folder, Object... options) {
    Invocation generate = Invocation.of(generating(folder, options).toArray());
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    return generate.out();
  }

  /** Returns recently free ports. */
  private static String addresses(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
    }
    String addresses =
        sockets.stream()
            .map(socket -> "127.0.0.1:" + socket.getLocalPort())
            .collect(Collectors.joining(","));
    for (ServerSocket socket : sockets) {
      socket.close();
    }
    return addresses;
  }

  @Tag("thorough")
  @Test
  void theTextDoesntDependOnThePlaceOfDevices() throws Exception {
    String whole = text(compiled("--dim=past=64"), "--tokens=20");
    Path three = compiled("--dim=past=64", "--devices=3");
    assertThat(text(three, "--tokens=20")).isEqualTo(whole);
    assertThat(text(three, "--tokens=20", "--processes")).isEqualTo(whole);
    String peers = addresses(3);
    Path key = scratch.resolve("devices.p12");
    assertThat(Invocation.of("key", key).out().strip()).isEqualTo(key.toString());
    assertThat(Invocation.of("key", key).err()).contains("error P6006");
    try (ExecutorService computers = Executors.newCachedThreadPool()) {
      List<Future<Invocation>> others = new ArrayList<>();
      for (int i = 1; i < 3; i++) {
        int device = i;
        others.add(
            computers.submit(
                () ->
                    Invocation.of(
                        "run", three, "--device", device, "--peers", peers, "--key", key)));
      }
      assertThat(text(three, "--tokens=20", "--peers", peers, "--key", key)).isEqualTo(whole);
      for (Future<Invocation> other : others) {
        assertThat(other.get().exitCode()).as(other.get().err()).isEqualTo(ExitCode.DONE);
      }
    }
  }

  @Test
  void compileReportsDevices() {
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=java",
            "--dim=past=8",
            "--strategy=pipeline=2,tensor=2",
            "--json",
            "-o",
            scratch.resolve("four"));
    assertThat(compile.json()).containsEntry("devices", 4);
    assertThat(compile.json()).containsEntry("mesh", "mesh(stage=2, head=2)");
  }

  @Test
  void checkRunsTheDevices() {
    Invocation check =
        Invocation.of("check", "--devices=3", Invocation.SHAKESPEARE.resolve("prefill"));
    assertThat(check.exitCode()).as(check.out()).isEqualTo(ExitCode.DONE);
    assertThat(check.out()).contains("1 passed, 0 failed, 0 unsupported");
  }

  @Test
  void conflictingOptions() throws IOException {
    assertFails("P6017", "compile", "m.onnx", "--target=java", "-o=x", "--strategy=tensor");
    assertFails(
        "P6017",
        "compile",
        "m.onnx",
        "--target=java",
        "-o=x",
        "--devices=3",
        "--strategy=tensor=2");
    Path one = compiled("--dim=past=8");
    assertFails("compile the model with --devices 2", generating(one, "--processes").toArray());
    assertFails("choose one", generating(one, "--processes", "--peers=a:1").toArray());
    assertFails("needs --peers HOST:PORT", "run", one, "--device=1");
    Path two = compiled("--dim=past=8", "--devices=2");
    assertFails("are 0 to 1", "run", two, "--device=2", "--peers=a:1,b:2", "--key=k");
    assertFails("'partita key FILE'", generating(two, "--peers=a:1,b:2").toArray());
    assertFails("P5015", generating(two, "--peers=a:1", "--key=k").toArray());
    String own = addresses(2);
    assertFails("P5017", generating(two, "--peers=" + own, "--key=k").toArray());
    assertFails("P5017", "run", two, "--device=1", "--peers=" + own, "--key=k");
  }

  @Test
  void keysAreReplacedOnRequest() throws Exception {
    Path key = Files.writeString(scratch.resolve("key.p12"), "an older file");
    Path link = Files.createSymbolicLink(scratch.resolve("link.p12"), key);
    assertFails("P6006", "key", link);
    assertThat(Invocation.of("key", "--force", link).exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(link).isSymbolicLink();
    assertThat(Files.size(key)).isGreaterThan(500);
    assertFails("a device or a pipe", "key", "--force", "/dev/full");
  }

  private static void assertFails(String message, Object... arguments) {
    Invocation invocation = Invocation.of(arguments);
    assertThat(invocation.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(invocation.err()).contains(message);
  }

  /** Tests that the others notice a killed process. */
  @Tag("thorough")
  @Test
  void theProcessesEndWithTheCommand() throws Exception {
    interrupt(Process::destroyForcibly);
  }

  @Tag("thorough")
  @Test
  void ctrlCEndsTheProcessesAndLeavesNothing() throws Exception {
    interrupt(Process::destroy);
    try (Stream<Path> left = Files.list(scratch.resolve("temporary"))) {
      assertThat(left.map(Path::getFileName).map(Path::toString))
          .noneMatch(name -> name.startsWith("partita"));
    }
  }

  /** Creates the devices' key in another process. */
  private static boolean isDevice(ProcessHandle process) {
    String[] arguments = process.info().arguments().orElse(new String[0]);
    return List.of(arguments).contains("--device");
  }

  /** Terminates a command when its devices run, and waits until they have ended. */
  private void interrupt(Consumer<Process> end) throws Exception {
    Path folder = compiled("--dim=past=256", "--devices=3");
    Path temporary = Files.createDirectory(scratch.resolve("temporary"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + temporary);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    generating(folder, "--processes", "--tokens=250").forEach(word -> command.add("" + word));
    Process main =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<ProcessHandle> devices = new ArrayList<>();
    try {
      while (devices.size() < 2 && main.isAlive()) {
        Thread.sleep(50);
        devices = main.descendants().filter(DevicesCommandTest::isDevice).toList();
      }
      end.accept(main);
      main.waitFor();
      assertThat(devices).hasSize(2);
      for (ProcessHandle device : devices) {
        device.onExit().get(60, TimeUnit.SECONDS);
      }
    } finally {
      main.destroyForcibly();
      devices.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
