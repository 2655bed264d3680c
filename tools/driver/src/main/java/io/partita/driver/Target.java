package io.partita.driver;

import io.partita.backend.java.JavaOptions;
import io.partita.driver.cases.EvaluatorRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.chip.MetaliumTarget;
import io.partita.driver.chip.TargetSettings;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The targets of compilation, and the evaluator, which needs no compilation. */
public enum Target {
  /** Runs modules as they are, for checks. */
  EVALUATOR("evaluator") {
    @Override
    public ModuleRunner runner(Optional<Sharding> sharding) {
      return new EvaluatorRunner();
    }

    @Override
    public CompilationTarget with(Options options) {
      throw new ConflictingOptions(
          "the evaluator runs models without compilation; choose another target");
    }
  },

  /** Emits a class for the JVM, or one for each role of several devices. */
  JAVA("java") {
    @Override
    public CompilationTarget with(Options options) {
      if (!options.settings().isEmpty()) {
        throw new ConflictingOptions(
            "--set needs a target of chips, such as --target siracusa, or --plan with one");
      }
      return new JavaTarget(
          new JavaOptions(options.packageName().orElse(""), options.className().orElse("Model")));
    }
  },

  /** Emits C for Siracusa chips. */
  SIRACUSA("siracusa") {
    @Override
    public CompilationTarget with(Options options) {
      if (options.packageName().isPresent() || options.className().isPresent()) {
        throw new ConflictingOptions(
            "--package and --class are for --target java; C has no classes");
      }
      return options.settings().chips(options.reference());
    }
  },

  /** Emits TT-Metalium kernels for Tenstorrent cards with one chip. */
  N150("n150", true) {
    @Override
    public CompilationTarget with(Options options) {
      return metalium(options);
    }
  },

  /** Emits TT-Metalium kernels for a Tenstorrent card with two chips. */
  N300("n300", true) {
    @Override
    public CompilationTarget with(Options options) {
      return metalium(options);
    }
  };

  private static CompilationTarget metalium(Options options) {
    if (options.packageName().isPresent() || options.className().isPresent()) {
      throw new ConflictingOptions(
          "--package and --class are for --target java; kernels have no classes");
    }
    return MetaliumTarget.of(options.reference(), options.settings());
  }

  /**
   * The options of a target.
   *
   * @param reference the value of {@code --target}
   * @param settings the values of {@code --set} that are meant for the target
   * @param packageName the Java package
   * @param className the name of the Java class
   */
  public record Options(
      String reference,
      TargetSettings settings,
      Optional<String> packageName,
      Optional<String> className) {
    /** The options of a target without names. */
    public Options(String reference, TargetSettings settings) {
      this(reference, settings, Optional.empty(), Optional.empty());
    }
  }

  private final String text;
  private final boolean isTenstorrent;

  Target(String text) {
    this(text, false);
  }

  Target(String text, boolean isTenstorrent) {
    this.text = text;
    this.isTenstorrent = isTenstorrent;
  }

  /** Whether its programs are TT-Metalium kernels. */
  public boolean isTenstorrent() {
    return isTenstorrent;
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

  /**
   * Returns the target with its options.
   *
   * @throws ConflictingOptions if an option isn't one of the target's
   * @throws PartitaException if a setting is wrong
   */
  public abstract CompilationTarget with(Options options);

  /**
   * The number of devices of a program if the user doesn't choose one; empty for one device.
   *
   * @param reference the value of {@code --target}
   */
  public OptionalInt usualDevices(String reference) {
    return isTenstorrent ? MetaliumTarget.of(reference).usualDevices() : OptionalInt.empty();
  }

  /** Returns a runner for modules. */
  public ModuleRunner runner() {
    return runner(Optional.empty());
  }

  /** Returns a runner for modules, distributed by a strategy; the evaluator runs them whole. */
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return with(new Options(text, new TargetSettings(Map.of()))).runner(sharding);
  }
}
