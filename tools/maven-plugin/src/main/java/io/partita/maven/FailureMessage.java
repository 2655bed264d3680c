package io.partita.maven;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Explains a failure in terms of the POM.
 *
 * @param pom null if there is none
 * @param plan the target of a plan, null if there is none
 * @param output the folder of emitted files
 */
record FailureMessage(File model, String executionId, File pom, String plan, File output) {
  private static final Map<String, String> PARAMETERS = new LinkedHashMap<>();

  static {
    PARAMETERS.put("--target", "target");
    PARAMETERS.put("--devices", "devices");
    PARAMETERS.put("--strategy", "strategy");
    PARAMETERS.put("--sync", "sync");
    PARAMETERS.put("--speculate", "speculate");
    PARAMETERS.put("--calibration", "calibration");
    PARAMETERS.put("--ranking", "ranking");
    PARAMETERS.put("--plan", "plan");
    PARAMETERS.put("--passes", "passes");
    PARAMETERS.put("--quantize", "quantize");
    PARAMETERS.put("--dim", "dimensions");
    PARAMETERS.put("--bind", "bindings");
    PARAMETERS.put("--set", "settings");
    PARAMETERS.put("--kv-capacity", "cacheCapacity");
    PARAMETERS.put("--chunk", "chunk");
    PARAMETERS.put("--package", "packageName");
    PARAMETERS.put("--class", "className");
    PARAMETERS.put("--output", "output");
    PARAMETERS.put("--rtol", "relativeTolerance");
    PARAMETERS.put("--atol", "absoluteTolerance");
  }

  /** Returns the diagnostics, the model and the execution, and the parameters for named options. */
  String text(String what, CompilerFailure failure) {
    StringBuilder text = new StringBuilder();
    text.append(model).append(' ').append(what).append('\n');
    text.append(failure.getMessage().stripTrailing()).append('\n');
    text.append("set by parameter <model> of execution '").append(executionId).append('\'');
    if (pom != null) {
      text.append(" in ").append(pom);
    }
    PARAMETERS.forEach(
        (option, parameter) -> {
          String pattern = "((?<![\\w-])%s|where: +%s)(?![\\w-])".formatted(option, place(option));
          if (Pattern.compile(pattern).matcher(failure.getMessage()).find()) {
            text.append("\n  ").append(option).append(" is <").append(parameter).append('>');
          }
        });
    return text.toString();
  }

  /** What some diagnostics name in place of the option. */
  private String place(String option) {
    return switch (option) {
      case "--output" -> Pattern.quote(output.getPath());
      case "--passes" -> "the pass pipeline";
      case "--plan" -> plan == null ? option : planned();
      case "--target" -> plan == null ? "target" : "(?!" + planned() + ")target";
      default -> option.substring(2);
    };
  }

  /** The target of a plan, as diagnostics name it. */
  private String planned() {
    return "target " + Pattern.quote(plan.split(":", 2)[0]);
  }
}
