package io.partita.passes.cost;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.program.Step;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.collective.Collective;
import io.partita.passes.collective.Schedule;
import io.partita.passes.collective.Schedules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * What it takes to cut a sync in tiles, each of which is on its way while the kernel computes the
 * next one. Smaller tiles overlap more and pay what a message and a kernel cost whatever their size
 * more often.
 */
public final class TiledSyncs {
  private TiledSyncs() {}

  /**
   * @param seconds from the beginning of the kernel until all devices have all
   */
  public record Cut(int tiles, double seconds) {}

  /**
   * The kernel and its sync in {@code tiles} equal tiles: the sync of a tile begins when a device
   * has computed it and is done with the sync of the tile before.
   *
   * @param tileSeconds of the kernel on each device for one of so many tiles
   * @param collective of the whole value; at least as many elements as tiles
   */
  public static Cut cut(
      TargetDescription target,
      Collective collective,
      Algorithm algorithm,
      IntToDoubleFunction tileSeconds,
      int tiles) {
    if (tiles < 1 || tiles > Math.max(1, collective.elements())) {
      throw new IllegalArgumentException(tiles + " tiles of " + collective);
    }
    Placing placing = new Placing(target, collective, tileSeconds.applyAsDouble(tiles));
    for (int tile = 0; tile < tiles; tile++) {
      placing.add(
          Schedules.of(part(collective, tile, tiles), algorithm, placing.timeline.buffer()),
          tile + 1 == tiles);
    }
    return new Cut(tiles, placing.seconds());
  }

  /** Where devices are when some tiles are placed. */
  private static final class Placing {
    private final TargetTimeline timeline;
    private final double tileSeconds;

    /**
     * By device, the kernel's last tile, the one after it if it's placed already, the last sync.
     */
    private final int[] computed;

    private final int[] next;
    private final int[] synced;

    Placing(TargetDescription target, Collective collective, double tileSeconds) {
      this.timeline = new TargetTimeline(target);
      this.tileSeconds = tileSeconds;
      computed = new int[collective.devices()];
      Arrays.setAll(computed, device -> timeline.join());
      synced = computed.clone();
      next = new int[computed.length];
      Arrays.setAll(next, device -> compute(device, computed[device]));
    }

    private int compute(int device, int after) {
      double cycles = tileSeconds * timeline.chip(device).hertz();
      return timeline.compute(device, "tile", cycles, after);
    }

    void add(Schedule schedule, boolean isLast) {
      int[] begin = new int[computed.length];
      boolean[] receives = new boolean[computed.length];
      for (int device = 0; device < computed.length; device++) {
        List<Step> steps = schedule.steps().get(device);
        receives[device] = !steps.isEmpty() && steps.getFirst() instanceof Step.Receive;
        computed[device] = next[device];
        if (!isLast && receives[device]) {
          next[device] = compute(device, computed[device]);
        }
        int after = isLast || !receives[device] ? computed[device] : next[device];
        begin[device] = timeline.join(after, synced[device]);
      }
      int[] done = CollectiveCosts.add(timeline, schedule, begin);
      for (int device = 0; device < computed.length; device++) {
        synced[device] = done[device];
        if (receives[device]) {
          next[device] = timeline.join(next[device], done[device]);
        } else if (!isLast) {
          next[device] = compute(device, computed[device]);
        }
      }
    }

    double seconds() {
      return timeline.play(timeline.join(synced)).seconds();
    }
  }

  /** Each device's part is cut alike. */
  private static Collective part(Collective collective, int tile, int tiles) {
    List<Long> parts = new ArrayList<>();
    for (long part : collective.parts()) {
      parts.add((tile + 1) * part / tiles - tile * part / tiles);
    }
    return new Collective(
        collective.kind(),
        collective.devices(),
        collective.root(),
        parts,
        collective.element(),
        collective.reduction());
  }

  /** The fastest of 1, 2, 4 … {@code most} tiles; of equally fast ones, the fewest. */
  public static Cut best(
      TargetDescription target,
      Collective collective,
      Algorithm algorithm,
      IntToDoubleFunction tileSeconds,
      int most) {
    List<Cut> cuts = new ArrayList<>();
    for (int tiles = 1; tiles <= Math.min(most, Math.max(1, collective.elements())); tiles *= 2) {
      cuts.add(cut(target, collective, algorithm, tileSeconds, tiles));
    }
    return cuts.stream().min(Comparator.comparingDouble(Cut::seconds)).orElseThrow();
  }
}
