package io.partita.passes.schedule.predict;

import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;

/**
 * Energy of a chip by the formula of the MCU paper's section V-A: the cores while kernels run, and
 * bytes between memories and over links.
 *
 * @param hertz of the cores' clock
 * @param watts of all cores of the chip
 * @param homeWorking joules for a byte between the home and the working memory
 * @param farHome likewise between the far and the home memory
 * @param link likewise from a chip to another, paid by the one that sends
 */
public record EnergyModel(
    double hertz, double watts, double homeWorking, double farHome, double link) {

  static EnergyModel of(TargetDescription target, ChipKind chip, MemoryNames names) {
    double link =
        Topology.of(target).channels().stream()
            .mapToDouble(channel -> channel.link().joulesPerByte())
            .max()
            .orElse(0);
    return new EnergyModel(
        chip.hertz(),
        chip.cores() * chip.wattsPerCore(),
        joulesPerByte(chip, names.home(), names.working()),
        joulesPerByte(chip, names.far(), names.home()),
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
        + traffic.homeWorking() * homeWorking
        + traffic.farHome() * farHome
        + linkJoules(traffic);
  }

  public double computeJoules(double cycles) {
    return cycles / hertz * watts;
  }

  public double linkJoules(Traffic traffic) {
    return traffic.sent() * link;
  }
}
