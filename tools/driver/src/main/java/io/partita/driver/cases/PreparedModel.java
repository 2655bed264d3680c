package io.partita.driver.cases;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A prepared model, which takes inputs by name. */
public final class PreparedModel implements AutoCloseable {
  private final Graph graph;
  private final ModuleRunner.Prepared program;
  private final Optional<RewrittenModel> rewritten;

  /**
   * @param rewritten what the program computes, where that isn't the graph
   */
  PreparedModel(Graph graph, ModuleRunner.Prepared program, Optional<RewrittenModel> rewritten) {
    this.graph = graph;
    this.program = program;
    this.rewritten = rewritten;
  }

  Optional<RewrittenModel> rewritten() {
    return rewritten;
  }

  /** The inputs of each run, without those that determine a shape and so became constants. */
  public List<String> inputNames() {
    return graph.inputs().stream().map(Value::name).toList();
  }

  /**
   * Runs the model.
   *
   * @param inputs by name; others than the model's are ignored
   * @return the outputs by name, in the model's order
   * @throws PartitaException if an input is missing or doesn't fit
   */
  public Map<String, Tensor> run(Map<String, Tensor> inputs) {
    return named(program.run(ordered(inputs)));
  }

  /** Compares each step of a run with what its arithmetic allows, where that is coarser. */
  Optional<ProbeComparison.Result> compareSteps(Map<String, Tensor> inputs) {
    return program.compareSteps(ordered(inputs));
  }

  /** The outputs of the reference evaluator. */
  Map<String, Tensor> evaluated(Map<String, Tensor> inputs) {
    return named(Evaluator.run(graph, ordered(inputs)));
  }

  private List<Tensor> ordered(Map<String, Tensor> inputs) {
    return graph.inputs().stream().map(each -> fitted(each, inputs.get(each.name()))).toList();
  }

  private Map<String, Tensor> named(List<Tensor> results) {
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (Tensor output : results) {
      outputs.put(graph.outputs().get(outputs.size()).name(), output);
    }
    return outputs;
  }

  private static Tensor fitted(Value input, Tensor data) {
    TensorType type = input.type();
    Tensor fitted = data == null ? null : RecordedRun.fit(input.name(), data, type);
    if (fitted == null || !fitted.type().equals(type)) {
      throw new PartitaException(
          DriverCode.CASE_MISMATCH,
          "input '" + input.name() + "'",
          type.toString(),
          data == null ? "nothing recorded" : data.type().toString(),
          "record the input as the model declares it");
    }
    return fitted;
  }

  @Override
  public void close() {
    program.close();
  }
}
