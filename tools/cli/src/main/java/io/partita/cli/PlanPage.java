package io.partita.cli;

import io.partita.driver.plan.PlanRequest;
import io.partita.driver.plan.PlanResult;
import io.partita.driver.plan.Remedy;
import io.partita.driver.report.BlockFields;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.TargetChange;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.search.Attempt;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.ModelFacts;
import io.partita.passes.planning.search.PlannedSync;
import io.partita.passes.planning.search.Replication;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.stream.Collectors;

/** A plan on one page, of at most 100 columns. */
final class PlanPage {
  static final int WIDTH = 100;
  private static final int MAX_CAUSES = 3;
  private static final int SYNC_WIDTH = 59;
  private static final int MAX_SYNCS = 8;

  private final String model;
  private final PlanResult result;
  private final CandidatePlan plan;
  private final Replication replication;
  private final BlockFields.Planned blocks;
  private final List<String> lines = new ArrayList<>();

  /**
   * @param model the model's name as given by the user
   * @param blocks how cores compute results, if the plan fits
   */
  PlanPage(String model, PlanResult result, BlockFields.Planned blocks) {
    this.blocks = blocks;
    this.model = model;
    this.result = result;
    this.plan = result.search().best();
    this.replication = Replication.of(result.module(), plan, result.request().weights());
  }

  List<String> lines() {
    lines.clear();
    row("model", model());
    row("target", target());
    row("strategy", strategy());
    if (!result.request().syncs().isEmpty()) {
      row("sums", result.request().syncs().rules().toString());
    }
    result
        .request()
        .speculation()
        .ifPresent(options -> row("speculates", options.toString().replace(",", ", ")));
    figures();
    lines.add("");
    lines.addAll(new MemoryTable(plan.report()).lines());
    replication();
    syncs();
    blocks();
    lines.add("");
    lines.addAll(new AttemptTable(result).lines());
    remedies();
    return lines.stream().map(PlanPage::cut).toList();
  }

  private void row(String label, String text) {
    lines.add("%-10s %s".formatted(label, text));
  }

  private static String cut(String line) {
    return line.length() <= WIDTH ? line : line.substring(0, WIDTH - 1) + "…";
  }

  private String model() {
    ModelFacts facts = result.facts();
    List<String> words = new ArrayList<>();
    words.add(facts.blocks() + (facts.blocks() == 1 ? " block" : " blocks"));
    if (facts.heads() > 0) {
      words.add(facts.heads() + " heads");
      if (facts.kvHeads() != facts.heads()) {
        words.add(facts.kvHeads() + " kv heads");
      }
      words.add(facts.tokens() + (facts.tokens() == 1 ? " token" : " tokens") + " a run");
    }
    words.add(Figures.bytes(replication.modelBytes()) + " to store");
    String name = java.nio.file.Path.of(model).getFileName().toString();
    return name + ": " + String.join(", ", words);
  }

  private String target() {
    PlanRequest request = result.request();
    Optional<String> devices = TargetChange.deviceParameter(request.target()).map(Parameter::name);
    List<String> words = new ArrayList<>();
    for (Parameter parameter : request.target().parameters()) {
      boolean isUsual = parameter.value().equals(parameter.standard());
      if (!isUsual || devices.equals(Optional.of(parameter.name()))) {
        words.add(parameter.name() + " " + parameter.value());
      }
    }
    return request.target().name() + (words.isEmpty() ? "" : ": " + String.join(", ", words));
  }

  private String strategy() {
    int devices = plan.devices();
    return "%s on %d %s, %s"
        .formatted(
            plan.strategy(), devices, devices == 1 ? "device" : "devices", plan.report().mesh());
  }

  private void figures() {
    PlanReport report = plan.report();
    if (!plan.fits()) {
      Shortage worst = plan.worst();
      row(
          "NO FIT",
          "device %d lacks %s in %s, needs %s for %s"
              .formatted(
                  worst.device(),
                  Figures.bytes(worst.needed() - worst.available()),
                  worst.memory(),
                  Figures.bytes(worst.needed()),
                  worst.what()));
    }
    row(
        "latency",
        Figures.seconds(report.seconds()) + ": " + parts(report.breakdown(), Figures::seconds));
    report
        .hitSeconds()
        .ifPresent(
            hits -> lines.add(" ".repeat(11) + SpeculateOptions.latency(hits, report.seconds())));
    row(
        "energy",
        Figures.joules(report.totalJoules()) + ": " + parts(report.joules(), Figures::joules));
    if (!report.bytes().isEmpty()) {
      row("traffic", parts(report.bytes(), Figures::bytes));
    }
  }

  /** The contents, largest first. */
  private static <N extends Number & Comparable<N>> String parts(
      SortedMap<String, N> parts, java.util.function.Function<N, String> text) {
    return parts.entrySet().stream()
        .sorted(Map.Entry.<String, N>comparingByValue().reversed())
        .map(part -> part.getKey() + " " + text.apply(part.getValue()))
        .collect(Collectors.joining(", "));
  }

  private void replication() {
    if (plan.devices() == 1) {
      return;
    }
    long added = replication.deviceBytes() - replication.modelBytes();
    if (added <= 0) {
      row("replicated", "nothing");
      return;
    }
    row("replicated", Figures.bytes(added) + " on all devices together:");
    for (Replication.Cause cause :
        replication.causes().subList(0, Math.min(MAX_CAUSES, replication.causes().size()))) {
      lines.add("  %10s %s".formatted(Figures.bytes(cause.addedBytes()), cause(cause)));
    }
    int more = replication.causes().size() - MAX_CAUSES;
    if (more > 0) {
      lines.add("  %10s %d more: see --json".formatted("", more));
    }
  }

  /** {@code linear: 64 of 96.0 MiB, copies along group}. */
  private static String cause(Replication.Cause cause) {
    return "%s: %d of %s%s"
        .formatted(
            cause.what(),
            cause.count(),
            Figures.bytes(cause.wholeBytes()),
            cause.along().isEmpty() ? "" : ", copies along " + String.join(" and ", cause.along()));
  }

  private void syncs() {
    List<PlannedSync> syncs = PlannedSync.of(plan);
    if (syncs.isEmpty()) {
      return;
    }
    lines.add("");
    row(
        "syncs",
        "%d a block, %d in all, %s sent"
            .formatted(
                plan.report().syncsPerBlock(),
                syncs.size(),
                Figures.bytes(syncs.stream().mapToLong(PlannedSync::bytes).sum())));
    SequencedMap<String, List<PlannedSync>> alike = new LinkedHashMap<>();
    for (PlannedSync sync : syncs) {
      alike.computeIfAbsent(what(sync), key -> new ArrayList<>()).add(sync);
    }
    int width =
        alike.entrySet().stream()
            .limit(MAX_SYNCS)
            .mapToInt(group -> (group.getKey() + " " + bytes(group.getValue())).length())
            .reduce(SYNC_WIDTH, Math::max);
    int shown = 0;
    for (Map.Entry<String, List<PlannedSync>> group : alike.entrySet()) {
      if (shown++ == MAX_SYNCS) {
        lines.add("  " + (alike.size() - MAX_SYNCS) + " more kinds of syncs");
        break;
      }
      lines.add(sync(group.getKey(), width, group.getValue()));
    }
  }

  /** How cores compute results, if the plan is scheduled for cores with private memories. */
  private void blocks() {
    if (!blocks.loops().isEmpty()) {
      lines.add("");
      lines.addAll(BlockTable.lines(blocks.loops()));
    }
    blocks
        .failure()
        .ifPresent(
            failure -> {
              lines.add("");
              row("blocks", "none: %s at %s".formatted(failure.code().id(), failure.where()));
            });
  }

  private static String what(PlannedSync sync) {
    String kinds =
        sync.kinds().values().stream()
            .map(SyncKind::text)
            .distinct()
            .map(kind -> kind.replace('_', '-'))
            .collect(Collectors.joining(" and "));
    // Between two devices there is only one algorithm.
    boolean isSend = sync.kinds().values().stream().allMatch(SyncKind.SEND::equals);
    return "%s of %s".formatted(kinds, sync.type()) + (isSend ? "" : " by " + sync.algorithm());
  }

  /**
   * @param width of the name and the bytes, which share the space between them
   */
  private static String sync(String what, int width, List<PlannedSync> alike) {
    PlannedSync first = alike.getFirst();
    String bytes = bytes(alike);
    return "  %3d x %s%s in %3d messages %8s each"
        .formatted(
            alike.size(),
            what,
            " ".repeat(width - what.length() - bytes.length()) + bytes,
            first.messages(),
            Figures.seconds(first.seconds()));
  }

  private static String bytes(List<PlannedSync> alike) {
    return Figures.bytes(alike.getFirst().bytes());
  }

  private void remedies() {
    if (result.fits()) {
      return;
    }
    lines.add("");
    lines.add("makes it fit (each was planned)");
    for (Remedy remedy : result.remedies()) {
      lines.add("  %-50s %s".formatted(remedy.options(), remedy.meaning()));
    }
    if (result.remedies().isEmpty()) {
      lines.add("  none of the tried changes");
    }
  }

  /** {@code 1.6x the time} of the best plan, or {@code 3.2 % more}. */
  static String comparison(Attempt.Fits attempt, CandidatePlan best, Goal goal) {
    return switch (goal) {
      case LATENCY -> more(attempt.seconds() / best.seconds(), "the time");
      case ENERGY -> more(attempt.joules() / best.joules(), "the energy");
    };
  }

  private static String more(double factor, String what) {
    double percent = 100 * (factor - 1);
    if (percent < 0.05) {
      return "as good";
    }
    return percent < 20
        ? String.format(Locale.ROOT, "%.1f %% more", percent)
        : Figures.times(factor) + " " + what;
  }
}
