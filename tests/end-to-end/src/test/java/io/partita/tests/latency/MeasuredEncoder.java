package io.partita.tests.latency;

import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.siracusa.SiracusaBackend;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.program.Program;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * C of a program, on the host, a process with one core for each device. Devices take turns to
 * compute, and their clocks count their own processor time and the time of messages. Programs and
 * what was measured stay in a folder.
 */
final class MeasuredEncoder {
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Pattern CYCLES = Pattern.compile("\"cycles\": (\\d+)");
  private static final double NANOSECONDS = 1e-9;
  private static final long BYTES_OF_MEGABIT = 125_000;

  private final BatchProgram program;
  private final Path folder;

  /**
   * @param folder of its own, empty or with the same program
   * @param kernels the folder of compiled kernels
   */
  MeasuredEncoder(Program devices, Path folder, Path kernels) throws IOException {
    this.folder = Files.createDirectories(folder);
    Path code = folder.resolve("c");
    if (!Files.exists(folder.resolve("built"))) {
      build(devices, code, kernels);
      Files.createFile(folder.resolve("built"));
    }
    program = new BatchProgram(code, Port.HOST, LIMIT);
  }

  private static void build(Program devices, Path code, Path kernels) throws IOException {
    SiracusaBackend backend =
        ChipTarget.of(
                "siracusa:l3=1GiB,chips=" + devices.devices().size(),
                Map.of("l2", new Quantity(64, Unit.MIB)))
            .backend();
    backend.write(backend.emit(devices, Optional.empty()), code);
    Build.run(
        code,
        Port.HOST,
        List.of(
            "CORES=1",
            "HOST_KERNELS=" + Files.createDirectories(kernels),
            "FLAGS=-O3 -march=native -Wframe-larger-than=16384"));
  }

  /**
   * Returns the time on the clock of the last device, in seconds.
   *
   * @param megabits a second that each device can send
   */
  double seconds(Tensor input, int megabits) throws IOException {
    Path measured = folder.resolve(megabits + "-mbps");
    if (!Files.exists(measured)) {
      Files.writeString(measured, Double.toString(run(input, megabits)));
    }
    return Double.parseDouble(Files.readString(measured));
  }

  /** The output of the last run. */
  float[] output() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("output")));
    float[] values = new float[bytes.remaining() / Float.BYTES];
    bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }

  private double run(Tensor input, int megabits) throws IOException {
    BatchProgram.Result result =
        program.run(
            List.of(List.of(input)),
            List.of(
                "--turns",
                folder.resolve("turns").toAbsolutePath().toString(),
                "--share",
                "chip",
                "--bandwidth",
                Long.toString(megabits * BYTES_OF_MEGABIT)));
    List<Long> cycles = new ArrayList<>();
    for (String report : result.reports()) {
      Matcher found = CYCLES.matcher(report);
      if (!found.find()) {
        throw new AssertionError(report);
      }
      cycles.add(Long.parseLong(found.group(1)));
    }
    Tensor output = result.outputs().getFirst().getFirst();
    Files.write(folder.resolve("output"), output.bytes().toArray(ValueLayout.JAVA_BYTE));
    return cycles.stream().mapToLong(Long::longValue).max().orElseThrow() * NANOSECONDS;
  }
}
