package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import java.util.ArrayList;
import java.util.List;

/**
 * Works out anew whether a schedule holds together: tiles lie inside their tensors and inside L1,
 * each element of a result is stored once, what is read has been written, nothing is written to
 * what is still needed, and each transfer is awaited once and left alone until then.
 *
 * <p>It trusts {@link ChipSchedule#residences} in what belongs to what, and doesn't know what
 * kernels compute.
 */
public final class ScheduleVerifier {
  private ScheduleVerifier() {}

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link ScheduleFault}
   */
  public static void verify(Schedule schedule) {
    List<Integer> devices = new ArrayList<>();
    for (ChipSchedule chip : schedule.roles()) {
      verify(chip);
      devices.addAll(chip.devices());
    }
    long all = schedule.program().devices().size();
    ScheduleFault.MEMORY.require(
        devices.stream().distinct().count() == all && devices.size() == all,
        "schedule",
        "each of " + all + " devices in one role",
        devices);
  }

  private static void verify(ChipSchedule chip) {
    String where = "device " + chip.devices().getFirst();
    for (MemoryUse use : List.of(chip.l1(), chip.l2(), chip.l3())) {
      ScheduleFault.MEMORY.require(
          use.used() <= use.available() && use.needed() <= use.used(),
          where,
          "at most " + use.available() + " B",
          use);
    }
    for (StoredConstant constant : chip.constants()) {
      ScheduleFault.MEMORY.require(
          constant.tensors().size() == chip.devices().size()
              && constant.tensors().stream()
                  .allMatch(tensor -> tensor.type().bytes() <= constant.bytes()),
          where + ", constant " + constant.name(),
          "a tensor of at most " + constant.bytes() + " B for each device",
          constant.tensors().size() + " tensors");
    }
    chip.kernels().forEach(kernel -> TileVerifier.verify(kernel, chip.l1().used()));
    MemoryVerifier.verify(chip);
  }
}
