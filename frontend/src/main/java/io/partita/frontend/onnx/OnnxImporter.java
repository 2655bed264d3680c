package io.partita.frontend.onnx;

import io.partita.frontend.onnx.operator.OperatorRegistry;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Imports ONNX models. */
public final class OnnxImporter {
  private final ImportOptions options;
  private final OperatorRegistry registry = OperatorRegistry.complete();

  public OnnxImporter(ImportOptions options) {
    this.options = options;
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with all errors of the model
   */
  public Module importModel(OnnxModel model) {
    return examine(model).orThrow();
  }

  /**
   * Imports as far as possible, and checks the nodes after an unsupported one.
   *
   * <p>If an input determines a shape and has a recorded value, the import restarts with the input
   * as a constant. If the graph requires equal extents that inputs declare differently, it restarts
   * with the solution. Each round binds one more input, eliminates one more symbol, or is the last.
   */
  public ImportResult examine(OnnxModel file) {
    OnnxModel model = file.standard(options.integerData());
    if (options.choice().isEmpty()) {
      return attempt(model, options).result();
    }
    NumberChoice.Attempts attempts = chosen -> attempt(model, chosen);
    return new NumberChoice(attempts, new SuggestedValues(model.inputTypes(), attempts))
        .run(options);
  }

  private NumberChoice.Attempt attempt(OnnxModel model, ImportOptions options) {
    Map<String, Tensor> values = new TreeMap<>(options.values());
    DimensionEquations equations = new DimensionEquations();
    SelectionCounts counts = new SelectionCounts();
    while (true) {
      counts.begin();
      ModelImport round = new ModelImport(model, registry, options, values, equations, counts);
      ImportResult result;
      try {
        result = round.run();
      } catch (ImportRestart known) {
        continue;
      }
      boolean bound = false;
      for (String input : round.shapeInputs()) {
        Optional<Tensor> recorded =
            values.containsKey(input) ? Optional.empty() : options.recorded().apply(input);
        if (recorded.isPresent()) {
          values.put(input, recorded.get());
          bound = true;
        }
      }
      if (!bound) {
        return new NumberChoice.Attempt(result, round.firstFailure(), round.shapeInputs());
      }
    }
  }
}
