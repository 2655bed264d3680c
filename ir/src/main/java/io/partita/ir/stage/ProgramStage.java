package io.partita.ir.stage;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Programs of devices. */
enum ProgramStage implements Stage<Program> {
  INSTANCE;

  /** The number of messages that a channel holds in evaluation; results don't depend on it. */
  private static final int CAPACITY = 1;

  @Override
  public String label() {
    return "program";
  }

  @Override
  public Class<Program> form() {
    return Program.class;
  }

  @Override
  public String print(Program model) {
    return PirPrinter.print(model);
  }

  @Override
  public void write(Program model, Path file) {
    PirFile.write(model, file);
  }

  @Override
  public List<Diagnostic> violations(Program model) {
    return model.devices().stream().flatMap(each -> Verifier.violations(each).stream()).toList();
  }

  @Override
  public SequencedMap<String, TensorType> inputs(Program model) {
    SequencedMap<String, TensorType> inputs = new LinkedHashMap<>();
    model.inputs().forEach((name, sharded) -> inputs.put(name, sharded.type()));
    return inputs;
  }

  @Override
  public List<String> states(Program model) {
    return model.devices().stream()
        .flatMap(device -> device.states().stream())
        .map(Module.State::input)
        .distinct()
        .toList();
  }

  @Override
  public Map<String, Tensor> evaluate(Program model, Map<String, Tensor> inputs) {
    return new ProgramEvaluator(model, CAPACITY).run(inputs);
  }
}
