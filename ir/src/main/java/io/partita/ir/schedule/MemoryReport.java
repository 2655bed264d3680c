package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.List;

/**
 * The use of the home memory of a chip, in bytes.
 *
 * @param used the bytes from offset 0
 * @param atOnce the peak of placed bytes, including prefetched ones; the difference to {@code used}
 *     is lost by fragmentation; {@code used} if placement is unknown
 * @param needed the peak live bytes, a lower bound of any placement
 * @param stays the bytes of weights and states that are resident between runs
 * @param fetched the bytes that are fetched from farther memories in a run, without rows of tables
 * @param spilled the bytes that are written to them in a run
 */
public record MemoryReport(
    long used, long atOnce, long needed, long stays, long fetched, long spilled) {

  /** Returns the report of one chip of a role. */
  public static MemoryReport of(ChipSchedule chip) {
    List<Residence> residences =
        chip.residences().stream().filter(each -> each.at().isHome()).toList();
    long atOnce = residences.isEmpty() ? chip.home().used() : 0;
    for (Residence at : residences) {
      long sum = 0;
      for (Residence other : residences) {
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
