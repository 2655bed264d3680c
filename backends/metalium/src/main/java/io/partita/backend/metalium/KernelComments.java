package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;

/** What kernels on tiles say that they compute. */
final class KernelComments {
  private KernelComments() {}

  /** The formula of a step whose kernels are made of its functions. */
  static String of(Step step) {
    String value =
        switch (step.kind()) {
          case LINEAR -> "x * weight";
          case ELEMENTWISE -> "x";
          case RMS_NORM -> "x / sqrt(mean(x^2) + epsilon) * scale, for each row";
          case LAYER_NORM ->
              "(x - mean(x)) / sqrt(variance(x) + epsilon) * scale"
                  + (Kernels.hasBias(step) ? " + bias" : "")
                  + ", for each row";
          case SOFTMAX -> "exp(x - max(x)) / sum(exp(x - max(x))), for each row";
          case GATHER_ROWS,
              LOOKUP,
              NEAREST_CENTROID,
              REARRANGE,
              SELECT,
              CONCAT,
              CHOICE,
              DECISION,
              CACHE_UPDATE,
              ROTARY,
              ATTENTION,
              SPECULATED_ATTENTION,
              EARLY_ATTENTION,
              VERIFYING_ATTENTION ->
              throw new IllegalArgumentException(step.kind().name());
        };
    int operand = 0;
    for (Epilogue epilogue : step.epilogues()) {
      String function = epilogue.function().replaceAll("_?binary_?", "");
      if (epilogue.operand().isEmpty()) {
        value = function + "(" + value + ")";
      } else {
        String other = "operand" + operand++;
        value =
            function
                + (epilogue.isLeft() ? "(" + other + ", " + value : "(" + value + ", " + other)
                + ")";
      }
    }
    return "out = " + value;
  }
}
