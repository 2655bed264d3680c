package io.partita.passes.planning.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication.Relayout;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.sync.ChooseAlgorithms.Change;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.SyncReport;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests syncs on targets against hand-computed times, and the choice of algorithms. */
class SyncAlgorithmsTest {
  private static SyncAlgorithms on(TargetDescription target) {
    return new SyncAlgorithms(target, 1, PlanOptions.DEFAULT, Goal.LATENCY);
  }

  private static Change change(Layout from, Layout to, ElementType element, long elements) {
    return new Change(from, (Sync) Relayout.of(from, to), TensorType.of(element, elements));
  }

  private static Change allReduce(int devices, long elements) {
    Layout whole = Layout.replicated(Mesh.line("x", devices), 1);
    return change(whole.withPartial("x", ReductionKind.SUM), whole, ElementType.I32, elements);
  }

  /** Returns costs without packing and unpacking. */
  private static double seconds(TargetDescription target, Change change, Algorithm algorithm) {
    return on(target).candidate(change, algorithm).report().syncs().stream()
        .mapToDouble(SyncReport::seconds)
        .sum();
  }

  @Test
  void aTreeOfFourOnTheMachineOfThePaper() {
    TargetDescription siracusa = TargetLibrary.find("siracusa");
    double hop = 2048 / 0.5e9 + 200e-9;
    double exchange = 800 / 500e6;
    double message = 60 / 500e6;
    // A device works for each message that it starts or awaits; receives have been posted before.
    // Up: all members of a group send at once; the head adds three, the first head that of the
    // other one, too.
    double up = message + hop + message + sum(3);
    double across = message + hop + message + sum(4);
    // Down: to the other head, and then to its members, one after the other.
    double down = message + hop + message + 3 * message + hop + message;
    assertThat(seconds(siracusa, allReduce(8, 512), new Algorithm.Tree(4)))
        .isCloseTo(exchange + up + across + down, within(1e-12));
  }

  /** Own and received parts in, the additions of eight cores, the sum out: three transfers. */
  private static double sum(int messages) {
    double in = 23 + (1 + messages) * 2048 / 8.0;
    double out = 23 + 2048 / 7.75;
    return (in + 3 * 140 + 80 + messages * 512 / 3.3 + out) / 500e6;
  }

  @Test
  void flatReductionHasTheContentionThatThePaperAvoids() {
    TargetDescription siracusa = TargetLibrary.find("siracusa:chips=16");
    Change sync = allReduce(16, 2048);
    assertThat(seconds(siracusa, sync, new Algorithm.Tree(16)))
        .isGreaterThan(1.5 * seconds(siracusa, sync, new Algorithm.Tree(4)));
  }

  @ParameterizedTest
  @ValueSource(ints = 8)
  void treesOfFourAreBestForGroupsOfFour(int chips) {
    List<SyncAlgorithms.Candidate> candidates =
        on(TargetLibrary.find("siracusa:chips=" + chips)).candidates(allReduce(chips, 512));
    SyncAlgorithms.Candidate best =
        candidates.stream()
            .filter(each -> each.algorithm() instanceof Algorithm.Tree)
            .min(Comparator.comparingDouble(each -> each.report().seconds()))
            .orElseThrow();
    assertThat(((Algorithm.Tree) best.algorithm()).group()).isEqualTo(4);
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {16, 32})
  void treesOfFourAreBestForMoreGroupsOfFour(int chips) {
    treesOfFourAreBestForGroupsOfFour(chips);
  }

  /** Pieces are on several links at once, and each takes the work of a message. */
  @Tag("thorough")
  @Test
  void longMessagesTravelInPieces() {
    TargetDescription siracusa = TargetLibrary.find("siracusa");
    Change prompt = allReduce(8, 16 * 512);
    Algorithm.Tree best = (Algorithm.Tree) on(siracusa).of(prompt);
    assertThat(best.pieces()).isBetween(4, 16);
    double whole = seconds(siracusa, prompt, new Algorithm.Tree(best.group()));
    assertThat(seconds(siracusa, prompt, best)).isLessThan(0.6 * whole);
    assertThat(seconds(siracusa, prompt, new Algorithm.Tree(best.group(), 256)))
        .isGreaterThan(seconds(siracusa, prompt, best));
    // What takes no longer than the work of messages goes to all chips at once.
    assertThat(on(siracusa).of(allReduce(8, 64))).isEqualTo(new Algorithm.Direct());
  }

  @Test
  void allGathersOverWifiTakeTheTimeOfAShardForEachReceiver() {
    // ASTRA: 1024 tokens of 768 features in f32 on 4 laptops, whose messages share their bandwidth.
    TargetDescription laptops = TargetLibrary.find("wifi-laptops:bandwidth=10Mbps");
    Layout whole = Layout.replicated(Mesh.line("x", 4), 1);
    Layout shards = whole.with(0, Split.even(whole.mesh(), 1024 * 768, "x"));
    Change gather = change(shards, whole, ElementType.F32, 1024 * 768);
    assertThat(seconds(laptops, gather, new Algorithm.Direct()))
        .isCloseTo(3 * 256 * 768 * 4 * 8 / 10e6 + 1e-3, within(1e-9));
    assertThat(on(laptops).of(gather)).isEqualTo(new Algorithm.Direct());
  }
}
