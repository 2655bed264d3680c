package io.partita.driver.report;

import io.partita.backend.emitted.DescriptionFile;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.planning.cost.SyncReport;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.PlannedSync;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The decisions of a compilation or a plan, and the predicted run, as JSON: {@code report.json} in
 * the folder of an emitted program. {@code partita report} shows them.
 */
public final class ReportFile {
  /** The file's name. */
  public static final String FILE = "report.json";

  /** The value of the field {@code format}. */
  public static final String FORMAT = "partita-report-1";

  private ReportFile() {}

  /**
   * What was asked for.
   *
   * @param model the model's name, as the user gave it
   * @param command the command line, without the output; empty if it isn't known
   * @param notes the notes that the command printed
   * @param planned the target of the plan, if there was one
   */
  public record Request(
      String model,
      Optional<String> command,
      List<Diagnostic> notes,
      Optional<TargetDescription> planned) {
    public Request {
      notes = List.copyOf(notes);
    }
  }

  /**
   * Returns the fields of an emitted program.
   *
   * @param module the module from which the program was made, with layouts and syncs
   * @param target the target of the command line
   * @param schedule its schedule, if it has one
   */
  public static Map<String, Object> fields(
      Request request,
      String target,
      Module module,
      Program program,
      Optional<EmittedSchedule> schedule) {
    if (schedule.isPresent()) {
      EmittedSchedule emitted = schedule.get();
      PlanReport report = Plans.report(emitted.schedule(), emitted.target(), emitted.prediction());
      Map<String, Object> json = fields(request, target, module, report, emitted.target());
      String home = emitted.schedule().roles().getFirst().home().name();
      // The steps of the prediction say what cores do, and kernels what moves to and from L1.
      json.put(
          "timeline",
          TimelineFields.of(
              emitted.timeline(),
              resource ->
                  !resource.kind().equals(Resource.Kind.COMPUTE)
                      && !resource.kind().text().equals(home)));
      json.put("schedule", ScheduleFields.of(emitted));
      return json;
    }
    if (request.planned().isPresent()) {
      return planned(request, target, module, program, request.planned().get());
    }
    Map<String, Object> json = head(request, target, module);
    json.put("plan", Map.of());
    json.put("syncs", untimed(PlanFields.syncs(PlannedSync.of(module, SyncReport.of(program)))));
    return json;
  }

  /**
   * Returns the fields of a plan.
   *
   * @param target the target that it is for
   */
  public static Map<String, Object> fields(
      Request request, CandidatePlan plan, TargetDescription target) {
    return planned(request, target.name(), plan.module(), plan.program(), target);
  }

  private static Map<String, Object> planned(
      Request request, String name, Module module, Program program, TargetDescription target) {
    TargetDescription devices = TargetChange.first(target, program.devices().size());
    List<RecordedTimeline> recorded = new ArrayList<>();
    PlanReport report = Plans.report(program, devices, PlanOptions.DEFAULT, recorded::add);
    Map<String, Object> json = fields(request, name, module, report, devices);
    if (!recorded.isEmpty()) {
      json.put("timeline", TimelineFields.of(recorded.getLast(), resource -> true));
    }
    return json;
  }

  private static Map<String, Object> fields(
      Request request, String name, Module module, PlanReport report, TargetDescription target) {
    Map<String, Object> json = head(request, name, module);
    Map<String, Object> plan = new LinkedHashMap<>();
    plan.put("target", PlanFields.target(target));
    plan.put("mesh", PlanFields.mesh(report.mesh()));
    plan.put("blocks", report.blocks());
    plan.putAll(PlanFields.run(report));
    plan.put("syncsPerBlock", report.syncsPerBlock());
    plan.put("shortages", report.shortages().stream().map(PlanFields::shortage).toList());
    json.put("plan", plan);
    json.put(
        "syncs",
        module.placement().isPresent()
            ? PlanFields.syncs(PlannedSync.of(module, report.syncs()))
            : List.of());
    return json;
  }

  private static Map<String, Object> head(Request request, String target, Module module) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("format", FORMAT);
    json.put("model", request.model());
    json.put("target", target);
    request.command().ifPresent(command -> json.put("command", command));
    json.put("notes", request.notes().stream().map(ReportFile::diagnostic).toList());
    json.put("partition", PartitionFields.of(module));
    return json;
  }

  /** Syncs without seconds, which depend on a target. */
  private static List<Map<String, Object>> untimed(List<Map<String, Object>> syncs) {
    syncs.forEach(sync -> sync.remove("seconds"));
    return syncs;
  }

  private static Map<String, Object> diagnostic(Diagnostic diagnostic) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("code", diagnostic.code().id());
    fields.put("title", diagnostic.code().title());
    fields.put("where", diagnostic.where());
    fields.put("expected", diagnostic.expected());
    fields.put("found", diagnostic.found());
    fields.put("fix", diagnostic.remedy());
    return fields;
  }

  /** Returns the file. */
  static EmittedFile file(Map<String, Object> fields) {
    return EmittedFile.text(FILE, DescriptionFile.json(fields));
  }
}
