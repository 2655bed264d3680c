package io.partita.tests.recorded;

import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.PreparedModel;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.state.KvStatePass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A decoder with its KV cache, one token at a time. */
interface CachedDecoder extends AutoCloseable {
  /** Returns the logits after a token at a position; positions must be in order, from 0. */
  Tensor next(long token, int position);

  @Override
  default void close() {}

  /**
   * Returns a decoder as exported: the past is an input and the extended past an output, so each
   * step has new shapes.
   */
  static CachedDecoder growing(OnnxModel model, Route route) {
    Map<String, Tensor> inputs = new HashMap<>();
    model.inputTypes().forEach((name, type) -> inputs.put(name, empty(type)));
    return (token, position) -> {
      inputs.put("input_ids", Tensor.longs(Shape.of(1, 1), token));
      inputs.put("position", Tensor.longs(Shape.of(1), position));
      Map<String, Tensor> outputs;
      try (PreparedModel step = route.cases(Tolerance.DEFAULT).prepare(model, inputs)) {
        outputs = step.run(inputs);
      }
      Tensor logits = outputs.remove("logits");
      outputs.forEach((name, present) -> inputs.put(name.replace("present", "past"), present));
      return logits;
    };
  }

  private static Tensor empty(TensorType type) {
    Shape shape = type.rank() == 4 ? type.shape().with(2, Dim.of(0)) : type.shape();
    return Tensor.filled(type.with(shape), 0);
  }

  /**
   * Returns a compiled decoder with caches of fixed capacity, which in the evaluator are inputs and
   * outputs.
   */
  static CachedDecoder stateful(OnnxModel model, long capacity, Target target) {
    Module module = withCaches(model, capacity);
    return target == Target.EVALUATOR
        ? new KeptCaches(module)
        : new OwnCaches(module, target.runner());
  }

  /** Returns a compiled decoder with a runner that keeps states. */
  static CachedDecoder stateful(OnnxModel model, long capacity, ModuleRunner runner) {
    return new OwnCaches(withCaches(model, capacity), runner);
  }

  /** Returns the model with caches of fixed capacity as states. */
  static Module withCaches(OnnxModel model, long capacity) {
    Module imported = new OnnxImporter(ImportOptions.NONE).examine(model).orThrow();
    Module raised = StandardPasses.usual().run(imported, (pass, before, after) -> {});
    return new KvStatePass(capacity, note -> {}).run(raised);
  }

  /** Passes the states of a module from run to run. */
  final class KeptCaches implements CachedDecoder {
    private final Graph graph;
    private final ModuleRunner.Prepared program;
    private final List<Module.State> states;
    private final Map<String, Tensor> inputs = new HashMap<>();

    KeptCaches(Module module) {
      graph = module.graph();
      states = module.states();
      program = Target.EVALUATOR.runner().prepare(module);
      graph.inputs().forEach(input -> inputs.put(input.name(), Tensor.filled(input.type(), 0)));
    }

    @Override
    public Tensor next(long token, int position) {
      inputs.put("input_ids", Tensor.longs(Shape.of(1, 1), token));
      inputs.put("position", Tensor.longs(Shape.of(1), position));
      List<Tensor> results =
          program.run(graph.inputs().stream().map(Value::name).map(inputs::get).toList());
      Map<String, Tensor> outputs = new HashMap<>();
      for (int i = 0; i < results.size(); i++) {
        outputs.put(graph.outputs().get(i).name(), results.get(i));
      }
      states.forEach(state -> inputs.put(state.input(), outputs.get(state.output())));
      return outputs.get("logits");
    }
  }

  /** A program that keeps its caches as state. */
  final class OwnCaches implements CachedDecoder {
    private final ModuleRunner.Prepared program;
    private final List<String> inputs = new ArrayList<>();

    OwnCaches(Module module, ModuleRunner runner) {
      program = runner.prepare(module);
      List<String> states = module.states().stream().map(Module.State::input).toList();
      module.graph().inputs().forEach(input -> inputs.add(input.name()));
      inputs.removeAll(states);
    }

    @Override
    public Tensor next(long token, int position) {
      List<Tensor> given = new ArrayList<>();
      for (String name : inputs) {
        given.add(
            name.equals("input_ids")
                ? Tensor.longs(Shape.of(1, 1), token)
                : Tensor.longs(Shape.of(1), position));
      }
      return program.run(given).getFirst();
    }

    @Override
    public void close() {
      program.close();
    }
  }
}
