package io.partita.driver;

import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.EvaluatorRunner;
import io.partita.driver.cases.JavaRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The targets of compilation, and the evaluator, which needs no compilation. */
public enum Target {
  EVALUATOR("evaluator"),
  JAVA("java"),
  SIRACUSA("siracusa");

  private final String text;

  Target(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /** The names that {@code --target} takes. */
  public static List<String> names() {
    return Arrays.stream(values()).filter(target -> target != EVALUATOR).map(Target::text).toList();
  }

  /**
   * The target that a name such as {@code java} or {@code siracusa:chips=4} begins with.
   *
   * @throws PartitaException if there is no such target
   */
  public static Target of(String reference) {
    String name = reference.contains("=") ? reference.split(":", 2)[0] : reference;
    for (Target target : values()) {
      if (target.text.equals(name)) {
        return target;
      }
    }
    throw new PartitaException(
        DriverCode.UNKNOWN_TARGET,
        "option --target",
        "one of " + String.join(", ", names()),
        reference,
        NearestName.remedy(name, names()));
  }

  /** Returns a runner for modules. */
  public ModuleRunner runner() {
    return runner(Optional.empty());
  }

  /** Returns a runner for modules, distributed by a strategy; the evaluator runs them whole. */
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return switch (this) {
      case EVALUATOR -> new EvaluatorRunner();
      case JAVA -> new JavaRunner(sharding);
      case SIRACUSA -> new ChipRunner(ChipTarget.of(text, Map.of()), sharding);
    };
  }
}
