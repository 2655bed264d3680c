package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.siracusa.EmittedC;
import io.partita.backend.siracusa.ProgramPrinter;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

/** Runs schedules as programs on GVSoC, which print the cycles of each step. */
final class Simulation {
  private static final int CORES = 8;
  private static final int RUNS = 2;
  private static final String BUILD = "build/profile";

  /** The time that most programs may take. */
  static final Duration LIMIT = Duration.ofMinutes(30);

  private final Path gvsoc;
  private final Path folder;

  /**
   * @param gvsoc its installation folder
   * @param folder the folder for programs and their outputs; existing outputs are reused
   */
  Simulation(Path gvsoc, Path folder) {
    this.gvsoc = gvsoc;
    this.folder = folder;
  }

  /**
   * The results of a program.
   *
   * @param outputs the outputs of the last run
   * @param chips the steps of each chip in the last run
   */
  record Measured(List<Tensor> outputs, List<List<StepFigures>> chips) {
    /** Returns the cycles of the slowest chip. */
    long cycles() {
      return chips.stream().mapToLong(StepFigures::cycles).max().orElse(0);
    }

    /**
     * The cycles from the beginning of another measurement's last run to that of this one's, of the
     * chip with most of them, with the time that recording takes.
     */
    long since(Measured before) {
      return IntStream.range(0, chips.size())
          .mapToLong(chip -> start(chip) - before.start(chip))
          .max()
          .orElse(0);
    }

    private long start(int chip) {
      return chips.get(chip).getFirst().start();
    }
  }

  /**
   * Runs a schedule twice on the same inputs.
   *
   * @param name the name of its folder
   * @param inputs the inputs in the model's order
   */
  Measured run(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return run(name, schedule, inputs, LIMIT);
  }

  /**
   * Runs a schedule twice on the same inputs.
   *
   * @param limit the time that it may take
   */
  Measured run(String name, Schedule schedule, List<Tensor> inputs, Duration limit)
      throws IOException {
    return measured(name, schedule, Collections.nCopies(RUNS, inputs), limit);
  }

  /** Runs a schedule three times on the same inputs. */
  Measured runThrice(String name, Schedule schedule, List<Tensor> inputs, Duration limit)
      throws IOException {
    return measured(name, schedule, Collections.nCopies(RUNS + 1, inputs), limit);
  }

  /** Runs a schedule once, with caches of instructions that are empty. */
  Measured runCold(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return measured(name, schedule, List.of(inputs), LIMIT);
  }

  private Measured measured(String name, Schedule schedule, List<List<Tensor>> runs, Duration limit)
      throws IOException {
    EmittedC emitted = ProgramPrinter.emit(schedule, CORES);
    Path own = folder.resolve(name);
    Path files = own.resolve("run");
    Path mark = own.resolve("measured");
    String wanted = digest(emitted, runs.getFirst());
    BatchProgram program;
    if (Files.exists(mark) && Files.readString(mark).equals(wanted)) {
      System.err.println(name + ": measured before");
      program = new BatchProgram(own.resolve("c"), BUILD, Port.GVSOC, limit);
    } else {
      long start = System.nanoTime();
      System.err.print(name + ": building");
      if (Files.exists(own)) {
        OutputFolder.delete(own);
      }
      Files.createDirectories(files);
      OutputFolder.write(emitted.files(), own.resolve("c"), path -> true);
      Build.run(own.resolve("c"), Port.GVSOC, variables(emitted));
      System.err.printf(", %d s; simulating", seconds(start));
      program = new BatchProgram(own.resolve("c"), BUILD, Port.GVSOC, limit);
      program.run(runs, options(limit), files);
      System.err.printf(", %d s%n", seconds(start));
      Files.writeString(mark, wanted);
    }
    List<Integer> steps = new ArrayList<>();
    for (int chip = 0; chip < emitted.description().chips().size(); chip++) {
      steps.add(steps(schedule, chip));
    }
    BatchProgram.Result result = program.result(runs.size(), steps, files);
    return new Measured(result.outputs().getLast(), result.profiles());
  }

  /** Returns the outputs of a program that ran here, on this computer. */
  List<Tensor> runOnHost(String name, List<Tensor> inputs) throws IOException {
    Path program = folder.resolve(name).resolve("c");
    Path kernels = Files.createDirectories(folder.resolve("host-kernels"));
    Build.run(program, Port.HOST, List.of("CORES=1", "HOST_KERNELS=" + kernels));
    return new BatchProgram(program, Port.HOST, LIMIT)
        .run(List.of(inputs), List.of())
        .outputs()
        .getLast();
  }

  private static long seconds(long start) {
    return Duration.ofNanos(System.nanoTime() - start).toSeconds();
  }

  /** Compiles kernels and components of the board once for all programs. */
  private List<String> variables(EmittedC emitted) throws IOException {
    Path kernels = folder.resolve("objects");
    forgetOutdated(kernels, emitted);
    return List.of("PROFILE=1", "HOST_KERNELS=" + kernels, "gvsoc_KERNELS=" + kernels);
  }

  /** Deletes compiled kernels if a source has changed since, copies of which are beside them. */
  private static void forgetOutdated(Path kernels, EmittedC emitted) throws IOException {
    Path copies = kernels.resolve("sources");
    List<EmittedFile> sources =
        emitted.files().stream()
            .filter(file -> file.path().startsWith("runtime/kernels/"))
            .toList();
    for (EmittedFile file : sources) {
      Path copy = copies.resolve(Path.of(file.path()).getFileName());
      if (Files.exists(copy) && !Arrays.equals(Files.readAllBytes(copy), bytes(file))) {
        OutputFolder.delete(kernels);
        break;
      }
    }
    Files.createDirectories(copies);
    for (EmittedFile file : sources) {
      Files.write(copies.resolve(Path.of(file.path()).getFileName()), bytes(file));
    }
  }

  private static byte[] bytes(EmittedFile file) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    file.content().writeTo(out);
    return out.toByteArray();
  }

  private List<String> options(Duration limit) {
    String seconds = Long.toString(limit.toSeconds());
    return List.of(
        "--gvsoc",
        gvsoc.toString(),
        "--components",
        folder.resolve("components").toString(),
        "--timeout",
        seconds);
  }

  private static int steps(Schedule schedule, int chip) {
    for (ChipSchedule role : schedule.roles()) {
      if (role.devices().contains(chip)) {
        return role.steps().size();
      }
    }
    throw new IllegalArgumentException("chip " + chip);
  }

  /** Returns a hash of everything that a measurement depends on, except the compiler and GVSoC. */
  private static String digest(EmittedC emitted, List<Tensor> inputs) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (DigestOutputStream out =
          new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
        for (EmittedFile file : emitted.files()) {
          out.write(file.path().getBytes(StandardCharsets.UTF_8));
          file.content().writeTo(out);
        }
        for (Tensor tensor : inputs) {
          out.write(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
        }
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
