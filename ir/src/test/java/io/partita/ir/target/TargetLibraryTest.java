package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.type.ElementType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that built-in targets match their sources. */
class TargetLibraryTest {
  @Test
  void listsTheFilesOfTheFolder() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("..", "targets"))) {
      assertThat(
              files.map(file -> file.getFileName().toString()).filter(f -> f.endsWith(".target")))
          .containsExactlyInAnyOrderElementsOf(
              TargetLibrary.NAMES.stream().map(name -> name + ".target").toList());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 8, 16, 32, 64})
  void siracusaHasTheRequestedChips(int chips) {
    TargetDescription target = TargetLibrary.find("siracusa:chips=" + chips);
    assertThat(target.devices()).hasSize(chips);
    // A tree has one link less than devices, in both directions.
    assertThat(Topology.of(target).channels()).hasSize(2 * (chips - 1));
  }

  @Test
  void siracusaMatchesThePaper() {
    TargetDescription target = TargetLibrary.find("siracusa");
    ChipKind chip = target.devices().getFirst();
    assertThat(target.deviceCount()).isEqualTo(8);
    assertThat(chip.cores()).isEqualTo(8);
    assertThat(chip.hertz()).isEqualTo(500e6);
    assertThat(chip.wattsPerCore()).isEqualTo(0.013);
    assertThat(chip.working().bytes()).isEqualTo(200 * 1024);
    assertThat(chip.working().address()).hasValue(0x10000000L);
    assertThat(chip.resident().name()).isEqualTo("l2");
    assertThat(chip.resident().bytes()).isEqualTo(2 << 20);
    DmaChannel in = chip.channel("l2", "l1").orElseThrow();
    assertThat(in.cycles(16384, 0)).isEqualTo(23 + 16384 / 8.0);
    assertThat(in.cycles(131072, 0)).isEqualTo(2 * 23 + 131072 / 8.0);
    assertThat(in.joulesPerByte()).isEqualTo(2e-12);
    assertThat(chip.channel("l2", "l3")).isEqualTo(chip.channel("l3", "l2")).isPresent();
    assertThat(chip.channel("l3", "l1")).isEmpty();
    Link link = target.link("mipi").orElseThrow();
    assertThat(link.bytesPerSecond()).isEqualTo(0.5e9);
    assertThat(link.joulesPerByte()).isEqualTo(100e-12);
    KernelThroughput product = chip.throughput(KernelClass.MATMUL, ElementType.I8).orElseThrow();
    // 5 rows take two blocks of 4.
    assertThat(product.cycles(5, 8, 100)).isEqualTo(19 + 8 * 8 * 100 / 19.9);
  }

  @Test
  void bandwidthIsAParameter() {
    TargetDescription target = TargetLibrary.find("wifi-laptops:laptops=6,bandwidth=20Mbps");
    assertThat(target.deviceCount()).isEqualTo(6);
    assertThat(target.link("wifi").orElseThrow().bytesPerSecond()).isEqualTo(2.5e6);
  }

  @Test
  void n150IsAMeshOfTwoRows() {
    Topology mesh = Topology.of(TargetLibrary.find("n150"));
    assertThat(mesh.channels()).hasSize(2 * (6 + 4));
    assertThat(mesh.route(0, 7)).hasSize(4);
    assertThat(mesh.route(3, 4)).hasSize(4);
    assertThat(mesh.route(1, 5)).singleElement().matches(c -> c.link().name().equals("warp"));
  }

  @Test
  void n300HasTwoChipsOfWhichEachIsAsGoodAsItsCores() {
    TargetDescription n300 = TargetLibrary.find("n300");
    assertThat(Topology.of(n300).channels()).hasSize(2);
    ChipKind chip = n300.devices().getFirst();
    ChipKind single = TargetLibrary.find("n150").devices().getFirst();
    double cores = (double) chip.cores() / single.cores();
    for (KernelClass kernels : KernelClass.values()) {
      double rate = chip.throughput(kernels, ElementType.F32).orElseThrow().rate();
      double expected = single.throughput(kernels, ElementType.F32).orElseThrow().rate() * cores;
      assertThat(rate).isCloseTo(expected, org.assertj.core.data.Percentage.withPercentage(1));
    }
  }

  /**
   * Table 3 of the paper on speculation: 95 us for a layer of Llama 3 8B but its attention, on four
   * devices at 1K tokens. The 218 M weights of a layer have 16 bits; each of the two sums is two
   * messages, one after the other.
   */
  @Test
  void layersOnH100TakeThePublishedTime() {
    TargetDescription target = TargetLibrary.find("h100:chips=4");
    ChipKind chip = target.devices().getFirst();
    assertThat(Topology.of(target).route(0, 3)).isNotEmpty();
    double weights = chip.channel("hbm", "l2").orElseThrow().cycles(218_112_000L * 2 / 4, 0);
    KernelThroughput product = chip.throughput(KernelClass.MATVEC, ElementType.BF16).orElseThrow();
    double kernels = 14 * product.cycles(0, 0, 0);
    Link link = target.link("nvlink").orElseThrow();
    double message = link.startupSeconds() + link.latencySeconds() + 8192 / link.bytesPerSecond();
    double seconds = (weights + kernels) / chip.hertz() + 4 * message;
    assertThat(seconds).isCloseTo(95e-6, org.assertj.core.data.Percentage.withPercentage(5));
  }

  @Test
  void filesMayDescribeUnevenDevices(@TempDir Path folder) throws IOException {
    String text =
        TargetPrinter.print(TargetLibrary.find("siracusa"))
            .replace(
                "devices chips of siracusa",
                "chip half like siracusa {\n"
                    + "memory l2 { bytes = 1 MiB from estimate } }\n"
                    + "devices 1 of half from paper\ndevices chips of siracusa");
    Path file = folder.resolve("uneven.target");
    Files.writeString(file, text);
    List<ChipKind> devices = TargetLibrary.find(file + ":chips=2").devices();
    assertThat(devices)
        .extracting(chip -> chip.resident().bytes())
        .containsExactly(1L << 20, 2L << 20, 2L << 20);
    assertThat(devices.getFirst().kernels()).isEqualTo(devices.getLast().kernels());
  }
}
