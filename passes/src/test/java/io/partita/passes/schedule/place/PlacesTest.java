package io.partita.passes.schedule.place;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.schedule.place.OffsetPacking.Interval;
import io.partita.passes.schedule.place.WeightRing.Slot;
import io.partita.passes.schedule.place.WeightRing.Unit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private static final TransferTimes TIMES =
      new TransferTimes(
          Collections.nCopies(30, 1000.0), List.of(), Optional.empty(), Optional.empty());

  @Test
  void concurrentIntervalsDoNotOverlap() {
    Random random = new Random(3);
    for (int round = 0; round < 50; round++) {
      List<Interval> intervals = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int first = random.nextInt(30);
        intervals.add(new Interval(8L * (1 + random.nextInt(9)), first, first + random.nextInt(6)));
      }
      OffsetPacking.Packed packed = OffsetPacking.pack(intervals);
      assertThat(packed.bytes()).isGreaterThanOrEqualTo(OffsetPacking.needed(intervals));
      for (int i = 0; i < intervals.size(); i++) {
        for (int j = 0; j < i; j++) {
          long left = packed.offsets().get(i);
          long right = packed.offsets().get(j);
          assertThat(
                  !meet(intervals.get(i), intervals.get(j))
                      || left + intervals.get(i).bytes() <= right
                      || right + intervals.get(j).bytes() <= left)
              .isTrue();
        }
      }
    }
  }

  private static boolean meet(Interval one, Interval other) {
    return one.first() <= other.last() && other.first() <= one.last();
  }

  @Test
  void chainsTakeAtMostTwoNeighbours() {
    List<Interval> chain = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      chain.add(new Interval(64, i, i + 1));
    }
    assertThat(OffsetPacking.pack(chain).bytes()).isEqualTo(128);
    assertThat(OffsetPacking.needed(chain)).isEqualTo(128);
  }

  @Test
  void ringsTakeTheFirstFreeSpace() {
    List<Unit> units =
        List.of(new Unit(40, 0, 0), new Unit(40, 1, 1), new Unit(40, 2, 2), new Unit(80, 3, 3));
    assertThat(WeightRing.place(units, 80).slots())
        .hasValue(List.of(new Slot(0, 0), new Slot(40, 0), new Slot(0, 1), new Slot(0, 3)));
    assertThat(WeightRing.place(units, 79).slots()).isEmpty();
  }

  @Test
  void unitsTakeTheFirstOfTheSlotsThatAreFreeEarliest() {
    Random random = new Random(5);
    for (int round = 0; round < 20; round++) {
      List<Unit> units = new ArrayList<>();
      for (int task = 0; task < 60; task++) {
        units.add(new Unit(1 + random.nextInt(9), task, task + random.nextInt(3)));
      }
      int[] last = new int[64];
      Arrays.fill(last, -1);
      List<Slot> expected = new ArrayList<>();
      int earliest = 0;
      for (Unit unit : units) {
        Slot best = new Slot(0, Integer.MAX_VALUE);
        for (int offset = 0; offset + unit.bytes() <= last.length; offset++) {
          int end = offset + (int) unit.bytes();
          int used = Arrays.stream(last, offset, end).max().getAsInt();
          int free = Math.max(earliest, used + 1);
          best = free < best.free() ? new Slot(offset, free) : best;
        }
        int begin = (int) best.offset();
        for (int at = begin; at < begin + unit.bytes(); at++) {
          last[at] = Math.max(last[at], unit.last());
        }
        earliest = best.free();
        expected.add(best);
      }
      assertThat(WeightRing.place(units, last.length).slots()).hasValue(expected);
    }
  }

  @Test
  void unitsNeededTogetherAreResidentTogether() {
    List<Unit> units = List.of(new Unit(40, 0, 1), new Unit(48, 1, 1));
    assertThat(WeightRing.place(units, 80).slots()).isEmpty();
    assertThat(WeightRing.place(units, 88).slots()).isPresent();
  }

  /** Tests that transfers with the same number don't overlap, and start only when permitted. */
  @Test
  void transfersStartInOrderAndAreAwaitedOnce() {
    for (boolean ahead : List.of(true, false)) {
      TransferQueue queue = TransferQueue.first(ahead, TIMES, 8);
      for (int unit = 0; unit < 30; unit++) {
        queue.fetch(
            Math.max(0, unit - 3),
            unit,
            new Address(2, 10_000_000L * unit),
            0,
            8 + 250_000L * (unit % 7),
            Origin.named("w"));
      }
      Set<Integer> underWay = new HashSet<>();
      long moved = 0;
      for (int task = 0; task < 30; task++) {
        for (ScheduleStep step : queue.before(task)) {
          if (step instanceof StartTransfer start) {
            assertThat(underWay.add(start.transfer())).isTrue();
            assertThat(start.bytes()).isLessThanOrEqualTo(131_071);
            int unit = (int) (start.far().offset() / 10_000_000);
            assertThat(task).isBetween(ahead ? unit - 3 : unit, unit);
            moved += start.bytes();
          } else if (step instanceof WaitTransfer wait) {
            assertThat(underWay.remove(wait.transfer())).isTrue();
          }
        }
        assertThat(underWay.isEmpty()).as("task " + task).isEqualTo(!ahead || task == 29);
      }
      long expected = 0;
      for (int unit = 0; unit < 30; unit++) {
        expected += 8 + 250_000L * (unit % 7);
      }
      assertThat(moved).isEqualTo(expected);
    }
  }

  /**
   * Tests a weight that streams in ten pieces while a task fetches rows: a later piece waits until
   * the fetch of the rows has started.
   */
  @Test
  void rowsWaitForAtMostOnePiece() {
    DmaChannel channel =
        TargetLibrary.find("siracusa").chips().getFirst().channel("l3", "l2").orElseThrow();
    double piece = channel.cycles(131_064, 0);
    int rows = 20;
    TransferTimes times =
        new TransferTimes(
            Collections.nCopies(40, piece / 8),
            List.of(rows),
            Optional.of(channel),
            Optional.of(channel));
    TransferQueue queue = TransferQueue.first(true, times, 8);
    queue.fetch(0, 39, new Address(2, 0), 0, 10 * 131_064, Origin.named("w"));
    List<Integer> starts = new ArrayList<>();
    for (int task = 0; task <= 40; task++) {
      for (ScheduleStep step : queue.before(task)) {
        if (step instanceof StartTransfer) {
          starts.add(task);
        }
      }
    }
    assertThat(starts).hasSize(10);
    assertThat(starts.stream().filter(task -> task <= rows)).hasSize(3);
    assertThat(starts.stream().filter(task -> task == rows + 1)).isNotEmpty();
  }
}
