package io.partita.passes.schedule.predict;

import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import io.partita.passes.schedule.predict.ChipRun.MemoryNames;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;

/**
 * Energy of a chip by the formula of the MCU paper's section V-A: the cores while kernels run, and
 * bytes between memories and over links.
 *
 * @param hertz of the cores' clock
 * @param watts of all cores of the chip
 * @param l2L1 joules for a byte between L2 and L1
 * @param l3L2 likewise between L3 and L2
 * @param link likewise from a chip to another, paid by the one that sends
 */
public record EnergyModel(double hertz, double watts, double l2L1, double l3L2, double link) {

  static EnergyModel of(TargetDescription target, ChipKind chip, MemoryNames names) {
    double link =
        Topology.of(target).channels().stream()
            .mapToDouble(channel -> channel.link().joulesPerByte())
            .max()
            .orElse(0);
    return new EnergyModel(
        chip.hertz(),
        chip.cores() * chip.wattsPerCore(),
        joulesPerByte(chip, names.l2(), names.l1()),
        joulesPerByte(chip, names.l3(), names.l2()),
        link);
  }

  private static double joulesPerByte(ChipKind chip, String from, String to) {
    return chip.channel(from, to).map(DmaChannel::joulesPerByte).orElse(0.0);
  }

  /**
   * @param computeCycles in which kernels ran
   */
  public double joules(double computeCycles, Traffic traffic) {
    return computeJoules(computeCycles)
        + traffic.l2L1() * l2L1
        + traffic.l3L2() * l3L2
        + linkJoules(traffic);
  }

  public double computeJoules(double cycles) {
    return cycles / hertz * watts;
  }

  public double linkJoules(Traffic traffic) {
    return traffic.sent() * link;
  }
}
