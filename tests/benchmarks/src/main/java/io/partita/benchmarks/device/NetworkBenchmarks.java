package io.partita.benchmarks.device;

import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.state.KvStatePass;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Whole networks on one and several chips. */
final class NetworkBenchmarks {
  private static final String ZOO = "tinyllama-42m";

  private final Simulation simulation;
  private final ErrorTable peers = new ErrorTable("network");
  private final ErrorTable models = new ErrorTable("network, chips");

  NetworkBenchmarks(Simulation simulation) {
    this.simulation = simulation;
  }

  ErrorTable peers() {
    return peers;
  }

  ErrorTable models() {
    return models;
  }

  /** Runs all cases in a folder on one chip, and checks their recorded outputs. */
  void runCases(Path suite) {
    for (TestCase test : TestCase.find(suite)) {
      String name = suite.relativize(Path.of(test.name())).toString();
      ModuleRunner runner = module -> prepared(name, "suite/" + name, module, peers);
      CaseResult result =
          new CaseRunner(runner, StandardPasses.forChecking(Target.SIRACUSA), Tolerance.DEFAULT)
              .run(test);
      if (result.status() != CaseResult.Status.PASS) {
        System.err.println(result.line());
      }
    }
  }

  private ModuleRunner.Prepared prepared(
      String label, String name, Module module, ErrorTable table) {
    return inputs -> {
      try {
        return run(label, name, module, 1, inputs, table);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  /**
   * Runs one token of a decoder with a full cache.
   *
   * @param capacity the capacity of the cache, in tokens
   */
  void runDecoder(String label, Path onnx, long capacity, int... chips) throws IOException {
    runModule(label, decoder(onnx, capacity), capacity - 1, chips);
  }

  /**
   * Runs a model without states.
   *
   * @param dimensions the extents of its symbols
   */
  void runModel(String label, Path onnx, Map<String, Long> dimensions, int... chips)
      throws IOException {
    ImportOptions options = ImportOptions.NONE;
    for (Map.Entry<String, Long> dimension : dimensions.entrySet()) {
      options = options.withDim(dimension.getKey(), dimension.getValue());
    }
    runModule(label, imported(onnx, options), 0, chips);
  }

  /** Reads a decoder whose cache has a capacity in tokens. */
  static Module decoder(Path onnx, long capacity) {
    return new KvStatePass(capacity, note -> {}).run(imported(onnx, ImportOptions.NONE));
  }

  static Module imported(Path onnx, ImportOptions options) {
    Module module = new OnnxImporter(options).examine(OnnxModel.read(onnx)).orThrow();
    return StandardPasses.usual().run(module, (pass, before, after) -> {});
  }

  /** Runs blocks of a model of the zoo whose weights don't fit L2. */
  void runZoo(int layers, long capacity, int chips) throws IOException {
    Path onnx = Files.createTempFile("partita-", ".onnx");
    try {
      ZooOptions options = ZooOptions.defaults().withMode(Mode.DECODE).withDynamic(true);
      Zoo.write(ZOO, options.withLayers(layers), onnx);
      runDecoder(ZOO + ", " + layers + " blocks, decode", onnx, capacity, chips);
    } finally {
      Files.delete(onnx);
    }
  }

  /**
   * Runs a block of the zoo in 8 bits.
   *
   * @param tokens the capacity of the cache
   */
  void runQuantizedBlock(String name, int tokens, int... chips) throws IOException {
    Module block = QuantizedZoo.block(name, Mode.DECODE, tokens);
    String label = name + " in int8, decode, " + tokens + " tokens in the cache";
    runModule(label, block, tokens - 1, chips);
  }

  private void runModule(String label, Module module, long position, int... chips)
      throws IOException {
    List<Tensor> inputs = inputs(module, position);
    for (int count : chips) {
      Module distributed = distributed(module, count, "tensor");
      String name = label.replaceAll("[^a-z0-9]+", "-") + "-" + count;
      run(label + ", " + count, "models/" + name, distributed, count, inputs, models);
    }
  }

  /** Returns a module that is split over chips, with algorithms for its syncs. */
  static Module distributed(Module module, int chips, String strategy) {
    return Distribution.strategy(chips, strategy)
        .map(chosen -> new ShardPass(chosen).run(module))
        .map(split -> target(chips).withSyncs(split))
        .orElse(module);
  }

  /** Returns the programs of chips as they are emitted. */
  static Program program(Module distributed, int chips) {
    return target(chips).programs(new Entries(distributed), false).step();
  }

  private static ChipTarget target(int chips) {
    return ChipTarget.of("siracusa:chips=" + chips, Map.of());
  }

  /** Returns the inputs that aren't states. */
  static List<Tensor> inputs(Module module, long position) {
    List<String> states = module.states().stream().map(Module.State::input).toList();
    return module.graph().inputs().stream()
        .filter(input -> !states.contains(input.name()))
        .map(input -> value(input.type(), position))
        .toList();
  }

  /** Integer vectors of one element are positions, other integers tokens. */
  private static Tensor value(TensorType type, long position) {
    if (type.element().isFloat()) {
      return new Samples().floats(extents(type));
    }
    return type.element() == ElementType.I64 && type.rank() == 1
        ? Tensor.filled(type, position)
        : Tensor.filled(type, 1);
  }

  private static long[] extents(TensorType type) {
    return IntStream.range(0, type.rank()).mapToLong(i -> type.dim(i).value()).toArray();
  }

  private List<Tensor> run(
      String label, String name, Module module, int chips, List<Tensor> inputs, ErrorTable table)
      throws IOException {
    TargetDescription target = TargetLibrary.find("siracusa:chips=" + chips);
    Program program = program(module, chips);
    Schedule schedule = Scheduler.schedule(program, target, SchedulerOptions.STANDARD);
    Simulation.MeasuredRuns measured = simulation.run(name, schedule, inputs);
    double predicted =
        SchedulePrediction.of(schedule, target).devices().stream()
            .mapToDouble(DevicePrediction::cycles)
            .max()
            .orElse(0);
    double planned =
        Plans.report(program, target, PlanOptions.DEFAULT).seconds()
            * target.chips().getFirst().hertz();
    System.err.printf(
        Locale.ROOT,
        "  %d cycles, predicted %.0f, planned %.0f%n",
        measured.cycles(),
        predicted,
        planned);
    if (measured.cycles() > 0) {
      table.add(label, measured.cycles(), predicted, planned);
    }
    return new ArrayList<>(measured.outputs());
  }
}
