package io.partita.backend.java;

import io.partita.backend.java.code.ClassPrinter;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.List;

/** Turns a module of the graph dialect into one readable Java class and a file of weights. */
public final class JavaBackend {
  /** Java arrays hold no more, but for a few. */
  private static final long MOST_ELEMENTS = Integer.MAX_VALUE - 8;

  private JavaBackend() {}

  /**
   * The program; nothing is written yet.
   *
   * @throws PartitaException P5001 when a shape isn't static, P5009 when a tensor doesn't fit an
   *     array
   */
  public static EmittedProgram emit(Module module, JavaOptions options) {
    verify(module);
    ModulePlan plan = ModulePlan.of(module);
    String source = ClassPrinter.print(plan, options);
    ModelDescription description = describe(plan, options);
    return new EmittedProgram(
        description,
        List.of(
            EmittedFile.text(options.sourcePath(), source),
            new EmittedFile(options.weightsFile(), plan.weights()::writeTo),
            EmittedFile.text(ModelDescription.FILE, description.json())));
  }

  private static void verify(Module module) {
    for (Value input : module.graph().inputs()) {
      verify(input, "input \"" + input.name() + "\"");
    }
    for (Node node : module.graph().nodes()) {
      for (Value result : node.results()) {
        verify(result, "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")");
      }
    }
  }

  private static void verify(Value value, String where) {
    if (!value.type().isStatic()) {
      throw new PartitaException(
          BackendCode.SYMBOLIC_SHAPE,
          where,
          "extents that are numbers",
          value.type().toString(),
          "bind the model's symbols, such as --dim seq=128");
    }
    long elements;
    try {
      elements = value.type().shape().elements();
    } catch (ArithmeticException overflow) {
      elements = Long.MAX_VALUE;
    }
    if (elements > MOST_ELEMENTS) {
      throw new PartitaException(
          BackendCode.TOO_LARGE,
          where,
          "at most " + MOST_ELEMENTS + " elements",
          value.type().toString(),
          "compile for smaller dimensions");
    }
  }

  private static ModelDescription describe(ModulePlan plan, JavaOptions options) {
    return new ModelDescription(
        plan.module().graph().name(),
        plan.states().isEmpty() ? ModelDescription.Kind.PREFILL : ModelDescription.Kind.DECODER,
        options.qualifiedName(),
        options.weightsFile(),
        plan.parameters().stream()
            .map(p -> new ModelDescription.Port(p.name(), p.value().type()))
            .toList(),
        plan.results().stream().map(r -> new ModelDescription.Port(r.name(), r.type())).toList(),
        plan.states().stream()
            .map(
                s ->
                    new ModelDescription.StatePort(s.inputName(), s.outputName(), s.input().type()))
            .toList());
  }
}
