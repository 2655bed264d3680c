package io.partita.tests.matrix;

import io.partita.backend.java.EmittedJava;
import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An engine that runs a program of several devices. */
public enum Engine {
  /** The reference semantics of programs. */
  EVALUATOR {
    @Override
    public Map<String, Tensor> run(Program program, Map<String, Tensor> inputs) {
      return new ProgramEvaluator(program, CAPACITY).run(inputs);
    }

    @Override
    List<Tensor> alone(Module module, Map<String, Tensor> inputs) {
      List<Tensor> ordered =
          module.graph().inputs().stream().map(input -> inputs.get(input.name())).toList();
      return Evaluator.run(module.graph(), ordered);
    }
  },
  /** Emitted Java, compiled; each device is a thread. */
  JAVA {
    @Override
    public Map<String, Tensor> run(Program program, Map<String, Tensor> inputs) {
      return run(JavaBackend.emit(program, OPTIONS), inputs);
    }

    @Override
    List<Tensor> alone(Module module, Map<String, Tensor> inputs) {
      Map<String, Tensor> outputs = run(JavaBackend.emit(module, OPTIONS), inputs);
      return module.graph().outputs().stream().map(output -> outputs.get(output.name())).toList();
    }

    private Map<String, Tensor> run(EmittedJava emitted, Map<String, Tensor> inputs) {
      try (ProgramCompiler compiler = new ProgramCompiler();
          ProgramRunner runner = ProgramRunner.load(compiler, emitted)) {
        List<Tensor> ordered = new ArrayList<>();
        runner.description().whole().inputs().forEach(port -> ordered.add(inputs.get(port.name())));
        List<Tensor> results = runner.run(ordered);
        Map<String, Tensor> outputs = new TreeMap<>();
        for (int i = 0; i < results.size(); i++) {
          outputs.put(runner.description().whole().outputs().get(i).name(), results.get(i));
        }
        return outputs;
      }
    }
  };

  private static final JavaOptions OPTIONS = new JavaOptions("", "Model");

  /** The number of messages that a channel between two devices holds. */
  static final int CAPACITY = 1;

  /** Returns the outputs by name, for whole inputs by name. */
  public abstract Map<String, Tensor> run(Program program, Map<String, Tensor> inputs);

  /** The outputs of one device, in order. */
  abstract List<Tensor> alone(Module module, Map<String, Tensor> inputs);
}
