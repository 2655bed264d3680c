package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.RunProfile;
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

/** Runs schedules as programs on GVSoC, which record the cycles of runs or of their steps. */
final class Simulation {
  private static final int CORES = 8;
  private static final int RUNS = 2;

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

  /** What programs record. */
  private enum Profile {
    RUNS("runs", "build/runs"),
    STEPS("steps", "build/profile");

    private final String text;
    private final String build;

    Profile(String text, String build) {
      this.text = text;
      this.build = build;
    }
  }

  /**
   * The results of a program that records its runs, which take as long as without a profile.
   *
   * @param outputs the outputs of the last run
   * @param chips the last run of each chip
   */
  record MeasuredRuns(List<Tensor> outputs, List<RunProfile> chips) {
    /** Returns the cycles of the slowest chip. */
    long cycles() {
      return chips.stream().mapToLong(RunProfile::cycles).max().orElse(0);
    }

    /**
     * The cycles from the beginning of another measurement's last run to that of this one's, of the
     * chip with most of them, with the time that recording takes.
     */
    long since(MeasuredRuns before) {
      return IntStream.range(0, chips.size())
          .mapToLong(chip -> chips.get(chip).start() - before.chips.get(chip).start())
          .max()
          .orElse(0);
    }
  }

  /**
   * The results of a program that records its steps.
   *
   * @param outputs the outputs of the last run
   * @param chips the steps of each chip in the last run
   */
  record MeasuredSteps(List<Tensor> outputs, List<List<StepFigures>> chips) {
    /** Returns the cycles of all steps of the slowest chip. */
    long cycles() {
      return chips.stream().mapToLong(StepFigures::cycles).max().orElse(0);
    }
  }

  /** The files of runs of a program. */
  private record Ran(BatchProgram program, int runs, Path files) {}

  /**
   * Runs a schedule twice on the same inputs.
   *
   * @param name the name of its folder
   * @param inputs the inputs in the model's order
   */
  MeasuredRuns run(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return run(name, schedule, inputs, LIMIT);
  }

  /**
   * Runs a schedule twice on the same inputs.
   *
   * @param limit the time that it may take
   */
  MeasuredRuns run(String name, Schedule schedule, List<Tensor> inputs, Duration limit)
      throws IOException {
    return runs(name, schedule, Collections.nCopies(RUNS, inputs), limit);
  }

  /** Runs a schedule three times on the same inputs. */
  MeasuredRuns runThrice(String name, Schedule schedule, List<Tensor> inputs, Duration limit)
      throws IOException {
    return runs(name, schedule, Collections.nCopies(RUNS + 1, inputs), limit);
  }

  /** Runs a schedule once, with caches of instructions that are empty. */
  MeasuredRuns runCold(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return runs(name, schedule, List.of(inputs), LIMIT);
  }

  private MeasuredRuns runs(
      String name, Schedule schedule, List<List<Tensor>> inputs, Duration limit)
      throws IOException {
    Ran ran = ran(name, ProgramPrinter.emit(schedule, CORES), Profile.RUNS, inputs, limit);
    BatchProgram.ProfiledRuns read = ran.program.profiledRuns(ran.runs, ran.files);
    return new MeasuredRuns(read.outputs().getLast(), read.profiles());
  }

  /** Runs a schedule twice on the same inputs, and measures its steps in the second run. */
  MeasuredSteps steps(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return profiled(name, schedule, Collections.nCopies(RUNS, inputs));
  }

  /** Runs a schedule once, with caches of instructions that are empty, and measures its steps. */
  MeasuredSteps stepsCold(String name, Schedule schedule, List<Tensor> inputs) throws IOException {
    return profiled(name, schedule, List.of(inputs));
  }

  private MeasuredSteps profiled(String name, Schedule schedule, List<List<Tensor>> inputs)
      throws IOException {
    EmittedC emitted = ProgramPrinter.emit(schedule, CORES);
    Ran ran = ran(name, emitted, Profile.STEPS, inputs, LIMIT);
    List<Integer> steps = new ArrayList<>();
    for (int chip = 0; chip < emitted.description().chips().size(); chip++) {
      steps.add(steps(schedule, chip));
    }
    BatchProgram.Result read = ran.program.result(ran.runs, steps, ran.files);
    return new MeasuredSteps(read.outputs().getLast(), read.profiles());
  }

  private Ran ran(
      String name, EmittedC emitted, Profile profile, List<List<Tensor>> inputs, Duration limit)
      throws IOException {
    Path own = folder.resolve(name);
    Path files = own.resolve("run");
    Path mark = own.resolve("measured");
    String wanted = digest(emitted, profile, inputs.getFirst());
    BatchProgram program;
    if (Files.exists(mark) && Files.readString(mark).equals(wanted)) {
      System.err.println(name + ": measured before");
      program = new BatchProgram(own.resolve("c"), profile.build, Port.GVSOC, limit);
    } else {
      long start = System.nanoTime();
      System.err.print(name + ": building");
      if (Files.exists(own)) {
        OutputFolder.delete(own);
      }
      Files.createDirectories(files);
      OutputFolder.write(emitted.files(), own.resolve("c"), path -> true);
      Build.run(own.resolve("c"), Port.GVSOC, variables(emitted, profile));
      System.err.printf(", %d s; simulating", seconds(start));
      program = new BatchProgram(own.resolve("c"), profile.build, Port.GVSOC, limit);
      program.run(inputs, options(limit), files);
      System.err.printf(", %d s%n", seconds(start));
      Files.writeString(mark, wanted);
    }
    return new Ran(program, inputs.size(), files);
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
  private List<String> variables(EmittedC emitted, Profile profile) throws IOException {
    Path kernels = folder.resolve("objects");
    forgetOutdated(kernels, emitted);
    return List.of(
        "PROFILE=" + profile.text, "HOST_KERNELS=" + kernels, "gvsoc_KERNELS=" + kernels);
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
  private static String digest(EmittedC emitted, Profile profile, List<Tensor> inputs)
      throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (DigestOutputStream out =
          new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
        out.write(profile.text.getBytes(StandardCharsets.UTF_8));
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
