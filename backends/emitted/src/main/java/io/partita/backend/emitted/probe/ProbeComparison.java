package io.partita.backend.emitted.probe;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.graph.Origin;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs an emitted program with probes and compares each step of each chip with the reference.
 *
 * @param folder an emitted folder
 * @param limit the time limit of the run
 * @param tolerance the tolerance of f32, for errors as in {@link Result}
 */
public record ProbeComparison(Path folder, Port port, Duration limit, double tolerance) {
  /**
   * The tolerance of f32: by their contracts, kernels may round sums of products and functions
   * differently from the reference. Sums of K terms differ by about sqrt(K) 2^-24 of their size,
   * functions by a few units in the last place.
   */
  public static final double USUAL_TOLERANCE = 1e-5;

  private static final String BUILD = "build/probes";

  /**
   * @param finding empty if all steps agree
   * @param message the output of a program that stopped; else empty
   * @param largest the largest error of an agreeing element, relative to its tensor's largest
   *     magnitude
   * @param largestAt the step of the largest error; empty without an error
   */
  public record Result(
      Optional<Finding> finding,
      String message,
      int chips,
      int steps,
      double largest,
      String largestAt) {}

  /**
   * @param inputs the inputs of the whole model, in its order
   * @param options options of the port's programs
   * @param variables variables of make
   * @throws PartitaException P5102, P5103 or P5105 if it can't run, P5106 if there is no reference
   */
  public Result run(List<Tensor> inputs, List<String> options, List<String> variables) {
    int chips = ChipDescription.read(folder).chips().size();
    List<ChipReference> references = new ArrayList<>();
    for (int chip = 0; chip < chips; chip++) {
      references.add(ChipReference.read(folder, chip));
    }
    List<String> all = new ArrayList<>(variables);
    all.add("PROBES=1");
    Build.run(folder, port, all);
    BatchProgram program = new BatchProgram(folder, BUILD, port, limit);
    try (ScratchFolder scratch = new ScratchFolder()) {
      String message = attempt(program, inputs, options, scratch.path());
      return compare(program, references, inputs, scratch.path(), message);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The output of a failed program. */
  private static String attempt(
      BatchProgram program, List<Tensor> inputs, List<String> options, Path files) {
    try {
      program.run(List.of(inputs), options, files);
      return "";
    } catch (PartitaException e) {
      if (e.diagnostics().getFirst().code() == ProgramCode.PROGRAM_STOPPED) {
        return e.diagnostics().getFirst().found();
      }
      throw e;
    }
  }

  private Result compare(
      BatchProgram program,
      List<ChipReference> references,
      List<Tensor> inputs,
      Path files,
      String message)
      throws IOException {
    List<List<StepRecords>> records = new ArrayList<>();
    List<Map<Integer, List<Optional<ProbeRecord>>>> sent = new ArrayList<>();
    for (int chip = 0; chip < references.size(); chip++) {
      ChipReference own = references.get(chip);
      records.add(
          StepRecords.of(
              ProbeRecord.read(files.resolve("chip" + chip + ".out"), own.steps().size())));
      sent.add(StepRecords.sent(own, records.getLast()));
    }
    List<Finding> findings = new ArrayList<>();
    double largest = 0;
    String largestAt = "";
    for (int chip = 0; chip < references.size(); chip++) {
      ChipReference own = references.get(chip);
      ReferenceValues values = new ReferenceValues(own, program.parts(chip, inputs), folder, chip);
      ChipComparison comparison =
          new ChipComparison(chip, own, values, records.get(chip), sent, tolerance);
      comparison.run().ifPresent(findings::add);
      if (comparison.largest() > largest) {
        largest = comparison.largest();
        largestAt = comparison.largestAt();
      }
    }
    int steps = references.stream().mapToInt(each -> each.steps().size()).max().orElse(0);
    Optional<Finding> first =
        findings.stream()
            .min(
                Comparator.comparing(Finding::kind)
                    .thenComparingInt(Finding::step)
                    .thenComparing(Finding::isWaiting)
                    .thenComparingInt(Finding::chip));
    if (first.isEmpty() && !message.isEmpty()) {
      first = Optional.of(afterwards(steps));
    }
    return new Result(first, message, references.size(), steps, largest, largestAt);
  }

  /** A program that fails although all steps agree. */
  private static Finding afterwards(int steps) {
    return new Finding(
        Finding.Kind.STOPS,
        0,
        steps,
        steps,
        Origin.NONE,
        "",
        "that the program ends",
        "that it doesn't");
  }
}
