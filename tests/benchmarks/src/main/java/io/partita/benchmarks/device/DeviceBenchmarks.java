package io.partita.benchmarks.device;

import io.partita.backend.emitted.run.Build;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures emitted C on GVSoC and compares it with predictions: {@code DeviceBenchmarks FOLDER WHAT
 * GVSOC [SHARED]}, from the repository's root. Prints tables for docs/measurements.md, or figures
 * for targets/siracusa.target.
 */
final class DeviceBenchmarks {
  private static final List<String> WHAT =
      List.of("all", "kernels", "networks", "peers", "paper", "syncs", "speculation", "figures");

  private DeviceBenchmarks() {}

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]).toAbsolutePath();
    String what = arguments[1];
    Path gvsoc = Path.of(arguments[2]).toAbsolutePath();
    Path shared = Path.of(arguments.length > 3 ? arguments[3] : "../shared");
    require(what, gvsoc);
    Simulation simulation = new Simulation(gvsoc, folder);
    TargetDescription target = TargetLibrary.find("siracusa:chips=1");
    if (what.equals("peers")) {
      new PeerBenchmarks(simulation).run(shared.resolve("peer-suite"), System.out);
      return;
    }
    if (what.equals("paper")) {
      new PaperBenchmarks(simulation).run(shared.resolve("peer-suite"), Path.of("docs"));
      return;
    }
    if (what.equals("syncs")) {
      Path tiny = Path.of("tests/models/tiny-shakespeare");
      new SyncBenchmarks(simulation, tiny, folder.resolve("calibrations")).run(System.out);
      return;
    }
    if (what.equals("speculation")) {
      Path tiny = Path.of("tests/models/tiny-shakespeare");
      SpeculationBenchmarks speculation = new SpeculationBenchmarks(simulation, tiny);
      speculation.run(System.out);
      System.out.println();
      speculation.runSent(System.out);
      return;
    }
    if (!what.equals("networks")) {
      boolean isFit = what.equals("figures");
      KernelBenchmarks kernels = KernelBenchmarks.run(simulation, target, isFit);
      if (isFit) {
        printFigures(target.devices().getFirst(), kernels);
      } else {
        print(kernels);
      }
    }
    if (what.equals("networks") || what.equals("all")) {
      printNetworks(new NetworkBenchmarks(simulation), shared);
    }
  }

  private static void require(String what, Path gvsoc) {
    List<String> missing = new ArrayList<>();
    if (!WHAT.contains(what)) {
      missing.add("one of " + String.join(", ", WHAT) + ", not " + what);
    }
    if (!Files.isExecutable(gvsoc.resolve("bin/gvsoc"))) {
      missing.add(gvsoc + "/bin/gvsoc: build GVSoC as targets/gvsoc/README.md says");
    }
    for (String program : List.of("make", "riscv64-unknown-elf-gcc", "g++", "python3")) {
      if (Build.find(program).isEmpty()) {
        missing.add(program + " on the path");
      }
    }
    if (!missing.isEmpty()) {
      System.err.println("Needed: " + String.join("; ", missing));
      System.exit(2);
    }
  }

  private static void print(KernelBenchmarks kernels) {
    ErrorTable all = new ErrorTable("step");
    ErrorTable heldOut = new ErrorTable("step");
    double others = 0;
    double sum = 0;
    for (MeasuredStep step : kernels.usual()) {
      sum += step.measured().cycles();
      if (step.loop().isEmpty()) {
        others += step.measured().cycles();
        continue;
      }
      double measured = step.measured().cycles();
      double predicted = step.predicted().cycles();
      boolean isHeldOut = kernels.isHeldOut(step);
      all.add(step.name() + (isHeldOut ? " *" : ""), measured, predicted);
      if (isHeldOut) {
        heldOut.add(step.name(), measured, predicted);
      }
    }
    all.print(System.out);
    System.out.println();
    printMedian("steps", all);
    printMedian("steps that are held out", heldOut);
    System.out.printf(
        Locale.ROOT,
        "%d other steps, which start or await copies: %.1f %% of all cycles.%n",
        kernels.usual().size() - all.size(),
        100 * others / sum);
    System.out.println();
  }

  private static void printFigures(ChipKind chip, KernelBenchmarks kernels) {
    LoopCalibration.lines(chip, kernels.fitted()).forEach(System.out::println);
    new Calibration(chip, kernels.fitted()).lines().forEach(System.out::println);
  }

  private static void printNetworks(NetworkBenchmarks networks, Path shared) throws IOException {
    Path tiny = Path.of("tests/models/tiny-shakespeare");
    networks.runDecoder(
        "tiny-shakespeare, decode", tiny.resolve("decode/network.onnx"), 256, 1, 2, 8);
    networks.runModel(
        "tiny-shakespeare, prompt of 32",
        tiny.resolve("prefill/network.onnx"),
        Map.of("seq", 32L),
        1,
        2,
        8);
    networks.runZoo(1, 128, 8);
    networks.runQuantizedBlock("tinyllama-42m-block", 128, 1, 8);
    Path llama = shared.resolve("models/shakespeare-llama/decode/network.onnx");
    if (isThere(llama)) {
      networks.runDecoder("shakespeare-llama, decode", llama, 256, 1, 8);
    }
    Path vision = shared.resolve("models/mnist-vit/network.onnx");
    if (isThere(vision)) {
      networks.runModel("mnist-vit, one image", vision, Map.of("batch", 1L), 1);
    }
    Path suite = shared.resolve("peer-suite/Models");
    if (isThere(suite)) {
      networks.runCases(suite);
    }
    networks.models().print(System.out);
    System.out.println();
    printMedian("networks", networks.models());
    System.out.println();
    networks.peers().print(System.out);
    System.out.println();
    printMedian("networks of the peer suite", networks.peers());
  }

  private static boolean isThere(Path path) {
    boolean isThere = Files.exists(path);
    if (!isThere) {
      System.err.println("LEFT OUT: " + path + " isn't there");
    }
    return isThere;
  }

  private static void printMedian(String what, ErrorTable table) {
    System.out.printf(
        Locale.ROOT,
        "%d %s: the median of the errors is %.1f %%.%n",
        table.size(),
        what,
        100 * table.median());
  }
}
