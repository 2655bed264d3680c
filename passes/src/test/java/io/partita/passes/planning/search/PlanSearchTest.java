package io.partita.passes.planning.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DeviceGroup;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.planning.cost.PlanOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the search finds the plan of an exhaustive search, and that its bounds hold. */
final class PlanSearchTest {
  /** Sums of doubles in another order. */
  private static final double ROUNDING = 1 + 1e-9;

  private final Graph graph = new DecoderBlocks().build(2);
  private final Module module = new Module(graph);
  private final ModelAnatomy anatomy = ModelAnatomy.of(graph);
  private final ModelFacts facts = ModelFacts.of(graph, anatomy);

  private ProgramPlanner planner(TargetDescription target, Goal goal) {
    return planner(target, Packing.PLAIN, goal);
  }

  private ProgramPlanner planner(TargetDescription target, Packing weights, Goal goal) {
    PlanOptions options = PlanOptions.DEFAULT.weights(weights);
    return new ProgramPlanner(module, target, options, goal, SyncRewrites.NONE);
  }

  private PlanSearch search(TargetDescription target, String strategy, Goal goal) {
    return new PlanSearch(
        graph,
        target,
        Packing.PLAIN,
        StrategyChoice.parse(strategy),
        goal,
        planner(target, goal),
        progress -> {});
  }

  @Test
  void sharesOfTheWorkBeginWithZero() {
    List<Double> shares = new ArrayList<>();
    ProgressListener progress =
        new ProgressListener() {
          @Override
          public void step(String description) {}

          @Override
          public void share(double done) {
            shares.add(done);
          }
        };
    TargetDescription target = TargetLibrary.find("siracusa:chips=4");
    new PlanSearch(
            graph,
            target,
            Packing.PLAIN,
            StrategyChoice.AUTO,
            Goal.LATENCY,
            planner(target, Goal.LATENCY),
            progress)
        .run(List.of(2, 4));
    assertThat(shares).hasSizeGreaterThan(2).startsWith(0.0);
    assertThat(shares.subList(1, shares.size())).allMatch(share -> share > 0 && share < 1);
    assertThat(shares.getLast()).isGreaterThan(shares.get(1));
  }

  private List<Strategy> all(int devices) {
    List<Strategy> all = new ArrayList<>();
    for (Strategy strategy : StrategyChoice.AUTO.compositions(devices)) {
      if (facts.objection(strategy).isEmpty()) {
        all.add(strategy);
        all.addAll(StrategyChoice.AUTO.variants(strategy, facts));
      }
    }
    return all;
  }

  @Test
  void factsMatchTheModel() {
    assertThat(facts).isEqualTo(new ModelFacts(2, 6, 3, 5, false));
  }

  @ParameterizedTest
  @ValueSource(strings = "wifi-laptops:laptops=4")
  void plansAreNotBelowTheirBound(String reference) {
    plansAreNotBelowTheirBound(reference, Packing.PLAIN);
  }

  private void plansAreNotBelowTheirBound(String reference, Packing weights) {
    TargetDescription target = TargetLibrary.find(reference);
    LowerBound bounds = new LowerBound(graph, anatomy, facts, target, weights);
    for (int devices : new TreeSet<>(List.of(1, 2, 4, Math.min(9, target.deviceCount())))) {
      for (Strategy strategy : all(devices)) {
        CandidatePlan plan = planner(target, weights, Goal.LATENCY).plan(strategy);
        LowerBound.Bound bound = bounds.of(strategy);
        assertThat(bound.seconds())
            .as(strategy + " on " + reference)
            .isPositive()
            .isLessThanOrEqualTo(plan.seconds() * ROUNDING);
        assertThat(bound.joules())
            .as(strategy + " on " + reference)
            .isLessThanOrEqualTo(plan.joules() * ROUNDING);
        assertThat(bound.weightBytesPerDevice()).isLessThanOrEqualTo(plan.peakBytes());
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "siracusa:chips=4")
  void plansOfChipsAreNotBelowTheirBound(String reference) {
    plansAreNotBelowTheirBound(reference);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource
  void plansOfCardsAreNotBelowTheirBound(Packing weights) {
    plansAreNotBelowTheirBound("n150", weights);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = {"siracusa:chips=9", "wifi-laptops:laptops=8"})
  void morePlansAreNotBelowTheirBound(String reference) {
    plansAreNotBelowTheirBound(reference);
  }

  @ParameterizedTest
  @ValueSource(strings = "wifi-laptops")
  void findsTheFastestPlan(String reference) {
    findsTheBestPlan(reference, Goal.LATENCY);
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "siracusa")
  void findsTheFastestPlanOfChips(String reference) {
    findsTheFastestPlan(reference);
  }

  @Tag("exhaustive")
  @Test
  void findsThePlanOfTheLeastEnergy() {
    findsTheBestPlan("siracusa", Goal.ENERGY);
  }

  private void findsTheBestPlan(String reference, Goal goal) {
    TargetDescription target = TargetChange.first(TargetLibrary.find(reference), 4);
    ProgramPlanner planner = planner(target, goal);
    double least =
        IntStream.rangeClosed(1, 4)
            .boxed()
            .flatMap(devices -> StrategyChoice.AUTO.compositions(devices).stream())
            .filter(strategy -> facts.objection(strategy).isEmpty())
            .map(planner::plan)
            .mapToDouble(plan -> goal.of(plan.seconds(), plan.joules()))
            .min()
            .orElseThrow();
    SearchResult found = search(target, "auto", goal).run(PlanSearch.deviceCounts(4));
    CandidatePlan best = found.best();
    assertThat(goal.of(best.seconds(), best.joules())).isLessThanOrEqualTo(least);
    // A message over Wi-Fi takes longer than the whole model.
    assertThat(found.attempts().stream().anyMatch(Attempt.Bounded.class::isInstance))
        .isEqualTo(reference.equals("wifi-laptops"));
  }

  @Tag("thorough")
  @Test
  void reportsWhyAStrategyIsInapplicable() {
    TargetDescription target = TargetLibrary.find("siracusa:chips=8");
    assertThat(search(target, "auto", Goal.LATENCY).run(List.of(8)).attempts())
        .filteredOn(Attempt.NotApplicable.class::isInstance)
        .extracting(Object::toString)
        .containsExactlyInAnyOrder(
            "NotApplicable[strategy=pipeline=8, reason=the model has 2 blocks]",
            "NotApplicable[strategy=pipeline=4,tensor=2, reason=the model has 2 blocks]",
            "NotApplicable[strategy=pipeline=4,sequence=2, reason=the model has 2 blocks]",
            "NotApplicable[strategy=sequence=8, reason=a run has 5 tokens]");
    assertThatThrownBy(() -> search(target, "sequence", Goal.LATENCY).run(List.of(7, 8)))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4302")
        .hasMessageContaining("sequence=7: a run has 5 tokens; sequence=8: a run has 5 tokens");
  }

  @Test
  void givenOptionsAreKept() {
    TargetDescription target = TargetLibrary.find("siracusa:chips=2");
    assertThat(
            search(target, "tensor=2,norm=root,vocabulary=split", Goal.LATENCY)
                .run(List.of(2))
                .attempts())
        .singleElement()
        .extracting(attempt -> attempt.strategy().toString())
        .isEqualTo("tensor=2,norm=root");
  }

  /** Returns two chips with 64 MiB of external memory, and two with 1 MiB. */
  private static TargetDescription uneven() {
    TargetDescription large = TargetLibrary.find("siracusa:chips=2");
    ChipKind small = TargetLibrary.find("siracusa:chips=2,l3=1MiB").chips().getFirst();
    ChipKind renamed =
        new ChipKind("small", small.figures(), small.memories(), small.channels(), small.kernels());
    DeviceGroup group = large.groups().getFirst();
    return new TargetDescription(
        "uneven",
        large.purpose(),
        List.of(),
        large.sources(),
        List.of(large.chips().getFirst(), renamed),
        List.of(group, new DeviceGroup("small", group.figures())),
        large.links(),
        large.connections());
  }

  @Test
  void differentDevicesMayHoldDifferentParts() {
    List<Attempt> attempts = search(uneven(), "tensor", Goal.LATENCY).run(List.of(2, 4)).attempts();
    assertThat(attempts)
        .extracting(attempt -> attempt.strategy().toString())
        .contains("tensor=2", "tensor=4", "tensor=4,capacities=66:66:3:3")
        .noneMatch(strategy -> strategy.startsWith("tensor=2,capacities"));
    assertThat(attempts).filteredOn(Attempt.Fits.class::isInstance).isNotEmpty();
  }

  @Test
  void theSmallestShortageIsKeptIfNothingFits() {
    TargetDescription target =
        TargetChange.set(
            TargetLibrary.find("siracusa:chips=2,l3=1MiB"),
            Map.of("l1", Quantity.parse("64 B").orElseThrow()));
    PlanSearch search = search(target, "tensor", Goal.LATENCY);
    SearchResult found = search.run(List.of(2));
    assertThat(found.best().fits()).isFalse();
    assertThat(found.best().worst().memory()).isEqualTo("l1");
    assertThat(found.front()).isEmpty();
    assertThat(search(target, "tensor", Goal.LATENCY).firstFit(List.of(2)))
        .isEqualTo(Optional.empty());
  }

  @Test
  void triesAllSmallAndSomeLargeNumbersOfDevices() {
    assertThat(PlanSearch.deviceCounts(1)).containsExactly(1);
    assertThat(PlanSearch.deviceCounts(7)).containsExactly(1, 2, 3, 4, 5, 6, 7);
    assertThat(PlanSearch.deviceCounts(64))
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64);
  }

  @Test
  void parsesStrategyChoices() {
    assertThat(StrategyChoice.parse("tensor").compositions(6)).containsExactly(Strategy.tensor(6));
    assertThat(StrategyChoice.parse("pipeline,tensor").compositions(4))
        .extracting(Strategy::toString)
        .containsExactly("tensor=4", "pipeline=4", "pipeline=2,tensor=2");
    assertThat(StrategyChoice.parse("pipeline=2,tensor=2").compositions(4))
        .extracting(Strategy::toString)
        .containsExactly("pipeline=2,tensor=2");
    assertThat(StrategyChoice.parse("tensor=4").compositions(2)).isEmpty();
    assertThat(StrategyChoice.AUTO.compositions(1)).hasSize(1);
    assertThatThrownBy(() -> StrategyChoice.parse("tensor,norm=root"))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4201");
  }
}
