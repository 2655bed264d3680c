package io.partita.passes.schedule.place;

import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.place.Lifetimes.Span;
import io.partita.passes.schedule.place.OffsetPacking.Interval;
import io.partita.passes.schedule.place.OffsetPacking.Packed;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Assigns addresses to the regions of a chip. The home memory holds, from offset 0: resident
 * constants, resident states, activations, and a ring for regions that are streamed from a farther
 * memory. What a run changes of streamed states is written back.
 */
public final class Placement {
  /** The least alignment: the control core reads i64 values from the home memory. */
  private static final long LEAST_UNIT = 8;

  /**
   * Smaller constants, such as those of norms, stay in the home memory: they would fill the
   * transfer queue.
   */
  public static final long MIN_STREAMED = 8192;

  /**
   * The tasks of one entry point.
   *
   * @param given regions that a caller writes before a run
   * @param kept regions that a caller reads after a run
   */
  public record Run(List<Task> tasks, List<Region> given, List<Region> kept, TransferTimes times) {
    public Run {
      tasks = List.copyOf(tasks);
      given = List.copyOf(given);
      kept = List.copyOf(kept);
    }
  }

  /** The live ranges of one run. */
  private static final class Living {
    private final Run run;
    private final SequencedMap<Region, Span> spans;
    private final StateChanges changes;
    private final List<Region> moving;
    private final Packed packed;
    private final long unit;

    Living(Run run, MemoryUse far, long unit) {
      this.run = run;
      this.unit = unit;
      changes = new StateChanges(run.tasks, run.times, far.alignment());
      spans = new Lifetimes(run.tasks, run.given, run.kept, changes).spans();
      moving =
          spans.keySet().stream()
              .filter(region -> region.kind() == Region.Kind.ACTIVATION)
              .toList();
      packed = OffsetPacking.pack(intervals(moving));
    }

    List<Interval> intervals(List<Region> regions) {
      return regions.stream()
          .map(
              region ->
                  new Interval(
                      aligned(region.bytes(), unit),
                      spans.get(region).first(),
                      spans.get(region).last()))
          .toList();
    }
  }

  private final List<Living> runs;
  private final MemoryUse home;
  private final MemoryUse farther;
  private final boolean prefetch;
  private final long unit;
  private final List<Region> large;
  private final long room;

  private Placement(List<Living> runs, MemoryUse home, MemoryUse farther, boolean prefetch) {
    this.runs = runs;
    this.home = home;
    this.farther = farther;
    this.prefetch = prefetch;
    this.unit = unit(home, farther);
    Map<Boolean, List<Region>> bySize =
        regions(region -> region.kind() != Region.Kind.ACTIVATION).stream()
            .collect(Collectors.partitioningBy(Placement::isLarge));
    large = bySize.get(true);
    long small =
        bySize.get(false).stream().mapToLong(region -> aligned(region.bytes(), unit)).sum();
    long moving = runs.stream().mapToLong(living -> living.packed.bytes()).max().orElse(0);
    room = home.available() - small - moving;
  }

  /**
   * Returns the fastest of the placements that are tried. With several entry points, runs may
   * follow each other in any order: persistent regions have the same addresses in all of them, and
   * no transfer is in flight when a run begins.
   *
   * @param entries the entry points, each of which may run at any time
   * @param outside constants that belong to no block
   * @param home the memory that holds tensors while they are used; it is empty
   * @param far the memory from which weights and states are streamed; its size is 0 if there is
   *     none
   * @param prefetch whether weights are fetched before their first use
   * @param leastTraffic whether the placement that moves the fewest bytes is chosen instead
   * @return a placement, which may use more of a memory than there is
   */
  public static PlacedRuns of(
      List<Run> entries,
      Set<Region> outside,
      MemoryUse home,
      MemoryUse far,
      boolean prefetch,
      boolean leastTraffic) {
    List<Living> runs = entries.stream().map(run -> new Living(run, far, unit(home, far))).toList();
    Placement placement = new Placement(runs, home, far, prefetch);
    PlacedRuns resident = placement.place(Set.of());
    if (far.available() == 0
        || resident.runs().stream().allMatch(each -> each.homeUse().used() <= home.available())) {
      return resident;
    }
    List<Set<Region>> withLittleRing =
        Residency.ofLeastTraffic(placement.large, outside, placement.room, placement.unit);
    if (leastTraffic) {
      return placement.best(withLittleRing, true);
    }
    PlacedRuns fastest =
        placement.best(
            Residency.choices(placement.large, outside, placement.room, placement.unit), false);
    if (fastest.fits()) {
      return fastest;
    }
    // What has no room in the farther memory may have some beside a little ring.
    PlacedRuns little = placement.best(withLittleRing, false);
    return little.isBetterThan(fastest, false) ? little : fastest;
  }

  private PlacedRuns best(List<Set<Region>> choices, boolean leastTraffic) {
    PlacedRuns best = null;
    for (Set<Region> streamed : choices) {
      PlacedRuns places = place(streamed);
      best = best == null || places.isBetterThan(best, leastTraffic) ? places : best;
    }
    return best;
  }

  /** Whether a weight or state may be streamed; several small constants may not. */
  static boolean isLarge(Region region) {
    return region.kind() != Region.Kind.ACTIVATION
        && region.parts().size() == 1
        && region.bytes() >= MIN_STREAMED;
  }

  /** Returns regions in the order of first use, by the first entry point that uses them. */
  private List<Region> regions(Predicate<Region> which) {
    return runs.stream()
        .flatMap(living -> living.spans.keySet().stream())
        .distinct()
        .filter(which)
        .toList();
  }

  /** Returns the unit of addresses and sizes of regions in both memories, in bytes. */
  public static long unit(MemoryUse home, MemoryUse far) {
    return Math.max(LEAST_UNIT, Math.max(home.alignment(), far.alignment()));
  }

  /** Returns the size of a region, rounded up to whole units. */
  public static long aligned(long bytes, long unit) {
    return Math.ceilDiv(bytes, unit) * unit;
  }

  private PlacedRuns place(Set<Region> isStreamed) {
    SequencedMap<Region, Long> staying = new LinkedHashMap<>();
    long end = 0;
    for (Region.Kind kind : List.of(Region.Kind.CONSTANT, Region.Kind.STATE)) {
      for (Region region : regions(each -> each.kind() == kind && !isStreamed.contains(each))) {
        staying.put(region, end);
        end += aligned(region.bytes(), unit);
      }
    }
    List<Region> streamed = regions(isStreamed::contains);
    SequencedMap<Region, Long> far = tables();
    for (Region.Kind kind : List.of(Region.Kind.CONSTANT, Region.Kind.STATE)) {
      streamed.stream()
          .filter(region -> region.kind() == kind && !far.containsKey(region))
          .forEach(region -> far.put(region, end(far)));
    }
    List<Places> places = new ArrayList<>();
    for (Living living : runs) {
      SequencedMap<Region, Long> near = new LinkedHashMap<>(staying);
      for (int i = 0; i < living.moving.size(); i++) {
        near.put(living.moving.get(i), end + living.packed.offsets().get(i));
      }
      places.add(pass(living, near, far, streamed, end));
    }
    return new PlacedRuns(places);
  }

  private long end(SequencedMap<Region, Long> far) {
    return far.isEmpty()
        ? 0
        : far.lastEntry().getValue() + aligned(far.lastEntry().getKey().bytes(), unit);
  }

  /**
   * @param near receives the addresses of streamed regions
   * @param end the end of resident regions
   */
  private Places pass(
      Living living,
      SequencedMap<Region, Long> near,
      SequencedMap<Region, Long> far,
      List<Region> streamed,
      long end) {
    List<Region> own = streamed.stream().filter(living.spans::containsKey).toList();
    List<Interval> intervals = new ArrayList<>(living.intervals(living.moving));
    intervals.addAll(living.intervals(own));
    long needed = end + OffsetPacking.needed(intervals);
    long start = end + living.packed.bytes();
    TransferTimes times = living.run.times;
    StreamedRegions passing =
        new StreamedRegions(
            own.stream()
                .map(
                    region ->
                        StreamedRegions.One.of(
                            region,
                            living.spans.get(region),
                            living.changes.of(region, near),
                            unit))
                .toList(),
            home.available() - start,
            runs.size() == 1);
    for (int i = 0; i < own.size() && passing.fits(); i++) {
      near.put(own.get(i), start + passing.offset(i));
    }
    TransferQueue first = passing.queue(start, far, TransferQueue.first(prefetch, times, unit));
    steps(living, first);
    TransferQueue queue = passing.queue(start, far, first.next());
    List<List<ScheduleStep>> before = steps(living, queue);
    long used = start + passing.bytes();
    boolean fits = used <= home.available() && end(far) <= farther.available();
    return new Places(
        near,
        far,
        streamed,
        queue.start(),
        before,
        home.with(used, needed),
        farther.with(end(far), end(far)),
        fits,
        room,
        traffic(before),
        queue.cycles(),
        fits ? List.of() : peak(living, Set.copyOf(streamed)));
  }

  private static long traffic(List<List<ScheduleStep>> steps) {
    return steps.stream()
        .flatMap(List::stream)
        .mapToLong(step -> step instanceof ScheduleStep.StartTransfer start ? start.bytes() : 0)
        .sum();
  }

  private static List<List<ScheduleStep>> steps(Living living, TransferQueue queue) {
    return IntStream.rangeClosed(0, living.run.tasks.size()).mapToObj(queue::before).toList();
  }

  /** Returns the regions that are live at the peak, the largest first. */
  private List<Region> peak(Living living, Set<Region> streamed) {
    List<Region> staying =
        regions(each -> each.kind() != Region.Kind.ACTIVATION && !streamed.contains(each));
    Map<Region, Span> moving = new LinkedHashMap<>(living.spans);
    moving
        .keySet()
        .removeIf(each -> each.kind() != Region.Kind.ACTIVATION && !streamed.contains(each));
    NavigableMap<Integer, Long> sums =
        OffsetPacking.sums(
            moving.entrySet().stream()
                .map(
                    each ->
                        new Interval(
                            each.getKey().bytes(), each.getValue().first(), each.getValue().last()))
                .toList());
    int most = 0;
    long mostBytes = -1;
    for (Span at : living.spans.values()) {
      Map.Entry<Integer, Long> sum = sums.floorEntry(at.first());
      long bytes = sum == null ? 0 : sum.getValue();
      if (bytes > mostBytes) {
        mostBytes = bytes;
        most = at.first();
      }
    }
    int when = most;
    Stream<Region> alive =
        moving.keySet().stream()
            .filter(each -> moving.get(each).first() <= when && when <= moving.get(each).last());
    return Stream.concat(staying.stream(), alive)
        .sorted(Comparator.comparingLong(Region::bytes).reversed())
        .toList();
  }

  /** Returns the tables from which rows are fetched. */
  private SequencedMap<Region, Long> tables() {
    SequencedMap<Region, Long> tables = new LinkedHashMap<>();
    long end = 0;
    for (Living living : runs) {
      for (Task task : living.run.tasks) {
        if (task instanceof Task.Rows rows && !tables.containsKey(rows.table())) {
          tables.put(rows.table(), end);
          end += aligned(rows.table().bytes(), unit);
        }
      }
    }
    return tables;
  }
}
