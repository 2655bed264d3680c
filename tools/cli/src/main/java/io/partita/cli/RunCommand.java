package io.partita.cli;

import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.driver.OutputFile;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a compiled program once. */
@Command(
    name = "run",
    description = "Run a compiled program on inputs from a NumPy archive, and write its outputs.")
final class RunCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "A folder that 'partita compile' wrote.")
  Path folder;

  @Option(
      names = "--inputs",
      required = true,
      paramLabel = "FILE",
      description = "The inputs (.npz), by name or in the program's order.")
  Path inputs;

  @Option(
      names = "--outputs",
      required = true,
      paramLabel = "FILE",
      description = "The outputs' file (.npz), written whole or not at all.")
  Path outputs;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    Map<String, Tensor> results = new LinkedHashMap<>();
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "loading the program");
        ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner program = ProgramRunner.open(compiler, folder)) {
      progress.step("running");
      List<Tensor> arguments =
          NamedArrays.read(inputs)
              .fit(
                  program.description().inputs().stream()
                      .map(port -> new NamedArrays.Wanted(port.name(), port.type()))
                      .toList());
      List<Tensor> values = program.run(arguments);
      for (int i = 0; i < values.size(); i++) {
        results.put(program.description().outputs().get(i).name(), values.get(i));
      }
    }
    OutputFile.write(outputs, out -> Npz.write(results, out));
    results.forEach(
        (name, value) -> spec.commandLine().getOut().println(name + ": " + value.type()));
    return ExitCode.DONE;
  }
}
