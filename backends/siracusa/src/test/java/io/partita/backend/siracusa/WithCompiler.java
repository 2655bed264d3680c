package io.partita.backend.siracusa;

import io.partita.backend.emitted.run.Build;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips tests without a C compiler, with a message. */
public final class WithCompiler implements ExecutionCondition {
  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (Build.find("gcc").isPresent() && Build.find("make").isPresent()) {
      return ConditionEvaluationResult.enabled("gcc and make");
    }
    System.err.println(
        "NO C COMPILER: emitted C is NOT TESTED; get one by: apt-get install gcc libc6-dev make");
    return ConditionEvaluationResult.disabled("no gcc or make");
  }
}
