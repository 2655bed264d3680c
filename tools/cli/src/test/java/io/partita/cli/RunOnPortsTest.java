package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.Port;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests {@code partita run --on PORT}: results, and errors of programs that are missing, don't
 * compile, stop or don't end. No processes or partial files remain.
 */
@Tag("thorough")
@Timeout(300)
@Isolated("looks for processes that the JVM has started")
final class RunOnPortsTest {
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

  /**
   * Tests that all ports and the Java backend refuse the same values of an index, and accept its
   * first and last values.
   */
  @ParameterizedTest
  @EnumSource
  void indexOutOfRange(Port port) throws IOException {
    int devices = port == Port.QEMU ? 1 : 2;
    Path folder = SmallChipProgram.ofRows(scratch, "siracusa", devices);
    List<Object> onPort = List.copyOf(SmallChipProgram.on(port));
    for (long index : new long[] {-5, 4}) {
      assertThat(lookedUp(folder, 1, index, onPort).exitCode()).isEqualTo(ExitCode.DONE);
    }
    for (long index : new long[] {5, -6, 1L << 40}) {
      Invocation run = lookedUp(folder, 0, index, onPort);
      assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(run.err()).contains(refusal("ids", "-5 to 4", index));
    }
    assertThat(lookedUp(folder, 2, 0, onPort).exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(lookedUp(folder, -1, 0, onPort).err()).contains(refusal("at", "0 to 2", -1));
    assertThat(lookedUp(folder, 3, 0, onPort).err()).contains(refusal("at", "0 to 2", 3));
  }

  /** Tests a folder whose name means something to shells, to make, or to emitted programs. */
  @ParameterizedTest
  @EnumSource
  void foldersHaveAnyName(Port port) throws IOException {
    Path folder = scratch.resolve("a %2 b'$HOME #;&" + port);
    SmallChipProgram.copy(port == Port.QEMU ? one : two, folder);
    Path outputs = scratch.resolve("any-name.npz");
    Invocation run = run(folder, outputs, SmallChipProgram.on(port));
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
  }

  @Test
  void indexOutOfRangeInJava() throws IOException {
    Path folder = SmallChipProgram.ofRows(scratch, "java", 2);
    assertThat(lookedUp(folder, 0, -5, List.of()).exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(lookedUp(folder, 0, 5, List.of()).err()).contains(refusal("ids", "-5 to 4", 5));
    assertThat(lookedUp(folder, 3, 0, List.of()).err()).contains(refusal("at", "0 to 2", 3));
  }

  private static String refusal(String input, String range, long found) {
    return """
        error P3202: an index is out of range
          where:     input "%s"
          expected:  %s
          found:     %d
        """
        .formatted(input, range, found);
  }

  private static Invocation lookedUp(Path folder, long at, long index, List<Object> options)
      throws IOException {
    Path given = SmallChipProgram.rows(scratch, at, index);
    List<Object> command = new ArrayList<>();
    command.addAll(
        List.of("run", folder, "--inputs", given, "-o", scratch.resolve("looked-up.npz")));
    command.addAll(options);
    return Invocation.of(command.toArray());
  }

  private static List<Object> command(Path folder, Path outputs, List<String> options) {
    List<Object> command = new ArrayList<>();
    command.addAll(List.of("run", folder, "--inputs", inputs, "-o", outputs));
    command.addAll(options);
    return command;
  }

  private static Invocation run(Path folder, Path outputs, List<String> options) {
    return Invocation.of(command(folder, outputs, options).toArray());
  }

  /** Runs a folder with a changed file, which is refused. */
  private static String refused(
      Path folder, String file, UnaryOperator<String> change, List<String> options)
      throws IOException {
    Path outputs = scratch.resolve("none.npz");
    Path changed = folder.resolve(file);
    String text = Files.readString(changed);
    assertThat(change.apply(text)).isNotEqualTo(text);
    Files.writeString(changed, change.apply(text));
    try {
      List<String> changing = new ArrayList<>(options);
      changing.add("--allow-changes");
      Invocation run = run(folder, outputs, changing);
      assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(run.out()).isEmpty();
      assertThat(run.err()).doesNotContain("\tat ", "Exception");
      assertThat(outputs).doesNotExist();
      assertThat(programs(ProcessHandle.current())).isEmpty();
      return run.err();
    } finally {
      Files.writeString(changed, text);
    }
  }

  /** Returns the remaining descendants of a process. */
  private static List<ProcessHandle> programs(ProcessHandle process) {
    return process.descendants().filter(ProcessHandle::isAlive).toList();
  }

  private static UnaryOperator<String> atFirstStep(String statement) {
    return text -> text.replaceFirst("\n( *END_STEP\\(0\\);)", "\n    " + statement + "\n$1");
  }

  private static final String FOR_EVER = "for (volatile int32_t i = 0; i < 1;) { }";

  @ParameterizedTest
  @EnumSource
  void agreesWithTheHost(Port port) {
    Path folder = port == Port.QEMU ? one : two;
    Path expected = scratch.resolve("host.npz");
    Path found = scratch.resolve(port.text() + ".npz");
    Invocation host = run(folder, expected, SmallChipProgram.on(Port.HOST));
    assertThat(host.exitCode()).as(host.err()).isEqualTo(ExitCode.DONE);
    Invocation run = run(folder, found, SmallChipProgram.on(port));
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(run.out()).isEqualTo("y: f32[2,8]\n");
    Tensor y = Npz.read(expected).get("y");
    Tensor same = Npz.read(found).get("y");
    // On Siracusa, products and sums are contracted.
    double bound = port == Port.GVSOC ? 1e-5 : 0;
    for (int i = 0; i < y.size(); i++) {
      assertThat(Math.abs(same.getDouble(i) - y.getDouble(i))).isLessThanOrEqualTo(bound);
    }
    assertThat(y.getDouble(y.size() - 1)).isNotZero();
  }

  @ParameterizedTest
  @EnumSource
  void failingProgram(Port port) throws IOException {
    Path folder = port == Port.QEMU ? one : two;
    assertThat(
            refused(
                folder,
                "role_0.c",
                atFirstStep("partita_fail(\"on purpose\");"),
                SmallChipProgram.on(port)))
        .contains("error P5104: the emitted program stopped")
        .containsPattern("found: +chip \\d: on purpose");
  }

  @ParameterizedTest
  @EnumSource
  void endlessProgram(Port port) throws IOException {
    Path folder = port == Port.QEMU ? one : two;
    List<String> options = new ArrayList<>(SmallChipProgram.on(port));
    options.add("--timeout=4");
    assertThat(refused(folder, "role_0.c", atFirstStep(FOR_EVER), options))
        .contains("error P5104: the emitted program stopped", "no end after 4 s")
        .contains("increase --timeout SECONDS; 'partita diff' shows where it stops");
  }

  @Test
  void programEndedByASignal() throws IOException {
    assertThat(
            refused(
                two, "role_0.c", atFirstStep("__builtin_trap();"), SmallChipProgram.on(Port.HOST)))
        .contains("error P5104")
        .containsPattern("found: +chip \\d was ended by signal 4");
  }

  @ParameterizedTest
  @EnumSource(names = {"HOST", "MPI", "QEMU"})
  void programThatDoesNotCompile(Port port) throws IOException {
    Path folder = port == Port.QEMU ? one : two;
    assertThat(
            refused(folder, "role_0.c", text -> "int number\n" + text, SmallChipProgram.on(port)))
        .contains("error P5103: the emitted program doesn't compile")
        .containsPattern("found: .*role_0.c:\\d+:.* error: ");
  }

  @Test
  void programWithoutRoomForItsCode() throws IOException {
    // It isn't built yet: the build doesn't follow linker scripts.
    Path folder = SmallChipProgram.compiled(Files.createDirectory(scratch.resolve("room")), 1);
    assertThat(
            refused(
                folder,
                "runtime/ports/qemu-virt/virt.ld",
                text -> text.replace("LENGTH = 1024M", "LENGTH = 64K"),
                SmallChipProgram.on(Port.QEMU)))
        .contains("error P5108: a chip has no room for the program's code beside its data")
        .containsPattern("expected:  code and tables within what the target reserves .* in ram")
        .containsPattern("found: +\\d+ bytes more")
        .contains("reserved=");
  }

  @Test
  void portWithTooFewChips() {
    Invocation run = run(two, scratch.resolve("none.npz"), SmallChipProgram.on(Port.QEMU));
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P5105: a port has too few chips", "found:     2 chips");
    assertThat(two.resolve("build/qemu")).doesNotExist();
  }

  @Test
  void folderWithoutGvsoc() {
    Invocation run =
        run(two, scratch.resolve("none.npz"), List.of("--on=gvsoc", "--gvsoc=" + scratch));
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err())
        .contains("error P5102: a tool that builds or runs emitted programs is missing")
        .contains("with bin/gvsoc", "targets/gvsoc/README.md");
  }

  @ParameterizedTest
  @EnumSource(names = {"HOST", "MPI", "QEMU"})
  void missingProgram(Port port) throws IOException, InterruptedException {
    Path path = Files.createDirectories(scratch.resolve("path"));
    Path log = scratch.resolve("missing.log");
    List<String> options = List.of("--on", port.text());
    ProcessBuilder builder = partita(command(one, scratch.resolve("none.npz"), options), scratch);
    builder.environment().put("PATH", path.toString());
    Process run = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(run.waitFor()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(Files.readString(log))
        .contains("error P5102: a tool that builds or runs emitted programs is missing")
        .contains("where:     --on " + port.text(), "make on the path", "apt-get install ");
  }

  /** Sends a signal only to the command; Ctrl-C in a terminal signals all processes. */
  @ParameterizedTest
  @EnumSource
  void terminatedCommand(Port port) throws IOException, InterruptedException {
    Path folder = port == Port.QEMU ? one : two;
    Path outputs = scratch.resolve("none.npz");
    Path temporary = Files.createDirectories(scratch.resolve("temporary-" + port.text()));
    Path role = folder.resolve("role_0.c");
    String text = Files.readString(role);
    Files.writeString(role, atFirstStep(FOR_EVER).apply(text));
    try {
      List<String> options = new ArrayList<>(SmallChipProgram.on(port));
      options.add("--allow-changes");
      Process run =
          partita(command(folder, outputs, options), temporary)
              .redirectErrorStream(true)
              .redirectOutput(scratch.resolve("told.log").toFile())
              .start();
      List<ProcessHandle> started = awaitPrograms(run, port);
      new ProcessBuilder("kill", "-TERM", Long.toString(run.pid())).start().waitFor();
      assertThat(run.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(run.exitValue()).isEqualTo(143);
      for (ProcessHandle program : started) {
        program.onExit().orTimeout(5, TimeUnit.SECONDS).join();
      }
      assertThat(outputs).doesNotExist();
      try (Stream<Path> left = Files.list(temporary)) {
        assertThat(left).isEmpty();
      }
    } finally {
      Files.writeString(role, text);
    }
  }

  /** Returns the processes of a command that runs chips, when they have started. */
  private static List<ProcessHandle> awaitPrograms(Process run, Port port)
      throws InterruptedException {
    String program =
        switch (port) {
          case HOST, MPI -> "chip0";
          case QEMU -> "qemu-system-riscv32";
          case GVSOC -> "gvsoc_launcher";
        };
    long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (System.nanoTime() < deadline && run.isAlive()) {
      List<ProcessHandle> started = programs(run.toHandle());
      if (started.stream().anyMatch(each -> each.info().command().orElse("").contains(program))) {
        return started;
      }
      Thread.sleep(50);
    }
    throw new AssertionError("no " + program + " was started");
  }

  private static ProcessBuilder partita(List<Object> arguments, Path temporary) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + temporary,
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    arguments.forEach(argument -> command.add(argument.toString()));
    return new ProcessBuilder(command);
  }
}
