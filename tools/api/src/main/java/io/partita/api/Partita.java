package io.partita.api;

import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.siracusa.EmittedC;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.ModelFile;
import io.partita.driver.Sharding;
import io.partita.driver.SyncSelection;
import io.partita.driver.Target;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.chip.TargetSettings;
import io.partita.driver.plan.DeviceSelection;
import io.partita.driver.plan.PlanResult;
import io.partita.driver.plan.Planning;
import io.partita.ir.diagnostic.PartitaException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Compiles models.
 *
 * <pre>{@code
 * CompiledModel compiled =
 *     Partita.compile(
 *         CompileOptions.of(Path.of("decoder.onnx"), "java", Path.of("out"))
 *             .dimension("past", 256)
 *             .build());
 * }</pre>
 *
 * <p>Calls share nothing and may run concurrently. The JVM needs {@code
 * --enable-native-access=ALL-UNNAMED} and {@code --sun-misc-unsafe-memory-access=allow} to run
 * without warnings.
 */
public final class Partita {
  private final CompileOptions options;
  private final CompilationListener listener;
  private final DeviceSelection devices;
  private final TargetSettings settings;

  private Partita(CompileOptions options, CompilationListener listener) {
    this.options = options;
    this.listener = listener;
    this.devices = new DeviceSelection(options.devices(), options.strategy());
    this.settings = new TargetSettings(options.settings());
  }

  /**
   * Compiles a model without a listener, like {@link #compile(CompileOptions,
   * CompilationListener)}.
   */
  public static CompiledModel compile(CompileOptions options) {
    return compile(options, CompilationListener.NONE);
  }

  /**
   * Compiles a model and writes the program atomically.
   *
   * @throws InvalidOptionsException if options contradict each other
   * @throws PartitaException if the model can't be compiled; its diagnostics say why, and name
   *     options as the command line does
   */
  public static CompiledModel compile(CompileOptions options, CompilationListener listener) {
    return new Partita(options, listener).compile();
  }

  private CompiledModel compile() {
    options
        .chunk()
        .ifPresent(
            tokens -> {
              if (tokens < 2) {
                throw new InvalidOptionsException(
                    "--chunk takes a number of 2 or more tokens, not " + tokens);
              }
            });
    return switch (Target.of(options.target())) {
      case JAVA -> java();
      case SIRACUSA -> chips();
      case EVALUATOR ->
          throw new InvalidOptionsException(
              "the evaluator runs models without compilation; choose another target");
    };
  }

  private CompiledModel java() {
    if (!settings.isEmpty() && options.plan().isEmpty()) {
      throw new InvalidOptionsException("--set needs a target of chips, or --plan with a target");
    }
    JavaOptions names =
        new JavaOptions(options.packageName().orElse(""), options.className().orElse("Model"));
    Compilation compilation = compilation();
    EmittedProgram program =
        options.plan().isPresent()
            ? java(compilation, planned(options.plan().get()), names)
            : compilation.toJava(request(), sharding(), names, options.output());
    return Written.java(options.output(), inputs(), program);
  }

  private EmittedProgram java(Compilation compilation, Entries planned, JavaOptions names) {
    return planned.step().placement().isEmpty()
        ? compilation.toJava(planned, names, options.output())
        : compilation.toJava(Distribution.overlapping(planned), names, options.output());
  }

  private CompiledModel chips() {
    if (options.packageName().isPresent() || options.className().isPresent()) {
      throw new InvalidOptionsException(
          "--package and --class are for --target java; C has no classes");
    }
    ChipTarget chips = settings.chips(options.target());
    if (options.plan().isEmpty()) {
      devices.chosen().ifPresent(strategy -> chips.verifyDevices(strategy.devices()));
    }
    Compilation compilation = compilation();
    EmittedC program =
        options.plan().isPresent()
            ? compilation.toC(
                Distribution.overlapping(planned(options.plan().get())), chips, options.output())
            : compilation.toC(request(), sharding(), chips, options.output());
    return Written.chips(options.output(), inputs(), program);
  }

  private SyncSelection syncs() {
    return new SyncSelection(options.sync(), options.calibration(), options.ranking());
  }

  private Optional<Sharding> sharding() {
    return syncs().sharding(devices.chosen());
  }

  /** Returns the best strategy and algorithms for a target; for one device, the unchanged model. */
  private Entries planned(String target) {
    Planning planning = new Planning(listener::note, listener::step);
    PlanResult result =
        planning.search(devices.request(request(), settings.planned(target), syncs().rewrites()));
    if (!result.fits()) {
      String remedy =
          "partita plan "
              + options.model()
              + " --target "
              + target
              + " lists changes that make it fit";
      throw new PartitaException(List.of(result.search().best().worst().diagnostic(remedy)));
    }
    return planning.entries(result);
  }

  private Compilation compilation() {
    return new Compilation(listener::note, listener::step);
  }

  private Compilation.Request request() {
    return new Compilation.Request(
        options.model(),
        options.dimensions(),
        options.bindings(),
        options.passes().orElse(null),
        options.chunk(),
        options.cacheCapacity());
  }

  private List<Path> inputs() {
    return ModelFile.parts(options.model());
  }
}
