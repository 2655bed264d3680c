package io.partita.api;

import io.partita.backend.emitted.EmittedProgram;
import io.partita.driver.Compilation;
import io.partita.driver.CompilationTarget;
import io.partita.driver.ConflictingOptions;
import io.partita.driver.Entries;
import io.partita.driver.ModelFile;
import io.partita.driver.Sharding;
import io.partita.driver.SyncSelection;
import io.partita.driver.Target;
import io.partita.driver.chip.TargetSettings;
import io.partita.driver.plan.DeviceSelection;
import io.partita.driver.plan.PlanResult;
import io.partita.driver.plan.Planning;
import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.quantize.QuantizePass;
import io.partita.driver.report.ReportFile;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetDescription;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

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
  /** The usual share of planning in the time to plan, emit and write a program. */
  private static final double PLANNING = 0.6;

  private final CompileOptions options;
  private final CompilationListener listener;
  private final DeviceSelection devices;
  private final TargetSettings settings;
  private final Optional<QuantizationStep> quantization;

  private Partita(CompileOptions options, CompilationListener listener) {
    this.options = options;
    this.listener = listener;
    DeviceSelection chosen = new DeviceSelection(options.devices(), options.strategy());
    this.devices =
        options.plan().isPresent()
            ? chosen
            : chosen.orElse(Target.of(options.target()).usualDevices(options.target()));
    this.settings = new TargetSettings(options.settings());
    this.quantization = options.quantize().map(QuantizePass::parse);
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
    if (options.promptModel().isPresent() && quantization.isPresent()) {
      throw new InvalidOptionsException(
          "--prompt-model takes no --quantize: both models need the same integers");
    }
    if (options.promptModel().isPresent() && options.chunk().isEmpty()) {
      throw new InvalidOptionsException("--prompt-model needs --chunk N, its number of tokens");
    }
    if (syncs().speculation().isPresent()
        && (options.plan().isPresent() || options.chunk().isPresent())) {
      throw new InvalidOptionsException(
          "--speculate takes --devices N, for one token at a time, without "
              + (options.plan().isPresent() ? "--plan" : "--chunk"));
    }
    CompilationTarget target;
    try {
      target = target();
    } catch (ConflictingOptions conflict) {
      throw new InvalidOptionsException(conflict.getMessage());
    }
    target.backend().verifyOutput(options.output());
    List<Diagnostic> notes = new ArrayList<>();
    Consumer<Diagnostic> noted =
        note -> {
          notes.add(note);
          listener.note(note);
        };
    double searched = options.plan().isPresent() ? PLANNING : 0;
    Compilation compilation = new Compilation(noted, listener.part(searched, 1));
    EmittedProgram program;
    if (options.plan().isPresent()) {
      Planning planning = new Planning(noted, listener.part(0, searched));
      PlanResult result = planned(options.plan().get(), planning);
      Entries planned = planning.entries(result);
      program =
          compilation.emit(
              planned,
              target.programs(planned, planned.step().placement().isPresent()),
              target,
              options.output(),
              () -> report(notes, Optional.of(result.request().target())));
    } else {
      devices.chosen().ifPresent(strategy -> target.verifyDevices(strategy.devices()));
      program =
          compilation.compile(
              request(),
              sharding(),
              target,
              options.output(),
              () -> report(notes, Optional.empty()));
    }
    List<Path> inputs = new ArrayList<>(ModelFile.parts(options.model()));
    quantization.map(QuantizationStep::calibration).ifPresent(inputs::add);
    return FileListing.of(options.output(), inputs, program);
  }

  /** The target; with a plan, Java takes no settings, which are then those of the plan's target. */
  private CompilationTarget target() {
    Target target = Target.of(options.target());
    boolean isOfPlan = options.plan().isPresent() && target == Target.JAVA;
    return target.with(
        new Target.Options(
            options.target(),
            isOfPlan ? new TargetSettings(Map.of()) : settings,
            options.packageName(),
            options.className()));
  }

  private SyncSelection syncs() {
    return new SyncSelection(
        options.sync(), options.calibration(), options.ranking(), options.speculate());
  }

  private Optional<Sharding> sharding() {
    return syncs().sharding(devices.chosen());
  }

  private ReportFile.Request report(List<Diagnostic> notes, Optional<TargetDescription> planned) {
    return new ReportFile.Request(
        options.model().getFileName().toString(), options.command(), notes, planned);
  }

  /** Returns the best strategy and algorithms for a target. */
  private PlanResult planned(String target, Planning planning) {
    PlanResult result =
        planning.search(
            devices.request(
                request(), settings.withoutSwitches().planned(target), syncs().rewrites()));
    if (!result.fits()) {
      String remedy =
          "partita plan "
              + options.model()
              + " --target "
              + target
              + " lists changes that make it fit";
      throw new PartitaException(List.of(result.search().best().worst().diagnostic(remedy)));
    }
    return result;
  }

  private Compilation.Request request() {
    return new Compilation.Request(
        options.model(),
        options.dimensions(),
        options.bindings(),
        options.passes().orElse(null),
        options.chunk(),
        options.cacheCapacity(),
        options.promptModel(),
        quantization);
  }
}
