package io.partita.passes.planning.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.planning.residency.Content;
import io.partita.passes.planning.residency.WeightPlace;
import org.junit.jupiter.api.Test;

/** Tests predictions for the MCU paper's models. */
class PlansTest {
  private static final PlanOptions BYTES = PlanOptions.DEFAULT.floats(ElementType.I8);

  private static PlanReport report(PaperModel model, int chips, PlanOptions options) {
    return Plans.report(
        model.program(chips), TargetLibrary.find("siracusa:chips=" + chips), options);
  }

  @Test
  void countsEveryByteOfADevice() {
    PlanReport report = report(PaperModel.tinyLlama(true, 8, 1, 128), 8, BYTES);
    long block = (4L * 512 * 512 + 3L * 512 * 2048) / 8;
    DeviceReport device = report.devices().get(7);
    assertThat(device.weightBytes()).isEqualTo(8 * block);
    assertThat(device.memory("l3").of(Content.WEIGHTS)).isEqualTo(8 * block);
    assertThat(device.memory("l2").of(Content.WEIGHT_BUFFERS)).isEqualTo(2 * block);
    assertThat(device.memory("l2").of(Content.STATES)).isEqualTo(8 * 2 * 128 * 64);
    // Every weight comes from L3 once a run, on every chip.
    assertThat(report.bytes().get("l3")).isEqualTo(8 * 8 * block);
    assertThat(report.fits()).isTrue();
    assertThat(report.blocks()).isEqualTo(8);
    // A sync is a reduce and a broadcast here, of 512 partial sums of 32 bits to and from 7 chips.
    assertThat(report.syncsPerBlock()).isEqualTo(4);
    assertThat(report.syncs()).isNotEmpty().allMatch(sync -> sync.bytes() == 7 * 512 * 4);
    assertThat(report.bytes().get("links")).isEqualTo(8 * 4 * 7 * 512 * 4);
    assertThat(report.breakdown().values().stream().mapToDouble(d -> d).sum())
        .isCloseTo(report.seconds(), within(1e-12));
  }

  @Test
  void prefetchingBlocksBoundsAWholeRun() {
    PlanReport awaiting = report(PaperModel.tinyLlama(true, 8, 1, 128), 8, BYTES);
    PlanReport arrived =
        report(PaperModel.tinyLlama(true, 8, 1, 128), 8, BYTES.awaitsBlocks(false));
    double load = (140 + (4L * 512 * 512 + 3L * 512 * 2048) / 8 / 0.8) / 500e6;
    assertThat(awaiting.interval()).isCloseTo(8 * load, within(1e-12));
    assertThat(awaiting.seconds()).isBetween(7 * load, 8 * load);
    assertThat(arrived.seconds()).isLessThan(awaiting.seconds() / 3);
    assertThat(arrived.totalJoules()).isCloseTo(awaiting.totalJoules(), within(1e-12));
  }

  /** What doesn't fit the L1 of a card comes from DRAM, in the blocks in which it is stored. */
  @Test
  void weightsInBlocksTakeFewerBytesAndLessTime() {
    Program program = PaperModel.tinyLlama(true, 8, 1, 128).program(1);
    TargetDescription card = TargetLibrary.find("n150:chips=1");
    PlanReport plain = Plans.report(program, card, PlanOptions.DEFAULT);
    PlanReport packed = Plans.report(program, card, PlanOptions.DEFAULT.weights(Packing.BF8_B));
    long bytes = plain.devices().getFirst().weightBytes();
    assertThat(packed.devices().getFirst().weightBytes()).isEqualTo(bytes * 17 / 64);
    assertThat(plain.bytes()).containsKey("dram");
    assertThat(packed.bytes().getOrDefault("dram", 0L)).isLessThan(plain.bytes().get("dram"));
    assertThat(packed.seconds()).isLessThan(plain.seconds());
  }

  @Test
  void moreChipsKeepMoreWeightsOnChip() {
    for (int chips : new int[] {1, 2, 4, 8, 16, 32, 64}) {
      String place =
          report(PaperModel.tinyLlama(true, 64, 1, 128), chips, BYTES)
              .devices()
              .getFirst()
              .weights();
      assertThat(place)
          .isEqualTo(
              chips < 8
                  ? WeightPlace.IN_TILES.text()
                  : chips < 32 ? WeightPlace.BLOCK_AHEAD.text() : WeightPlace.ON_CHIP.text());
    }
  }

  @Test
  void refusesTooManyDevices() {
    assertThatThrownBy(
            () ->
                Plans.report(
                    PaperModel.tinyLlama(true, 8, 1, 128).program(8),
                    TargetLibrary.find("siracusa:chips=4"),
                    BYTES))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P4162: a program needs more devices than the target has
              where:     target siracusa
              expected:  at least 8 devices
              found:     4
              fix:       give the target more devices, or ask for fewer""");
  }

  @Test
  void reportsWhatDoesNotFit() {
    PlanReport report =
        Plans.report(
            PaperModel.tinyLlama(true, 8, 1, 128).program(1),
            TargetLibrary.find("siracusa:chips=1,l3=8MiB"),
            BYTES);
    assertThat(report.shortages()).hasSize(1);
    assertThat(report.shortages().getFirst().diagnostic("take more chips").toString())
        .isEqualTo(
            """
            error P4161: a program doesn't fit a device's memory
              where:     device 0 (siracusa), memory l3
              expected:  at most 8388608 B
              found:     33554432 B for all of its data; most is weight4, weights (1048576 B); weight5, weights (1048576 B); weight6, weights (1048576 B); weight11, weights (1048576 B)
              fix:       take more chips""");
  }
}
