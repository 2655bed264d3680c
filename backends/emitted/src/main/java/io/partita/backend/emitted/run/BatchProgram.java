package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.measure.RunProfile;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.tensor.Tensor;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs a built program on files of inputs, on any port. */
public final class BatchProgram {
  private final Path folder;
  private final String build;
  private final Port port;
  private final Duration limit;
  private final Streams streams;

  /**
   * @param limit the time limit of all runs
   */
  public BatchProgram(Path folder, Port port, Duration limit) {
    this(folder, "build", port, limit);
  }

  /**
   * @param build the folder in it, in which programs of ports are
   * @param limit the time limit of all runs
   */
  public BatchProgram(Path folder, String build, Port port, Duration limit) {
    this.folder = folder.toAbsolutePath();
    this.build = build;
    this.port = port;
    this.limit = limit;
    this.streams = new Streams(ChipDescription.read(folder));
  }

  /**
   * The results of runs.
   *
   * @param outputs the outputs of each run, in the model's order
   * @param reports reports in JSON: one per chip, or one for all from GVSoC
   * @param profiles for each chip, the figures of each step of the last run; empty without a
   *     profile
   */
  public record Result(
      List<List<Tensor>> outputs, List<String> reports, List<List<StepFigures>> profiles) {}

  /**
   * The results of a program built with {@code PROFILE=runs}.
   *
   * @param outputs the outputs of each run, in the model's order
   * @param profiles the last run of each chip
   */
  public record ProfiledRuns(List<List<Tensor>> outputs, List<RunProfile> profiles) {}

  /** Reads what a chip's program writes after the outputs of a run. */
  private interface ProfileReader<T> {
    T read(int chip, InputStream in) throws IOException;
  }

  /**
   * @param inputs the inputs of each run, in the model's order
   * @param options options of the port's programs, or of GVSoC's board
   * @throws PartitaException P5104 when a chip stops, P5105 when the port has too few chips
   */
  public Result run(List<List<Tensor>> inputs, List<String> options) {
    return run(inputs, options, List.of());
  }

  /**
   * @param inputs the inputs of each run, in the model's order
   * @param options options of the port's programs, or of GVSoC's board
   * @param steps the number of steps of each chip, if built with {@code PROFILE=1}; else empty
   * @throws PartitaException as {@link #run(List, List)}
   */
  public Result run(List<List<Tensor>> inputs, List<String> options, List<Integer> steps) {
    try (ScratchFolder scratch = new ScratchFolder()) {
      run(inputs, options, scratch.path());
      return result(inputs.size(), steps, scratch.path());
    } catch (IOException e) {
      throw StoppedProgram.of(folder, port, FileFailure.words(folder, e));
    }
  }

  /**
   * Reads the files that chips wrote.
   *
   * @param runs the number of runs
   * @param steps as in {@link #run(List, List, List)}
   */
  public Result result(int runs, List<Integer> steps, Path files) throws IOException {
    List<List<StepFigures>> profiles = new ArrayList<>();
    List<List<Tensor>> outputs =
        outputs(
            runs,
            (chip, in) ->
                steps.isEmpty() ? List.<StepFigures>of() : StepFigures.read(in, steps.get(chip)),
            profiles,
            files);
    return new Result(outputs, reports(files), steps.isEmpty() ? List.of() : profiles);
  }

  /**
   * Reads the files that chips wrote whose programs were built with {@code PROFILE=runs}.
   *
   * @param runs the number of runs
   */
  public ProfiledRuns profiledRuns(int runs, Path files) throws IOException {
    List<RunProfile> profiles = new ArrayList<>();
    return new ProfiledRuns(
        outputs(runs, (chip, in) -> RunProfile.read(in), profiles, files), profiles);
  }

  /**
   * Runs the program and leaves the chips' outputs in files, {@code chipI.out}.
   *
   * @param files an empty folder
   * @throws PartitaException as {@link #run(List, List)}; files that were written remain
   */
  public void run(List<List<Tensor>> inputs, List<String> options, Path files) {
    int chips = streams.description().chips().size();
    port.verifyChips(chips);
    try {
      for (int chip = 0; chip < chips; chip++) {
        Path input = files.resolve("chip" + chip + ".in");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(input))) {
          for (List<Tensor> run : inputs) {
            streams.writeInputs(chip, run, false, out);
          }
        }
      }
      Commands.linkImages(folder, chips, files);
      execute(Commands.of(port, folder, build, chips, options, files), files);
    } catch (IOException e) {
      throw StoppedProgram.of(folder, port, FileFailure.words(folder, e));
    }
  }

  /** A chip's part of each input that it reads, by name. */
  public Map<String, Tensor> parts(int chip, List<Tensor> inputs) {
    return streams.parts(chip, inputs);
  }

  private void execute(List<List<String>> commands, Path files) throws IOException {
    try (ProcessGroup processes = ProcessGroup.start(port, commands, files)) {
      if (!processes.awaitEnd(limit)) {
        String said = processes.messages();
        throw StoppedProgram.of(
            folder,
            port,
            "no end after " + limit.toSeconds() + " s" + (said.isEmpty() ? "" : "; " + said),
            "increase --timeout SECONDS; 'partita diff' shows where it stops");
      }
      if (processes.fails()) {
        throw StoppedProgram.of(folder, port, processes.messages());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StoppedProgram.of(folder, port, "interrupted");
    }
  }

  /**
   * @param profiles takes what each chip's program wrote after its last run
   */
  private <T> List<List<Tensor>> outputs(
      int runs, ProfileReader<T> reader, List<T> profiles, Path files) throws IOException {
    List<List<List<Tensor>>> parts = new ArrayList<>();
    for (int run = 0; run < runs; run++) {
      parts.add(new ArrayList<>());
    }
    for (int chip = 0; chip < streams.description().chips().size(); chip++) {
      Path output = files.resolve("chip" + chip + ".out");
      // A chip without outputs may not create the file.
      try (InputStream in =
          Files.exists(output)
              ? new BufferedInputStream(Files.newInputStream(output))
              : InputStream.nullInputStream()) {
        for (int run = 0; run < runs; run++) {
          parts.get(run).add(streams.readOutputs(chip, in));
          T profile = reader.read(chip, in);
          if (run == runs - 1) {
            profiles.add(profile);
          }
        }
      }
    }
    return parts.stream().map(streams::outputs).toList();
  }

  private List<String> reports(Path files) throws IOException {
    List<String> reports = new ArrayList<>();
    Path together = files.resolve("report.json");
    if (Files.exists(together)) {
      return List.of(Files.readString(together));
    }
    for (int chip = 0; chip < streams.description().chips().size(); chip++) {
      Path report = files.resolve("chip" + chip + ".json");
      if (Files.exists(report)) {
        reports.add(Files.readString(report));
      }
    }
    return reports;
  }
}
