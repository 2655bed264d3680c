package io.partita.runtime;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Provides the kernels to tests, and skips the tests without a compiler. */
final class WithKernels implements ExecutionCondition, ParameterResolver {
  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return new WithCompiler().evaluateExecutionCondition(context);
  }

  /** JUnit closes it at the end. */
  private record Running(Kernels kernels) implements ExtensionContext.Store.CloseableResource {
    @Override
    public void close() {
      kernels.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Kernels.class;
  }

  @Override
  public Kernels resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(WithKernels.class))
        .getOrComputeIfAbsent(
            Running.class,
            key ->
                new Running(
                    new Kernels(
                        new WithCompiler().tool(context).orElseThrow(),
                        new WithQemu().tool(context))),
            Running.class)
        .kernels;
  }
}
