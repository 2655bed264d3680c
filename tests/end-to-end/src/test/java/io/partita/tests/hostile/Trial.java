package io.partita.tests.hostile;

import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** Compiles an untrusted model, and throws anything except diagnostics. */
final class Trial {
  /**
   * The largest number of evaluated elements, because valid models may need hours of arithmetic.
   */
  private static final long MAX_ELEMENTS = 20_000;

  private Trial() {}

  /** Imports, verifies and evaluates; a {@link PartitaException} is a valid outcome. */
  static void onnx(Path file, RandomGenerator random) {
    OnnxModel model = OnnxModel.read(file);
    ImportOptions options =
        ImportOptions.NONE.bindShapeInputs(
            name ->
                Optional.ofNullable(model.inputTypes().get(name))
                    .filter(type -> !type.element().isFloat() && isSmall(type))
                    .map(type -> input(type, random)));
    ImportResult result = new OnnxImporter(options).examine(model);
    result.diagnostics().forEach(Trial::requireNoInternalError);
    result.module().ifPresent(module -> module(module, random));
  }

  static void module(Module module, RandomGenerator random) {
    List<Diagnostic> violations = Verifier.violations(module);
    if (!violations.isEmpty()) {
      throw new AssertionError("the verifier finds " + violations.getFirst());
    }
    if (isSmall(module.graph())) {
      List<Tensor> inputs = new ArrayList<>();
      module.graph().inputs().forEach(input -> inputs.add(input(input.type(), random)));
      Evaluator.run(module.graph(), inputs);
    }
  }

  private static void requireNoInternalError(Diagnostic diagnostic) {
    if (diagnostic.code().id().equals("P2099")) {
      throw new AssertionError("an internal error: " + diagnostic);
    }
  }

  private static boolean isSmall(Graph graph) {
    long elements = 0;
    for (Value input : graph.inputs()) {
      if (!isSmall(input.type())) {
        return false;
      }
    }
    for (Node node : graph.nodes()) {
      for (Value result : node.results()) {
        if (!isSmall(result.type())) {
          return false;
        }
        elements += result.type().shape().elements();
      }
    }
    return elements <= MAX_ELEMENTS;
  }

  private static boolean isSmall(TensorType type) {
    try {
      return type.isStatic() && type.shape().elements() <= MAX_ELEMENTS;
    } catch (ArithmeticException overflow) {
      return false;
    }
  }

  private static Tensor input(TensorType type, RandomGenerator random) {
    int size = (int) type.shape().elements();
    return type.element().isFloat()
        ? Tensor.ofDoubles(type, random.doubles(size, -1, 1).toArray())
        : Tensor.ofLongs(type, random.longs(size, -1, 4).toArray());
  }
}
