package io.partita.runtime;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands tests the C compiler; where there is none, one line says so and the tests are skipped. */
final class WithCompiler implements ExecutionCondition, ParameterResolver {
  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return compiler(context).isPresent()
        ? ConditionEvaluationResult.enabled("a C compiler")
        : ConditionEvaluationResult.disabled("no C compiler");
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == CCompiler.class;
  }

  @Override
  public CCompiler resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return compiler(context).orElseThrow();
  }

  /** Looked for once. */
  static Optional<CCompiler> compiler(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(WithCompiler.class))
        .getOrComputeIfAbsent(Found.class, key -> find(), Found.class)
        .compiler;
  }

  private record Found(Optional<CCompiler> compiler) {}

  private static Found find() {
    Optional<CCompiler> compiler = CCompiler.find();
    if (compiler.isEmpty()) {
      System.err.println(
          "NO C COMPILER: the C runtime is NOT TESTED; get one by: apt-get install gcc libc6-dev");
    }
    return new Found(compiler);
  }
}
