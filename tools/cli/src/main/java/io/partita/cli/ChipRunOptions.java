package io.partita.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.siracusa.ModelDescription;
import io.partita.backend.siracusa.run.BatchProgram;
import io.partita.backend.siracusa.run.Build;
import io.partita.backend.siracusa.run.Port;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Where a program in C runs. */
final class ChipRunOptions {
  @Mixin ChipPortOptions ports = new ChipPortOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "End a program in C that runs for longer; by default ${DEFAULT-VALUE}.")
  int timeout = 600;

  @Option(
      names = "--json",
      description = "Print outputs, cycles and bytes moved of a program in C as JSON.")
  boolean json;

  /** None of the options means something for a program in Java. */
  void requireNone(CommandSpec spec) {
    if (ports.areGiven() || json) {
      throw new ParameterException(
          spec.commandLine(),
          "--on, --gvsoc and --json are for programs in C: 'partita compile --target siracusa'");
    }
  }

  /** Builds and runs the program in a folder. */
  int run(Path folder, Path inputs, Path outputs, CommandSpec spec) {
    Port port = ports.port(spec);
    ModelDescription description = ModelDescription.read(folder);
    List<Tensor> arguments = ChipInputs.read(inputs, description);
    BatchProgram.Result result;
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "building")) {
      Build.run(folder, port, List.of());
      progress.step("running");
      result =
          new BatchProgram(folder, port, Duration.ofSeconds(timeout))
              .run(List.of(arguments), ports.options());
    }
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (ModelDescription.WholePort output : description.outputs()) {
      named.put(output.name(), result.outputs().getFirst().get(named.size()));
    }
    OutputFile.write(outputs, out -> Npz.write(named, out));
    print(named, result.reports(), spec);
    return ExitCode.DONE;
  }

  private void print(Map<String, Tensor> outputs, List<String> reports, CommandSpec spec) {
    if (!json) {
      outputs.forEach(
          (name, value) -> spec.commandLine().getOut().println(name + ": " + value.type()));
      return;
    }
    Map<String, Object> types = new LinkedHashMap<>();
    outputs.forEach((name, value) -> types.put(name, value.type().toString()));
    List<Object> measured = new ArrayList<>();
    for (String report : reports) {
      try {
        measured.add(JSON.std.anyFrom(report));
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("outputs", types);
    all.put("reports", measured);
    spec.commandLine().getOut().println(Json.text(all));
  }
}
