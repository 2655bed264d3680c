package io.partita.ir.schedule;

import io.partita.ir.progress.ProgressListener;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import java.util.List;
import java.util.Set;

/**
 * Verifies schedules independently of how they were made: tiles are inside their tensors and the
 * working memory, each element of a result is stored once, all bytes that are read have been
 * written, live bytes are not overwritten, and each transfer is awaited once and its bytes are not
 * used until then.
 *
 * <p>It relies on {@link ChipSchedule#residences} for the owners of bytes, and doesn't check what
 * kernels compute.
 */
public final class ScheduleVerifier {
  private ScheduleVerifier() {}

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link ScheduleFault}
   */
  public static void verify(Schedule schedule) {
    verify(List.of(schedule), ProgressListener.NONE);
  }

  /**
   * Like {@link #verify(Schedule)}, for several.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link ScheduleFault}
   */
  public static void verify(List<Schedule> schedules, ProgressListener progress) {
    int count = schedules.stream().mapToInt(schedule -> schedule.roles().size()).sum();
    int done = 0;
    for (Schedule schedule : schedules) {
      for (ChipSchedule chip : schedule.roles()) {
        progress.step("verifying schedules", done++, count);
        verify(chip);
      }
      verifyDevices(schedule);
    }
  }

  private static void verifyDevices(Schedule schedule) {
    List<Integer> devices =
        schedule.roles().stream().flatMap(chip -> chip.devices().stream()).toList();
    long all = schedule.program().devices().size();
    ScheduleFault.MEMORY.require(
        devices.stream().distinct().count() == all && devices.size() == all,
        "schedule",
        "each of " + all + " devices in one role",
        devices);
  }

  /**
   * Verifies that the schedules of the entry points of a program may run in any order: each of them
   * begins in the state in which any of them ends. Each must be valid by itself.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link ScheduleFault}
   */
  public static void verifyTogether(List<Schedule> entries) {
    List<ChipSchedule> first = entries.getFirst().roles();
    for (Schedule entry : entries.subList(1, entries.size())) {
      ScheduleFault.MEMORY.require(
          entry.roles().size() == first.size(), "schedule", first.size() + " roles", entry.roles());
      for (int role = 0; role < first.size(); role++) {
        verifyTogether(first.get(role), entry.roles().get(role));
      }
    }
  }

  private static void verifyTogether(ChipSchedule one, ChipSchedule other) {
    String where = "device " + one.devices().getFirst();
    ScheduleFault.MEMORY.require(
        one.devices().equals(other.devices())
            && one.kernels().equals(other.kernels())
            && one.start().equals(other.start()),
        where,
        "the same devices, loops and initial transfers for all entry points",
        "others");
    ScheduleFault.MEMORY.require(
        Set.copyOf(one.states()).equals(Set.copyOf(other.states()))
            && isSame(one.constants(), other.constants()),
        where,
        "the same states and weights for all entry points",
        "others");
    ScheduleFault.TRANSFER.require(
        one.start().stream()
            .noneMatch(
                step ->
                    step instanceof ScheduleStep.StartTransfer
                        || step instanceof ScheduleStep.Preload),
        where,
        "no transfer in flight when a run begins, because a run of any entry point may precede it",
        "one");
  }

  private static boolean isSame(List<StoredConstant> one, List<StoredConstant> other) {
    boolean isSame = one.size() == other.size();
    for (int i = 0; isSame && i < one.size(); i++) {
      StoredConstant mine = one.get(i);
      StoredConstant its = other.get(i);
      isSame =
          mine.at().equals(its.at())
              && mine.bytes() == its.bytes()
              && mine.tensors().size() == its.tensors().size();
      for (int member = 0; isSame && member < mine.tensors().size(); member++) {
        isSame = mine.tensors().get(member) == its.tensors().get(member);
      }
    }
    return isSame;
  }

  private static void verify(ChipSchedule chip) {
    String where = "device " + chip.devices().getFirst();
    for (MemoryUse use : chip.memories()) {
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
    chip.kernels().forEach(kernel -> TileVerifier.verify(kernel, chip.working()));
    MemoryVerifier.verify(chip);
  }
}
