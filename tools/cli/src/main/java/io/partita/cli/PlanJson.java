package io.partita.cli;

import io.partita.driver.plan.PlanResult;
import io.partita.driver.report.BlockFields;
import io.partita.driver.report.PlanFields;
import io.partita.passes.planning.cost.PlanReport;
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
  private final BlockFields.Planned blocks;

  PlanJson(String model, PlanResult result, BlockFields.Planned blocks) {
    this.blocks = blocks;
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
    json.put("target", PlanFields.target(result.request().target()));
    json.put("minimise", result.request().goal().text());
    json.put("strategy", plan.strategy().toString());
    json.put("sync", result.request().syncs().rules().toString());
    json.put("deviceCount", plan.devices());
    json.put("mesh", PlanFields.mesh(report.mesh()));
    json.putAll(PlanFields.run(report));
    json.put("replication", replication());
    json.put("syncsPerBlock", report.syncsPerBlock());
    json.put("syncs", PlanFields.syncs(PlannedSync.of(plan)));
    json.put("coreBlocks", blocks.loops());
    json.put("shortages", report.shortages().stream().map(PlanFields::shortage).toList());
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

  private Map<String, Object> replication() {
    Replication found = Replication.of(result.module(), plan, result.request().weights());
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
