package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Tests that routes are connected and shortest. */
class TopologyTest {
  private static Topology siracusa(int chips) {
    return Topology.of(TargetLibrary.find("siracusa:chips=" + chips));
  }

  private static List<String> route(Topology topology, int from, int to) {
    return topology.route(from, to).stream().map(Channel::name).toList();
  }

  @Test
  void treesConnectTheFirstDevicesOfGroups() {
    Topology tree = siracusa(64);
    assertThat(route(tree, 5, 4)).containsExactly("mipi 5 -> 4");
    assertThat(route(tree, 5, 2)).containsExactly("mipi 5 -> 4", "mipi 4 -> 0", "mipi 0 -> 2");
    assertThat(tree.route(63, 31)).hasSize(6);
  }

  @Property(seed = "1", tries = 200)
  void routesAreConnected(
      @ForAll @IntRange(min = 1, max = 64) int chips,
      @ForAll @IntRange(max = 63) int a,
      @ForAll @IntRange(max = 63) int b) {
    Topology tree = siracusa(chips);
    int from = a % chips;
    int to = b % chips;
    int at = from;
    for (Channel channel : tree.route(from, to)) {
      assertThat(channel.from()).isEqualTo(at);
      at = channel.to();
    }
    assertThat(at).isEqualTo(to);
    // Three levels of groups of four are 64 chips.
    assertThat(tree.route(from, to)).hasSizeLessThanOrEqualTo(6);
  }

  @Test
  void aSharedMediumIsOneChannel() {
    String text =
        TargetPrinter.print(TargetLibrary.find("wifi-laptops"))
            .replace("connect switch", "connect shared");
    Topology medium = Topology.of(TargetParser.parse(text, "shared.target"));
    assertThat(medium.channels()).hasSize(1);
    assertThat(medium.route(3, 1)).isEqualTo(medium.route(0, 2)).hasSize(1);
  }

  @Test
  void messagesToASwitchShareTheLinkOfTheirSender() {
    Topology laptops = Topology.of(TargetLibrary.find("wifi-laptops"));
    assertThat(laptops.channels()).hasSize(4);
    assertThat(laptops.unreachable()).isEmpty();
    assertThat(route(laptops, 3, 1)).isEqualTo(route(laptops, 3, 2)).containsExactly("wifi 3");
    assertThat(route(laptops, 0, 1)).containsExactly("wifi 0");
    assertThat(laptops.route(1, 1)).isEmpty();
  }
}
