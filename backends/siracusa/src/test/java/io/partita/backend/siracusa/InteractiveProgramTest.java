package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.backend.emitted.run.Port;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests messages about misbehaving programs, which stand in for compiled C. */
@Timeout(60)
class InteractiveProgramTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir private Path folder;

  @BeforeEach
  void emit() throws IOException {
    Tensor weights = zeros(HandMadeSchedule.INNER, HandMadeSchedule.COLUMNS);
    Tensor bias = zeros(HandMadeSchedule.COLUMNS);
    OutputFolder.write(
        ProgramPrinter.emit(HandMadeSchedule.schedule(weights, bias), 8).files(),
        folder.resolve("out"),
        path -> false);
  }

  private static Tensor zeros(long... shape) {
    return Tensor.filled(TensorType.of(ElementType.F32, shape), 0);
  }

  /** The stand-in for the program of a chip. */
  private InteractiveProgram start(String script, Duration limit) throws IOException {
    Path program = folder.resolve("out/build/host/chip0");
    Files.createDirectories(program.getParent());
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return InteractiveProgram.start(folder.resolve("out"), Port.HOST, List.of(), limit);
  }

  private static Diagnostic failure(InteractiveProgram program) {
    Tensor x = zeros(HandMadeSchedule.ROWS, HandMadeSchedule.INNER);
    return assertThatExceptionOfType(PartitaException.class)
        .isThrownBy(() -> program.run(List.of(x)))
        .actual()
        .diagnostics()
        .getFirst();
  }

  @Test
  void reportsTheOutputOfEndedPrograms() throws IOException {
    try (InteractiveProgram program = start("echo no weights; exit 3", LONG)) {
      Diagnostic said = failure(program);
      assertThat(said.code()).isEqualTo(ProgramCode.PROGRAM_STOPPED);
      assertThat(said.found()).isEqualTo("the program ended with code 3: no weights");
    }
  }

  @Test
  void reportsProgramsThatEndEarly() throws IOException {
    String script = "head -c 100 chip0.in > /dev/null; printf abc > chip0.out; exit 1";
    try (InteractiveProgram program = start(script, LONG)) {
      assertThat(failure(program).found()).isEqualTo("the program ended with code 1");
    }
  }

  @Test
  void terminatesSlowPrograms() throws IOException {
    String script = "echo $$ > pid; cp pid " + folder + "; exec sleep 1000";
    try (InteractiveProgram program = start(script, Duration.ofSeconds(1))) {
      assertThat(failure(program).found()).startsWith("no outputs after 1 s");
      long pid = Long.parseLong(Files.readString(folder.resolve("pid")).strip());
      assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
    }
  }

  /** The end of its input lets it terminate. */
  @Test
  void terminatesWaitingPrograms() throws IOException {
    String outputs = "head -c " + outputBytes() + " /dev/zero > chip0.out";
    String script =
        "exec 3< chip0.in; head -c %d <&3 > /dev/null; %s; cat <&3; touch %s"
            .formatted(inputBytes(), outputs, folder.resolve("ended"));
    Tensor x = zeros(HandMadeSchedule.ROWS, HandMadeSchedule.INNER);
    try (InteractiveProgram program = start(script, LONG)) {
      assertThat(program.run(List.of(x)))
          .containsExactly(zeros(HandMadeSchedule.ROWS, HandMadeSchedule.COLUMNS));
    }
    assertThat(folder.resolve("ended")).exists();
  }

  private static long inputBytes() {
    return 4 + 4L * HandMadeSchedule.ROWS * HandMadeSchedule.INNER;
  }

  private static long outputBytes() {
    return 4L * HandMadeSchedule.ROWS * HandMadeSchedule.COLUMNS;
  }
}
