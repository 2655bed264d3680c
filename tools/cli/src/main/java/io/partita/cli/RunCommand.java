package io.partita.cli;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.DeviceHosting;
import io.partita.backend.java.JavaDescription;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.MetaliumDescription;
import io.partita.driver.OutputFile;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.npz.Npz;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.tensor.Tensor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a compiled program once. */
@Command(
    name = "run",
    description = {
      "Run a compiled program once on inputs from a NumPy archive, and write its outputs.",
      "With --device I other than 0, run one device of a program for several, until device 0 ends."
    })
final class RunCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "A folder that 'partita compile' wrote.")
  Path folder;

  @Option(
      names = "--inputs",
      paramLabel = "FILE",
      description = "The inputs (.npz), by name or in the program's order.")
  Path inputs;

  @Option(
      names = {"-o", "--outputs"},
      paramLabel = "FILE",
      description = "The file of outputs (.npz), written atomically.")
  Path outputs;

  @Mixin ChipRunOptions chips = new ChipRunOptions();

  @Mixin HostingOptions options = new HostingOptions();

  @Mixin FolderOptions opening = new FolderOptions();

  @Option(
      names = "--device",
      paramLabel = "I",
      description =
          "The device that this computer runs, with --peers; by default 0, which has the inputs.")
  int device;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    opening.verify(folder, spec);
    if (ChipDescription.isIn(folder)) {
      requireFiles();
      return chips.run(folder, inputs, outputs, opening.allowChanges, spec);
    }
    if (MetaliumDescription.isIn(folder)) {
      KernelProgram.Place place = chips.kernelPlace(folder, spec);
      requireFiles();
      return run(place);
    }
    // What is no program at all is reported first.
    JavaDescription.read(folder);
    chips.requireNone(spec);
    return device == 0 ? run() : serve();
  }

  private void requireFiles() {
    if (inputs == null || outputs == null) {
      throw new ParameterException(
          spec.commandLine(),
          "missing: --inputs FILE and --outputs FILE, the arrays to run on and the"
              + " file to write");
    }
    OutputFile.verify(outputs);
  }

  private int run() {
    requireFiles();
    DeviceHosting hosting = options.hosting(folder, spec);
    NamedArrays arrays = NamedArrays.read(inputs);
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "loading the program");
        ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner program = ProgramRunner.open(compiler, folder, hosting)) {
      return run(arrays, program.description().whole(), program::run, progress);
    }
  }

  /** Runs kernels for Tenstorrent chips. */
  private int run(KernelProgram.Place place) {
    ProgramInterface whole = MetaliumDescription.read(folder).whole();
    NamedArrays arrays = NamedArrays.read(inputs);
    Duration limit = Duration.ofSeconds(chips.timeout);
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "building the program")) {
      KernelProgram program = place.open(folder, whole);
      return run(arrays, whole, given -> program.run(given, limit), progress);
    }
  }

  private int run(
      NamedArrays arrays,
      ProgramInterface whole,
      Function<List<Tensor>, List<Tensor>> program,
      Progress progress) {
    List<NamedArrays.Wanted> wanted =
        whole.inputs().stream()
            .map(port -> new NamedArrays.Wanted(port.name(), port.type()))
            .toList();
    arrays.verifyNoState(whole.states().stream().map(ProgramInterface.StatePort::input).toList());
    List<Tensor> arguments = arrays.fit(wanted);
    arrays.noteUnused(wanted).ifPresent(spec.commandLine().getErr()::println);
    progress.step("running");
    List<Tensor> values = program.apply(arguments);
    Map<String, Tensor> results = new LinkedHashMap<>();
    for (int i = 0; i < values.size(); i++) {
      results.put(whole.outputs().get(i).name(), values.get(i));
    }
    OutputFile.write(outputs, out -> Npz.write(results, out));
    PrintWriter said =
        OutputTarget.isStandardOutput(outputs)
            ? spec.commandLine().getErr()
            : spec.commandLine().getOut();
    if (chips.json) {
      said.println(Json.text(Map.of("outputs", ChipRunOptions.types(results))));
    } else {
      results.forEach((name, value) -> said.println(name + ": " + value.type()));
    }
    return ExitCode.DONE;
  }

  private int serve() {
    if (options.peers == null) {
      throw new ParameterException(
          spec.commandLine(),
          "--device " + device + " needs --peers HOST:PORT,..., the addresses of all devices");
    }
    options.hosting(folder, spec);
    int devices = JavaDescription.read(folder).group().orElseThrow().parts().size();
    if (device < 0 || device >= devices) {
      throw new ParameterException(
          spec.commandLine(),
          "--device " + device + ": the program's devices are 0 to " + (devices - 1));
    }
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      spec.commandLine()
          .getErr()
          .println("device " + device + " of " + devices + "; Ctrl-C ends it");
      ProgramRunner.serve(compiler, folder, device, options.peers, options.key);
    }
    return ExitCode.DONE;
  }
}
