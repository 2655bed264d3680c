package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TargetChangeTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa:chips=8");

  private static Quantity quantity(String text) {
    return Quantity.parse(text).orElseThrow();
  }

  private static List<String> channels(TargetDescription target) {
    return Topology.of(target).channels().stream().map(Channel::name).toList();
  }

  @Test
  void firstDevicesKeepTheirLinks() {
    for (int chips = 1; chips <= 8; chips++) {
      TargetDescription made = TargetLibrary.find("siracusa:chips=" + chips);
      TargetDescription cut = TargetChange.first(SIRACUSA, chips);
      assertThat(cut.devices()).isEqualTo(made.devices());
      assertThat(channels(cut)).isEqualTo(channels(made));
    }
    assertThatThrownBy(() -> TargetChange.first(SIRACUSA, 9))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void partsOfRingsAreLines() {
    Connection tree = SIRACUSA.connections().getFirst();
    TargetDescription ring =
        new TargetDescription(
            SIRACUSA.name(),
            SIRACUSA.purpose(),
            SIRACUSA.parameters(),
            SIRACUSA.sources(),
            SIRACUSA.chips(),
            SIRACUSA.groups(),
            SIRACUSA.links(),
            List.of(
                new Connection(Connection.Shape.RING, tree.link(), tree.origin(), Figures.NONE)));
    assertThat(channels(ring)).contains("mipi 7 -> 0");
    assertThat(channels(TargetChange.first(ring, 3)))
        .containsExactly("mipi 0 -> 1", "mipi 1 -> 0", "mipi 1 -> 2", "mipi 2 -> 1");
  }

  /** Cores keep their own memory and throughput, and share the same transfers. */
  @Test
  void gridsChangeTheCores() {
    ChipKind whole = TargetLibrary.find("n150").devices().getFirst();
    ChipKind part = TargetChange.onGrid(TargetLibrary.find("n150"), 9, 4).devices().getFirst();
    assertThat(part.cores()).isEqualTo(36);
    assertThat(part.coreRows()).isEqualTo(4);
    assertThat(part.working().bytes()).isEqualTo(whole.working().bytes() / 2);
    assertThat(part.memories().getLast()).isEqualTo(whole.memories().getLast());
    assertThat(part.channels()).isEqualTo(whole.channels());
    KernelThroughput product = whole.kernels().getFirst();
    assertThat(part.kernels().getFirst().figures().number("rate"))
        .isEqualTo(product.figures().number("rate") / 2);
    assertThat(part.kernels().getFirst().figures().number("overhead"))
        .isEqualTo(product.figures().number("overhead"));
  }

  @Test
  void setsParametersAndMemories() {
    Map<String, Quantity> values = new LinkedHashMap<>();
    values.put("l2", quantity("4 MiB"));
    values.put("chips", quantity("2"));
    TargetDescription changed = TargetChange.set(SIRACUSA, values);
    assertThat(changed.deviceCount()).isEqualTo(2);
    assertThat(changed.devices().getFirst().memory("l2").orElseThrow().bytes()).isEqualTo(4 << 20);
    assertThat(changed.devices().getFirst().memory("l1"))
        .isEqualTo(SIRACUSA.devices().getFirst().memory("l1"));
  }

  @Test
  void errorsNameTheParameters() {
    assertThatThrownBy(() -> TargetChange.set(SIRACUSA, Map.of("l4", quantity("1 MiB"))))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining(
            "expected:  one of chips, reserved, l3, matmul, matvec, bandwidth, l1, l2");
    assertThatThrownBy(() -> TargetChange.set(SIRACUSA, Map.of("l2", quantity("3 MHz"))))
        .hasMessageContaining("expected:  a size such as 256KiB");
    assertThatThrownBy(() -> TargetChange.set(SIRACUSA, Map.of("chips", quantity("65"))))
        .hasMessageContaining("expected:  1 to 64");
  }

  @Test
  void findsTheParametersOfSizes() {
    assertThat(TargetChange.deviceParameter(SIRACUSA).map(Parameter::name)).contains("chips");
    ChipKind chip = SIRACUSA.devices().getFirst();
    assertThat(
            TargetChange.memoryParameter(SIRACUSA, chip.memory("l3").orElseThrow())
                .map(Parameter::name))
        .contains("l3");
    assertThat(TargetChange.memoryParameter(SIRACUSA, chip.memory("l2").orElseThrow())).isEmpty();
  }
}
