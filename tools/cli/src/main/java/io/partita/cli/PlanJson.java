package io.partita.cli;

import io.partita.driver.plan.PlanResult;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.cost.DeviceReport;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.search.Attempt;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.PlannedSync;
import io.partita.passes.planning.search.Replication;
import java.util.LinkedHashMap;
import java.util.Map;

/** A plan as JSON: seconds, joules and bytes as plain numbers. */
final class PlanJson {
  private final String model;
  private final PlanResult result;
  private final CandidatePlan plan;
  private final AttemptTable attempts;

  PlanJson(String model, PlanResult result) {
    this.model = model;
    this.result = result;
    this.plan = result.search().best();
    this.attempts = new AttemptTable(result);
  }

  Map<String, Object> object() {
    PlanReport report = plan.report();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("model", model);
    json.put("blocks", result.facts().blocks());
    json.put("heads", result.facts().heads());
    json.put("kvHeads", result.facts().kvHeads());
    json.put("tokens", result.facts().tokens());
    json.put("target", target(result.request().target()));
    json.put("minimise", result.request().goal().text());
    json.put("strategy", plan.strategy().toString());
    json.put("sync", result.request().syncs().rules().toString());
    json.put("deviceCount", plan.devices());
    Map<String, Integer> axes = new LinkedHashMap<>();
    for (MeshAxis axis : report.mesh().axes()) {
      axes.put(axis.name(), axis.size());
    }
    json.put("mesh", axes);
    json.put("fits", plan.fits());
    json.put("seconds", report.seconds());
    json.put("interval", report.interval());
    json.put("breakdown", report.breakdown());
    json.put("joules", report.totalJoules());
    json.put("energy", report.joules());
    json.put("bytes", report.bytes());
    json.put("links", report.links());
    json.put("devices", report.devices().stream().map(PlanJson::device).toList());
    json.put("replication", replication());
    json.put("syncsPerBlock", report.syncsPerBlock());
    json.put("syncs", PlannedSync.of(plan).stream().map(PlanJson::sync).toList());
    json.put("shortages", report.shortages().stream().map(PlanJson::shortage).toList());
    json.put(
        "remedies",
        result.remedies().stream()
            .map(
                remedy -> {
                  Map<String, Object> entry = new LinkedHashMap<>();
                  entry.put("options", remedy.options());
                  entry.put("meaning", remedy.meaning());
                  return entry;
                })
            .toList());
    json.put("tried", result.search().attempts().stream().map(this::attempt).toList());
    json.put("front", result.search().front().stream().map(this::attempt).toList());
    return json;
  }

  private static Map<String, Object> target(TargetDescription target) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", target.name());
    json.put("devices", target.deviceCount());
    Map<String, String> parameters = new LinkedHashMap<>();
    for (Parameter parameter : target.parameters()) {
      parameters.put(parameter.name(), parameter.value().toString());
    }
    json.put("parameters", parameters);
    return json;
  }

  private static Map<String, Object> device(DeviceReport device) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("device", device.device());
    json.put("chip", device.chip());
    json.put("weights", device.weights());
    json.put("weightBytes", device.weightBytes());
    json.put("memories", device.memories().stream().map(PlanJson::memory).toList());
    json.put("biggest", device.biggest().stream().map(PlanJson::resident).toList());
    json.put("computeSeconds", device.computeSeconds());
    json.put("bytes", device.bytes());
    json.put("joules", device.joules());
    return json;
  }

  private static Map<String, Object> memory(MemoryUse memory) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("memory", memory.memory());
    json.put("used", memory.used());
    json.put("available", memory.available());
    Map<String, Long> bytes = new LinkedHashMap<>();
    memory.bytes().forEach((content, number) -> bytes.put(content.text(), number));
    json.put("bytes", bytes);
    return json;
  }

  private static Map<String, Object> resident(Resident resident) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", resident.name());
    json.put("content", resident.content().text());
    json.put("bytes", resident.bytes());
    return json;
  }

  private Map<String, Object> replication() {
    Replication found = Replication.of(result.module(), plan);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("modelBytes", found.modelBytes());
    json.put("deviceBytes", found.deviceBytes());
    json.put(
        "causes",
        found.causes().stream()
            .map(
                cause -> {
                  Map<String, Object> entry = new LinkedHashMap<>();
                  entry.put("what", cause.what());
                  entry.put("along", cause.along());
                  entry.put("count", cause.count());
                  entry.put("wholeBytes", cause.wholeBytes());
                  entry.put("addedBytes", cause.addedBytes());
                  return entry;
                })
            .toList());
    return json;
  }

  private static Map<String, Object> sync(PlannedSync sync) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", sync.name());
    json.put("block", sync.block());
    json.put("type", sync.type().toString());
    Map<String, String> kinds = new LinkedHashMap<>();
    sync.kinds().forEach((axis, kind) -> kinds.put(axis, kind.text().replace('_', '-')));
    json.put("kinds", kinds);
    json.put("algorithm", sync.algorithm());
    json.put("messages", sync.messages());
    json.put("bytes", sync.bytes());
    json.put("seconds", sync.seconds());
    return json;
  }

  private static Map<String, Object> shortage(Shortage shortage) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("device", shortage.device());
    json.put("chip", shortage.chip());
    json.put("memory", shortage.memory());
    json.put("what", shortage.what());
    json.put("needed", shortage.needed());
    json.put("available", shortage.available());
    json.put("biggest", shortage.biggest().stream().map(PlanJson::resident).toList());
    return json;
  }

  private Map<String, Object> attempt(Attempt attempt) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("strategy", attempt.strategy().toString());
    json.put("devices", attempt.strategy().devices());
    json.put("outcome", outcome(attempt));
    if (attempt instanceof Attempt.Fits fits) {
      json.put("seconds", fits.seconds());
      json.put("joules", fits.joules());
      json.put("peakBytes", fits.peakBytes());
    }
    if (!attempt.strategy().equals(plan.strategy())) {
      json.put("reason", attempts.reason(attempt));
    }
    return json;
  }

  private static String outcome(Attempt attempt) {
    return switch (attempt) {
      case Attempt.Fits fits -> "fits";
      case Attempt.DoesNotFit large -> "too-large";
      case Attempt.TooLarge large -> "too-large";
      case Attempt.Bounded bounded -> "bounded";
      case Attempt.NotApplicable other -> "not-applicable";
      case Attempt.Fails fails -> "fails";
    };
  }
}
