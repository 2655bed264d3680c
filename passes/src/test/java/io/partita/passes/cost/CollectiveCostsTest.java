package io.partita.passes.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.collective.Collective;
import io.partita.passes.collective.CollectiveKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Collectives on targets, worked out by hand, and the algorithms that fit them. */
class CollectiveCostsTest {
  private static Collective allReduce(int devices, long elements) {
    return Collective.of(CollectiveKind.ALL_REDUCE, devices, elements, ElementType.I32);
  }

  @Test
  void aTreeOfFourOnTheMachineOfThePaper() {
    TargetDescription siracusa = TargetLibrary.find("siracusa");
    CollectiveCosts.Candidate tree =
        CollectiveCosts.candidate(siracusa, allReduce(8, 512), new Algorithm.Tree(4));
    double hop = 2048 / 0.5e9 + 200e-9;
    // Own and received part in, 1.6 additions a cycle, the sum out.
    double in = (23 + 4096 / 8.0) / 500e6;
    double add = (19 + 512 / 1.6) / 500e6;
    double out = (23 + 2048 / 7.75) / 500e6;
    // A link has room for one message, so that sends don't wait for receives.
    // Up: all members of a group send at once; the head adds three, and then the other head's.
    // Down: to the other head, and then to its members at once.
    assertThat(tree.seconds())
        .isCloseTo(hop + 3 * (in + add + out) + hop + in + add + out + 2 * hop, within(1e-12));
    assertThat(tree.linkBytes()).isEqualTo(14 * 2048);
    double joules =
        14 * 2048 * 100e-12 + 7 * (3 * 2048 * 2e-12 + 8 * 0.013 * (19 + 512 / 1.6) / 500e6);
    assertThat(tree.joules()).isCloseTo(joules, within(1e-15));
  }

  @Test
  void flatReductionMeetsTheContentionThatThePaperAvoids() {
    TargetDescription siracusa = TargetLibrary.find("siracusa:chips=16");
    Collective sync = allReduce(16, 2048);
    double flat = CollectiveCosts.candidate(siracusa, sync, new Algorithm.Tree(16)).seconds();
    double hierarchical =
        CollectiveCosts.candidate(siracusa, sync, new Algorithm.Tree(4)).seconds();
    assertThat(flat).isGreaterThan(1.5 * hierarchical);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 16, 32, 64})
  void groupsOfFourAreTheBestTreesForGroupsOfFour(int chips) {
    TargetDescription siracusa = TargetLibrary.find("siracusa:chips=" + chips);
    List<CollectiveCosts.Candidate> candidates =
        CollectiveCosts.candidates(siracusa, allReduce(chips, 512));
    assertThat(candidates)
        .filteredOn(each -> each.algorithm() instanceof Algorithm.Tree)
        .first()
        .extracting(CollectiveCosts.Candidate::algorithm)
        .isEqualTo(new Algorithm.Tree(4));
  }

  @ParameterizedTest
  @EnumSource(CollectiveKind.class)
  void everyCollectiveHasACostOnEveryTarget(CollectiveKind kind) {
    for (String target :
        List.of("siracusa:chips=7", "wifi-laptops:laptops=3", "n150", "siracusa:chips=1")) {
      TargetDescription description = TargetLibrary.find(target);
      Collective collective = Collective.of(kind, description.deviceCount(), 768, ElementType.F32);
      List<CollectiveCosts.Candidate> candidates =
          CollectiveCosts.candidates(description, collective);
      assertThat(candidates)
          .isSortedAccordingTo(
              java.util.Comparator.comparingDouble(CollectiveCosts.Candidate::seconds));
      assertThat(candidates)
          .allMatch(each -> (each.seconds() > 0) == (description.deviceCount() > 1));
      assertThat(CollectiveCosts.choose(description, collective))
          .isEqualTo(candidates.getFirst().algorithm());
    }
  }

  @Test
  void anAllGatherOverWifiTakesTheTimeOfAShard() {
    // ASTRA: 1024 tokens of 768 features in f32 on 4 laptops; each pair has a link of its own.
    TargetDescription laptops = TargetLibrary.find("wifi-laptops:bandwidth=10Mbps");
    Collective gather = Collective.of(CollectiveKind.ALL_GATHER, 4, 1024 * 768, ElementType.F32);
    CollectiveCosts.Candidate direct =
        CollectiveCosts.candidate(laptops, gather, new Algorithm.Direct());
    assertThat(direct.seconds()).isCloseTo(256 * 768 * 4 * 8 / 10e6 + 1e-3, within(1e-9));
    assertThat(CollectiveCosts.choose(laptops, gather)).isEqualTo(new Algorithm.Direct());
  }
}
