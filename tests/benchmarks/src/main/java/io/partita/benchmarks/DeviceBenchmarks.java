package io.partita.benchmarks;

import io.partita.backend.siracusa.SiracusaBackend;
import io.partita.backend.siracusa.run.Build;
import io.partita.backend.siracusa.run.Port;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Cycles of steps on GVSoC beside what was predicted: {@code DeviceBenchmarks GVSOC FOLDER}, from
 * the repository's root. Prints a table for docs/measurements.md.
 */
final class DeviceBenchmarks {
  private static final String SECONDS = "900";

  /**
   * Of {@code partita_step_profile}: cycles, the team's, four counters of traffic, and the start.
   */
  private static final int STEP_BYTES = 56;

  private DeviceBenchmarks() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path gvsoc = Path.of(arguments[0]);
    Path folder = Path.of(arguments[1]).toAbsolutePath();
    TargetDescription target = TargetLibrary.find("siracusa:chips=1");
    DeviceKernels kernels = new DeviceKernels();
    Schedule schedule = Scheduler.schedule(kernels.program(), target, SchedulerOptions.STANDARD);
    OutputFolder.write(SiracusaBackend.emit(schedule, 8).files(), folder, path -> true);
    Build.run(folder, Port.GVSOC, List.of("FLAGS=-DPARTITA_PROFILE"));
    simulate(gvsoc, folder, kernels.inputs());
    List<StepPrediction> predicted =
        SchedulePrediction.of(schedule, target).devices().getFirst().steps();
    print(schedule, predicted, Files.readAllBytes(folder.resolve("chip0.out")));
  }

  /** Two runs, so that the second one's figures are those of a run that follows another. */
  private static void simulate(Path gvsoc, Path folder, List<Tensor> inputs)
      throws IOException, InterruptedException {
    Path input = folder.resolve("chip0.in");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(input))) {
      for (int run = 0; run < 2; run++) {
        out.write(new byte[] {1, 0, 0, 0});
        for (Tensor tensor : inputs) {
          out.write(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
        }
      }
    }
    List<String> command =
        new ArrayList<>(List.of("python3", "targets/gvsoc/simulate.py", folder.toString()));
    command.addAll(List.of("--programs", folder.resolve("build/gvsoc").toString()));
    command.addAll(List.of("--gvsoc", gvsoc.toString(), "--timeout", SECONDS));
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IllegalStateException(String.join(" ", command) + " ended with " + status);
    }
  }

  private static void print(Schedule schedule, List<StepPrediction> predicted, byte[] output) {
    List<ScheduleStep> steps = schedule.roles().getFirst().steps();
    ByteBuffer profile =
        ByteBuffer.wrap(
                output, output.length - STEP_BYTES * steps.size(), STEP_BYTES * steps.size())
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN);
    System.out.println("| step | measured, cycles | predicted | error |");
    System.out.println("| --- | --- | --- | --- |");
    List<Double> errors = new ArrayList<>();
    long all = 0;
    double allPredicted = 0;
    for (int i = 0; i < steps.size(); i++) {
      long cycles = profile.getLong(STEP_BYTES * i);
      double expected = predicted.get(i).cycles();
      errors.add(Math.abs(expected / cycles - 1));
      all += cycles;
      allPredicted += expected;
      line(steps.get(i).node(), cycles, expected);
    }
    line("all", all, allPredicted);
    errors.sort(null);
    System.out.printf(
        Locale.ROOT,
        "%nThe median of the errors is %.1f %%.%n",
        100 * errors.get(errors.size() / 2));
  }

  private static void line(String what, long cycles, double predicted) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %,d | %,.0f | %+.0f %% |%n",
        what,
        cycles,
        predicted,
        100 * (predicted / cycles - 1));
  }
}
