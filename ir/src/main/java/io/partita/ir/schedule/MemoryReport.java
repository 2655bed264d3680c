package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;

/**
 * How a chip uses its home memory, in bytes.
 *
 * @param used from offset 0 on
 * @param atOnce the most that lies there at the same step, with what is fetched ahead: the
 *     difference to {@code used} is lost between tensors; {@code used} where nothing says what lies
 *     where
 * @param needed the most that is in use at the same step: what no placement can be below
 * @param stays weights and states that stay from run to run
 * @param fetched from farther memories in a run, without rows of tables
 * @param spilled to them in a run
 */
public record MemoryReport(
    long used, long atOnce, long needed, long stays, long fetched, long spilled) {

  /** Of one chip of a role. */
  public static MemoryReport of(ChipSchedule chip) {
    long atOnce = chip.residences().isEmpty() ? chip.home().used() : 0;
    for (Residence at : chip.residences()) {
      long sum = 0;
      for (Residence other : chip.residences()) {
        sum += other.first() <= at.first() && at.first() <= other.last() ? other.bytes() : 0;
      }
      atOnce = Math.max(atOnce, sum);
    }
    long constants =
        chip.constants().stream()
            .filter(constant -> constant.at().isHome())
            .mapToLong(ChipSchedule.StoredConstant::bytes)
            .sum();
    long states =
        chip.states().stream()
            .filter(state -> state.at().isHome())
            .mapToLong(state -> state.type().bytes())
            .sum();
    return new MemoryReport(
        chip.home().used(),
        atOnce,
        chip.home().needed(),
        constants + states,
        moved(chip, true),
        moved(chip, false));
  }

  private static long moved(ChipSchedule chip, boolean isFetch) {
    return chip.steps().stream()
        .mapToLong(
            step ->
                step instanceof StartTransfer start && start.fetch() == isFetch ? start.bytes() : 0)
        .sum();
  }
}
