package io.partita.ir.stage;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.propagate.MeshEvaluator;
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

/** Modules: on whole values, or on the devices of a mesh. */
enum ModuleStage implements Stage<Module> {
  INSTANCE;

  @Override
  public String label() {
    return "module";
  }

  @Override
  public Class<Module> form() {
    return Module.class;
  }

  @Override
  public String print(Module model) {
    return PirPrinter.print(model);
  }

  @Override
  public void write(Module model, Path file) {
    PirFile.write(model, file);
  }

  @Override
  public List<Diagnostic> violations(Module model) {
    return Verifier.violations(model);
  }

  @Override
  public SequencedMap<String, TensorType> inputs(Module model) {
    SequencedMap<String, TensorType> inputs = new LinkedHashMap<>();
    model.graph().inputs().forEach(input -> inputs.put(input.name(), input.type()));
    return inputs;
  }

  @Override
  public List<String> states(Module model) {
    return model.states().stream().map(Module.State::input).toList();
  }

  @Override
  public Map<String, Tensor> evaluate(Module model, Map<String, Tensor> inputs) {
    Graph graph = model.graph();
    List<Tensor> ordered = graph.inputs().stream().map(Value::name).map(inputs::get).toList();
    List<Tensor> results =
        model.placement().isPresent()
            ? MeshEvaluator.run(model, ordered)
            : Evaluator.run(graph, ordered);
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      outputs.put(graph.outputs().get(i).name(), results.get(i));
    }
    return outputs;
  }
}
