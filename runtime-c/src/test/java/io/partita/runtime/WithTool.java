package io.partita.runtime;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Provides a tool of the system to tests; without it, prints one line and skips them. */
abstract class WithTool<T> implements ExecutionCondition, ParameterResolver {
  private final Class<T> type;
  private final String missing;

  /** Returns the message without the tool. */
  WithTool(Class<T> type, String missing) {
    this.type = type;
    this.missing = missing;
  }

  abstract Optional<T> find();

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return tool(context).isPresent()
        ? ConditionEvaluationResult.enabled("found")
        : ConditionEvaluationResult.disabled(missing);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == type;
  }

  @Override
  public T resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return tool(context).orElseThrow();
  }

  /** The tool, which is searched once. */
  final Optional<T> tool(ExtensionContext context) {
    Found found =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(WithTool.class, getClass()))
            .getOrComputeIfAbsent(Found.class, key -> search(), Found.class);
    return found.tool.map(type::cast);
  }

  private record Found(Optional<?> tool) {}

  private Found search() {
    Optional<T> tool = find();
    if (tool.isEmpty()) {
      System.err.println(missing);
    }
    return new Found(tool);
  }
}
