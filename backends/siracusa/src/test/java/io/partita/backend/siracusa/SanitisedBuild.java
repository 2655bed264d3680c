package io.partita.backend.siracusa;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.backend.emitted.run.Port;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds and runs a schedule on this host with sanitizers for addresses and undefined behaviour.
 */
public final class SanitisedBuild {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** The options don't optimise, because compilation would take longer than the runs. */
  private static final String FLAGS =
      "FLAGS=-fsanitize=address,undefined -fno-sanitize-recover=all -g1 -O0 -Wno-frame-larger-than";

  /** Kernels are compiled once for all tests of a process. */
  private static final Path KERNELS = scratch();

  private SanitisedBuild() {}

  private static Path scratch() {
    try {
      return new ScratchFolder().path();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A program that waits for inputs. */
  static InteractiveProgram start(Schedule schedule, Path folder, String transfers)
      throws IOException {
    OutputFolder.write(ProgramPrinter.emit(schedule, 8).files(), folder, path -> false);
    Build.run(folder, Port.HOST, List.of(FLAGS, "HOST_KERNELS=" + KERNELS));
    return InteractiveProgram.start(folder, Port.HOST, List.of("--transfers", transfers), LIMIT);
  }

  /**
   * @param inputs the inputs by name
   * @param transfers when transfers copy: early or late
   * @return the outputs by name
   */
  public static Map<String, Tensor> run(
      Schedule schedule, Map<String, Tensor> inputs, Path folder, String transfers)
      throws IOException {
    return run(schedule, inputs, folder, transfers, 1).getFirst();
  }

  /**
   * Runs a program several times with the same inputs.
   *
   * @return the outputs of each run by name
   */
  public static List<Map<String, Tensor>> run(
      Schedule schedule, Map<String, Tensor> inputs, Path folder, String transfers, int runs)
      throws IOException {
    try (InteractiveProgram program = start(schedule, folder, transfers)) {
      ProgramInterface description = program.description().whole();
      List<Map<String, Tensor>> all = new ArrayList<>();
      while (all.size() < runs) {
        List<Tensor> outputs =
            program.run(
                description.inputs().stream().map(port -> inputs.get(port.name())).toList());
        Map<String, Tensor> named = new LinkedHashMap<>();
        for (int i = 0; i < outputs.size(); i++) {
          named.put(description.outputs().get(i).name(), outputs.get(i));
        }
        all.add(named);
      }
      return all;
    }
  }
}
