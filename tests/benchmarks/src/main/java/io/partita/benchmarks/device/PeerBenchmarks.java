package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.StepFigures;
import io.partita.benchmarks.paper.PeerRun;
import io.partita.driver.Distribution;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Networks of Deeploy's test suite on one chip, beside what Deeploy's code takes there. */
final class PeerBenchmarks {
  /** The kernels of a network that are listed. */
  private static final int LISTED = 8;

  /**
   * A network of the suite.
   *
   * @param isInteger whether it computes with integers
   * @param isKernel whether it is one kernel, whose first run counts
   * @param deeploy the cycles of Deeploy's code on GVSoC at the same clocks, compiled by the same
   *     compiler
   */
  private record Peer(String path, boolean isInteger, boolean isKernel, long deeploy) {}

  /** Deeploy's own figures, with the NPU and its neural memory. */
  private static final long WITH_NPU_64 = 780_000;

  private static final long WITH_NPU_PARALLEL = 28_300_000;

  /** A product of two inputs, which is built here. */
  private static final String MATMUL = "Kernels/FP32/MatMul";

  private static final List<Peer> PEERS =
      List.of(
          new Peer("Kernels/Integer/Attention", true, false, 294_584),
          new Peer("Models/microLlama/INT8/microLlama1", true, false, 524_020),
          new Peer("Models/microLlama/INT8/microLlama8_parallel", true, false, 2_802_006),
          new Peer("Models/microLlama/INT8/microLlama64", true, false, WITH_NPU_64),
          new Peer("Models/microLlama/INT8/microLlama64_parallel", true, false, WITH_NPU_PARALLEL),
          new Peer("Models/CCT/FP32/CCT_1_16_16_8", false, false, 492_311),
          new Peer("Models/TinyViT/Demo", false, false, 765_601),
          new Peer(MATMUL, false, true, 7_716),
          new Peer("Kernels/FP32/GEMM/NoBias", false, true, 22_396));

  private final Simulation simulation;

  PeerBenchmarks(Simulation simulation) {
    this.simulation = simulation;
  }

  /** The cycles of a network. */
  private record Network(Peer peer, long cycles) {}

  /** The cycles of a network's steps, and those of the loops that begin with the same kernel. */
  private record Profiled(Peer peer, long cycles, Map<String, Loops> loops) {}

  /** Runs a network and returns its outputs. */
  private interface Runner {
    List<Tensor> run(Peer peer, Schedule schedule, List<Tensor> inputs) throws IOException;
  }

  private record Loops(int count, long cycles, long computing) {
    Loops plus(StepFigures step) {
      return new Loops(count + 1, cycles + step.cycles(), computing + step.computeCycles());
    }
  }

  /** Runs the networks and prints two tables. */
  void run(Path suite, PrintStream out) {
    printCycles(networks(suite), out);
    out.println();
    printLoops(profiled(suite), out);
  }

  /** Runs the networks that are there; the others have no cycles. */
  List<PeerRun> measured(Path suite) {
    Map<Peer, Long> cycles = new HashMap<>();
    networks(suite).forEach(network -> cycles.put(network.peer, network.cycles));
    return PEERS.stream()
        .map(
            peer ->
                new PeerRun(
                    peer.path,
                    peer.isInteger,
                    peer.isKernel,
                    peer.deeploy,
                    cycles.getOrDefault(peer, 0L)))
        .toList();
  }

  private List<Network> networks(Path suite) {
    List<Network> networks = new ArrayList<>();
    run(
        suite,
        (peer, schedule, inputs) -> {
          String name = "peers/" + peer.path;
          Simulation.MeasuredRuns measured =
              peer.isKernel
                  ? simulation.runCold(name, schedule, inputs)
                  : simulation.run(name, schedule, inputs);
          networks.add(new Network(peer, measured.cycles()));
          return measured.outputs();
        });
    return networks;
  }

  private List<Profiled> profiled(Path suite) {
    List<Profiled> networks = new ArrayList<>();
    run(
        suite,
        (peer, schedule, inputs) -> {
          String name = "peers-steps/" + peer.path;
          Simulation.MeasuredSteps measured =
              peer.isKernel
                  ? simulation.stepsCold(name, schedule, inputs)
                  : simulation.steps(name, schedule, inputs);
          ChipSchedule role = schedule.roles().getFirst();
          List<StepFigures> steps = measured.chips().getFirst();
          Map<String, Loops> loops = new TreeMap<>();
          for (int i = 0; i < steps.size(); i++) {
            String kernels = kernels(role, role.steps().get(i));
            Loops before = loops.getOrDefault(kernels, new Loops(0, 0, 0));
            loops.put(kernels, before.plus(steps.get(i)));
          }
          networks.add(new Profiled(peer, measured.cycles(), loops));
          return measured.outputs();
        });
    return networks;
  }

  /** Runs the networks, whose outputs must be the recorded ones. */
  private static void run(Path suite, Runner runner) {
    for (Peer peer : PEERS) {
      if (peer.path.equals(MATMUL)) {
        product(peer, runner);
        continue;
      }
      if (!Files.exists(suite.resolve(peer.path))) {
        System.err.println("LEFT OUT: " + suite.resolve(peer.path) + " isn't there");
        continue;
      }
      TestCase test = TestCase.find(suite.resolve(peer.path)).getFirst();
      ModuleRunner scheduled = module -> inputs -> outputs(peer, module, inputs, runner);
      CaseResult result =
          new CaseRunner(scheduled, StandardPasses.forChecking(Target.SIRACUSA), Tolerance.DEFAULT)
              .run(test);
      if (result.status() != CaseResult.Status.PASS) {
        System.err.println(result.line());
      }
    }
  }

  /** Two batches of [16, 32] by [32, 8]; the result must be that of Java, but for rounding. */
  private static void product(Peer peer, Runner runner) {
    GraphBuilder graph = new GraphBuilder("matmul");
    Value a = graph.input("input_A", TensorType.of(ElementType.F32, 1, 2, 16, 32));
    Value b = graph.input("input_B", TensorType.of(ElementType.F32, 1, 2, 32, 8));
    graph.output("output", graph.add(new Contraction.MatMul(ElementType.F32), a, b));
    Graph product = graph.finish();
    Samples samples = new Samples();
    List<Tensor> inputs = List.of(samples.floats(1, 2, 16, 32), samples.floats(1, 2, 32, 8));
    Tensor found = outputs(peer, new Module(product), inputs, runner).getFirst();
    Tensor expected = Evaluator.run(product, inputs).getFirst();
    Comparison comparison = Comparison.of("output", expected, found, Tolerance.DEFAULT);
    if (!comparison.passes()) {
      System.err.println(comparison.message());
    }
  }

  private static List<Tensor> outputs(
      Peer peer, Module module, List<Tensor> inputs, Runner runner) {
    try {
      Schedule schedule =
          Scheduler.schedule(
              Distribution.program(module),
              TargetLibrary.find("siracusa:chips=1"),
              SchedulerOptions.STANDARD);
      return new ArrayList<>(runner.run(peer, schedule, inputs));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The kernels of a loop. */
  static String kernels(ChipSchedule role, ScheduleStep step) {
    return step instanceof ScheduleStep.RunTiles loop
        ? role.kernels().get(loop.kernel()).calls().stream()
            .map(KernelCall::kernel)
            .map(Object::toString)
            .collect(Collectors.joining(", "))
        : "transfers";
  }

  private static void printCycles(List<Network> networks, PrintStream out) {
    out.println("| network | Deeploy, cycles | Partita, cycles | of Deeploy's |");
    out.println("| --- | ---: | ---: | ---: |");
    for (Network network : networks) {
      out.printf(
          Locale.ROOT,
          "| %s | %,d | %,d | %.2f |%n",
          network.peer.path,
          network.peer.deeploy,
          network.cycles,
          (double) network.cycles / network.peer.deeploy);
    }
  }

  private static void printLoops(List<Profiled> networks, PrintStream out) {
    out.println("| network | kernels of loops | loops | cycles | computing | share |");
    out.println("| --- | --- | ---: | ---: | ---: | ---: |");
    for (Profiled network : networks) {
      network.loops.entrySet().stream()
          .sorted((one, other) -> Long.compare(other.getValue().cycles, one.getValue().cycles))
          .limit(LISTED)
          .forEach(
              each ->
                  out.printf(
                      Locale.ROOT,
                      "| %s | %s | %d | %,d | %,d | %.0f %% |%n",
                      network.peer.path,
                      each.getKey(),
                      each.getValue().count,
                      each.getValue().cycles,
                      each.getValue().computing,
                      100.0 * each.getValue().cycles / network.cycles));
    }
  }
}
