package io.partita.tests.recorded;

import io.partita.driver.Distribution;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Runs many recorded cases as one C program on this host, since separate builds would take most of
 * the time. Each case is first scheduled alone, to find those that can be; the graphs of these are
 * then combined into one.
 */
final class CasesInC {
  /** With room for all cases at once. */
  private final ChipTarget target =
      ChipTarget.of("siracusa:chips=1", Map.of("l2", new Quantity(64, Unit.MIB)));

  private final int atOnce;
  private final Map<String, List<String>> unsupported = new TreeMap<>();
  private final List<CaseResult> wrong = new ArrayList<>();
  private int passed;

  /**
   * @param atOnce the number of cases in one program
   */
  CasesInC(int atOnce) {
    this.atOnce = atOnce;
  }

  /** The names of refused cases by the diagnostic and, if any, the operation. */
  Map<String, List<String>> unsupported() {
    return unsupported;
  }

  List<CaseResult> wrong() {
    return wrong;
  }

  int passed() {
    return passed;
  }

  /** Runs cases and adds the results. */
  void run(List<TestCase> cases) {
    for (int from = 0; from < cases.size(); from += atOnce) {
      runTogether(cases.subList(from, Math.min(cases.size(), from + atOnce)));
    }
  }

  /** Runs cases in one program. */
  private void runTogether(List<TestCase> cases) {
    Collector collector = new Collector();
    List<TestCase> supported = new ArrayList<>();
    for (TestCase test : cases) {
      int before = collector.modules.size();
      collector.obstacles.clear();
      CaseResult result = runner(collector).run(test);
      if (result.status() == CaseResult.Status.PASS) {
        supported.add(test);
        continue;
      }
      collector.modules.subList(before, collector.modules.size()).clear();
      collector.inputs.subList(before, collector.inputs.size()).clear();
      if (result.status() == CaseResult.Status.FAIL) {
        wrong.add(result);
      } else {
        List<String> reasons =
            collector.obstacles.isEmpty() ? List.of(result.line()) : collector.obstacles;
        for (String reason : reasons.stream().distinct().toList()) {
          unsupported.computeIfAbsent(reason, key -> new ArrayList<>()).add(name(test));
        }
      }
    }
    if (supported.isEmpty()) {
      return;
    }
    CaseRunner runner = runner(new Computed(outputs(collector)));
    for (TestCase test : supported) {
      CaseResult result = runner.run(test);
      if (result.status() == CaseResult.Status.PASS) {
        passed++;
      } else {
        wrong.add(result);
      }
    }
  }

  private static String name(TestCase test) {
    return test.model().getParent().getFileName().toString();
  }

  private static CaseRunner runner(ModuleRunner modules) {
    return new CaseRunner(modules, StandardPasses.forChecking(Target.SIRACUSA), Tolerance.DEFAULT);
  }

  /** The outputs of C for each module. */
  private Deque<List<Tensor>> outputs(Collector collector) {
    GraphBuilder all = new GraphBuilder("cases");
    for (int i = 0; i < collector.modules.size(); i++) {
      add("case_" + i + "_", collector.modules.get(i).graph(), all);
    }
    List<Tensor> inputs = collector.inputs.stream().flatMap(List::stream).toList();
    Deque<List<Tensor>> outputs = new ArrayDeque<>();
    ChipRunner chips = EmittedC.unoptimised(target, Optional.empty());
    try (ModuleRunner.Prepared program = chips.prepare(new Module(all.finish()))) {
      List<Tensor> results = program.run(inputs);
      int next = 0;
      for (Module module : collector.modules) {
        int count = module.graph().outputs().size();
        outputs.add(results.subList(next, next + count));
        next += count;
      }
    }
    return outputs;
  }

  private static void add(String prefix, Graph graph, GraphBuilder all) {
    Map<Value, Value> same = new IdentityHashMap<>();
    for (Value input : graph.inputs()) {
      same.put(input, all.input(prefix + input.name(), input.type()));
    }
    for (Node node : graph.nodes()) {
      List<Value> operands = node.operands().stream().map(same::get).toList();
      Node copy = all.at(prefix + node.name()).addNode(node.op(), operands);
      for (int i = 0; i < node.results().size(); i++) {
        same.put(node.results().get(i), copy.results().get(i));
      }
    }
    for (Graph.Output output : graph.outputs()) {
      all.output(prefix + output.name(), same.get(output.value()));
    }
  }

  /** Schedules each module alone; runs use the evaluator and record its inputs. */
  private final class Collector implements ModuleRunner {
    private final List<Module> modules = new ArrayList<>();
    private final List<List<Tensor>> inputs = new ArrayList<>();
    private final List<String> obstacles = new ArrayList<>();

    @Override
    public Prepared prepare(Module module) {
      try {
        target.backend().emit(Distribution.program(module));
      } catch (PartitaException e) {
        e.diagnostics().stream().map(CasesInC::reason).forEach(obstacles::add);
        throw e;
      }
      return given -> {
        modules.add(module);
        inputs.add(given);
        return Evaluator.run(module.graph(), given);
      };
    }
  }

  private static String reason(Diagnostic diagnostic) {
    return diagnostic.code().id() + " " + diagnostic.found().split(" ")[0];
  }

  /** Returns the computed outputs, in order. */
  private record Computed(Deque<List<Tensor>> outputs) implements ModuleRunner {
    @Override
    public Prepared prepare(Module module) {
      return given -> outputs.remove();
    }
  }
}
