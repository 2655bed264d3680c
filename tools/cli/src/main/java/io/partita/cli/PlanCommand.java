package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.SyncSelection;
import io.partita.driver.plan.BlockRemedies;
import io.partita.driver.plan.DeviceChoice;
import io.partita.driver.plan.PlanRequest;
import io.partita.driver.plan.PlanResult;
import io.partita.driver.plan.PlannedTarget;
import io.partita.driver.plan.Planning;
import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.report.BlockFields;
import io.partita.driver.report.ReportFile;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.StrategyChoice;
import io.partita.report.ProgramReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Plans a model for a target. */
@Command(
    name = "plan",
    description = {
      "Find the best split of a model over the devices of a target, and print one page with its"
          + " memory, syncs, latency and energy, and the alternatives that were tried.",
      "The exit code is 2 if the model doesn't fit; the page then lists changes that make it fit."
    })
final class PlanCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "MODEL",
      description = "A .onnx or .pir file, or the name of a zoo model.")
  GivenModel model;

  @Option(
      names = "--target",
      required = true,
      paramLabel = "TARGET",
      description =
          "A target with its parameters, such as siracusa:chips=8, wifi-laptops or n150; or the path"
              + " of a .target file.")
  String target;

  @Option(
      names = "--devices",
      paramLabel = "N",
      description = "The first N devices of the target; auto chooses the number. By default all.")
  String devices;

  @Option(
      names = "--strategy",
      paramLabel = "STRATEGY",
      description =
          "auto (default), kinds of split that may be used such as tensor or pipeline,tensor, or a"
              + " strategy such as pipeline=2,tensor=4,norm=tokens, see 'partita explain P4201'.")
  String strategy = "auto";

  @Option(names = "--minimise", paramLabel = "WHAT", description = "latency (default) or energy.")
  Goal goal = Goal.LATENCY;

  @Option(names = "--kv-capacity", paramLabel = "N", description = "Positions of the KV cache.")
  Long capacity;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin QuantizeOptions quantization = new QuantizeOptions();

  @Mixin SyncOptions syncs = new SyncOptions();

  @Mixin SpeculateOptions speculation = new SpeculateOptions();

  @Mixin TargetOptions settings = new TargetOptions();

  @Mixin ZooModelOptions zoo = new ZooModelOptions();

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description =
          "Also write one HTML page about the plan, as 'partita report' does of a program.")
  Path report;

  @Option(names = "--json", description = "Print one JSON object instead of the page.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (report != null) {
      OutputFile.verify(report);
    }
    PlannedTarget planned = settings.settings().planned(target);
    TargetDescription described = planned.description();
    DeviceChoice count = devices == null ? new DeviceChoice.All() : DeviceChoice.parse(devices);
    SyncSelection selection = syncs.selection(speculation);
    SyncRewrites rewrites = selection.rewrites();
    Optional<Speculation> speculates = selection.speculation();
    StrategyChoice split =
        speculates.isPresent()
            ? groups(selection, described, count)
            : StrategyChoice.parse(strategy);
    Optional<QuantizationStep> quantized = quantization.step();
    PlanResult result;
    BlockFields.Planned blocks = new BlockFields.Planned(List.of(), Optional.empty());
    Optional<Diagnostic> shortage = Optional.empty();
    try (Progress progress = Progress.start(err, "starting");
        ModelSource source = ModelSource.of(model, zoo, options.dims, progress)) {
      OptionalLong positions = capacity == null ? source.capacity() : OptionalLong.of(capacity);
      PlanRequest request =
          new PlanRequest(
              new Compilation.Request(source.file(), source.dims(), options.values, null)
                  .with(quantized),
              positions,
              described,
              count,
              split,
              goal,
              PlanOptions.DEFAULT.weights(planned.weights()),
              rewrites,
              speculates);
      List<Diagnostic> notes = new ArrayList<>();
      Planning planning =
          new Planning(
              note -> {
                notes.add(note);
                progress.note(note);
              },
              progress);
      result = planning.plan(request);
      if (result.fits()) {
        CandidatePlan best = result.search().best();
        blocks = BlockFields.of(best.program(), described, planned.weights());
        shortage = blocks.failure().filter(BlockRemedies::isShortage);
        if (shortage.isPresent()) {
          progress.step("looking for changes that make it fit");
          BlockRemedies remedies = new BlockRemedies(planning, result);
          shortage = Optional.of(remedies.named(shortage.get(), planned.card()));
        }
      } else {
        shortage = Optional.of(result.shortage());
      }
      shortage.ifPresent(notes::add);
      if (report != null) {
        progress.step("writing " + report);
        ReportCommand.write(ProgramReport.page(fields(result, notes), Version.text()), report);
      }
    }
    if (json) {
      out.println(Json.text(new PlanJson(model.path().toString(), result, blocks).object()));
    } else {
      new PlanPage(model.path().toString(), result, blocks).lines().forEach(out::println);
    }
    shortage.ifPresent(err::println);
    return shortage.isPresent() ? ExitCode.USER_ERROR : ExitCode.DONE;
  }

  /** Returns the split of devices in two groups. */
  private StrategyChoice groups(
      SyncSelection selection, TargetDescription described, DeviceChoice count) {
    int all = count instanceof DeviceChoice.Exactly(int number) ? number : described.deviceCount();
    boolean isChosen = !strategy.equals("auto");
    Strategy split = isChosen ? Strategy.parse(strategy) : Strategy.tensor(all);
    selection.sharding(Optional.of(split));
    return StrategyChoice.exactly(split);
  }

  private Map<String, Object> fields(PlanResult result, List<Diagnostic> notes) {
    return ReportFile.fields(
        new ReportFile.Request(
            model.path().getFileName().toString(),
            Optional.of(CommandText.of(spec, List.of("--report"))),
            notes,
            Optional.of(result.request().target())),
        result.search().best(),
        result.request().target());
  }
}
