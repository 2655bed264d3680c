package io.partita.passes.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.BeforeTry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests hand-computed timelines, and invariants of random ones. */
class TimelineTest {
  private static final Resource.Kind L2 = new Resource.Kind("l2");

  private Timeline timeline;
  private int cores;
  private int dma;
  private int link;

  @BeforeEach
  @BeforeTry
  void begin() {
    timeline = new Timeline();
    cores = timeline.resource(new Resource("cores", Resource.Kind.COMPUTE, 0, 0.1, 0));
    dma = timeline.resource(new Resource("dma", L2, 0, 0, 2e-12));
    link = timeline.resource(new Resource("link", Resource.Kind.LINKS, -1, 0, 100e-12));
  }

  @Test
  void doubleBuffering() {
    // Loads of 3 s one after the other; each 2 s of work waits for its load.
    int first = timeline.event(dma, "load 0", 3, 0, 300);
    int second = timeline.event(dma, "load 1", 3, 0, 300);
    int begun = timeline.event(cores, "work 0", 2, 0, 0, first);
    int ended = timeline.event(cores, "work 1", 2, 0, 0, second, begun);
    int sent = timeline.event(link, "send", 1, 0.5, 1000, ended);
    Outcome outcome = timeline.play();
    assertThat(outcome.start(second)).isEqualTo(3);
    assertThat(outcome.start(begun)).isEqualTo(3);
    assertThat(outcome.start(ended)).isEqualTo(6);
    assertThat(outcome.end(sent)).isEqualTo(9.5);
    assertThat(outcome.seconds()).isEqualTo(9.5);
    assertThat(outcome.busySeconds(cores)).isEqualTo(4);
    assertThat(outcome.bytes(dma)).isEqualTo(600);
    assertThat(outcome.bytes(Resource.Kind.LINKS)).isEqualTo(1000);
    assertThat(outcome.criticalPath())
        .extracting(Outcome.Span::label)
        .containsExactly("load 0", "load 1", "work 1", "send");
    assertThat(outcome.breakdown()).isEqualTo(Map.of("l2", 6.0, "compute", 2.0, "links", 1.5));
    // MCU paper, V-A: 1000 B x 100 pJ/B + 0.1 W x 4 s + 600 B x 2 pJ/B
    assertThat(outcome.joules()).isCloseTo(100e-9 + 0.4 + 1.2e-9, within(1e-15));
    assertThat(outcome.joules(L2)).isEqualTo(1.2e-9);
  }

  @Test
  void delaysDoNotOccupyResources() {
    int first = timeline.event(link, "a", 2, 10, 0);
    int second = timeline.event(link, "b", 2, 10, 0);
    Outcome outcome = timeline.play();
    assertThat(outcome.end(first)).isEqualTo(12);
    assertThat(outcome.start(second)).isEqualTo(2);
    assertThat(outcome.end(second)).isEqualTo(14);
    // b waited for the link, not for a's arrival.
    assertThat(outcome.criticalPath()).extracting(Outcome.Span::seconds).containsExactly(2.0, 12.0);
  }

  @Test
  void servesTheEarliestEventFirst() {
    int wait = timeline.event(cores, "wait", 5, 0, 0);
    int late = timeline.event(link, "late", 1, 0, 0, wait);
    int early = timeline.event(link, "early", 9, 0, 0);
    Outcome outcome = timeline.play();
    assertThat(outcome.start(early)).isZero();
    assertThat(outcome.start(late)).isEqualTo(9);
  }

  @Test
  void emptyTimelinesTakeNoTime() {
    assertThat(timeline.play().seconds()).isZero();
    assertThat(timeline.join(timeline.join())).isEqualTo(1);
    assertThat(timeline.play().seconds()).isZero();
    assertThat(timeline.play().criticalPath()).isEmpty();
  }

  @Test
  void rejectsInvalidEvents() {
    assertThatThrownBy(() -> timeline.event(cores, "x", Double.NaN, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> timeline.event(cores, "x", 1, 0, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> timeline.event(9, "x", 1, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Property(seed = "1", tries = 300, shrinking = ShrinkingMode.OFF)
  void randomTimelinesAreConsistent(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] on = {cores, dma, link};
    List<int[]> after = new ArrayList<>();
    List<Integer> where = new ArrayList<>();
    List<Double> lasts = new ArrayList<>();
    for (int event = 0; event < 60; event++) {
      int upTo = event;
      int[] deps =
          IntStream.range(0, random.nextInt(3))
              .filter(i -> upTo > 0)
              .map(i -> random.nextInt(upTo))
              .toArray();
      after.add(deps);
      where.add(on[random.nextInt(3)]);
      lasts.add((double) random.nextInt(4));
      timeline.event(where.get(event), "", lasts.get(event), 0, 1, deps);
    }
    Outcome outcome = timeline.play();
    double path = outcome.breakdown().values().stream().mapToDouble(d -> d).sum();
    assertThat(path).isEqualTo(outcome.seconds());
    for (int event = 0; event < 60; event++) {
      double ready = 0;
      for (int before : after.get(event)) {
        ready = Math.max(ready, outcome.end(before));
      }
      assertThat(outcome.start(event)).isGreaterThanOrEqualTo(ready);
      assertThat(outcome.end(event)).isEqualTo(outcome.start(event) + lasts.get(event));
      requireBusy(outcome, where, event, ready);
    }
  }

  /** Tests that no event waits for a free resource, and that no resource is shared. */
  private static void requireBusy(Outcome outcome, List<Integer> where, int event, double ready) {
    double busyUntil = ready;
    List<Integer> others =
        IntStream.range(0, where.size())
            .filter(other -> other != event && where.get(other).equals(where.get(event)))
            .boxed()
            .sorted(Comparator.comparingDouble(outcome::start).thenComparingDouble(outcome::end))
            .toList();
    for (int other : others) {
      boolean apart =
          outcome.end(other) <= outcome.start(event) || outcome.end(event) <= outcome.start(other);
      assertThat(apart).isTrue();
      if (outcome.start(other) <= busyUntil && outcome.end(other) <= outcome.start(event)) {
        busyUntil = Math.max(busyUntil, outcome.end(other));
      }
    }
    assertThat(outcome.start(event)).isEqualTo(busyUntil);
  }

  @Test
  void playsAHundredThousandEventsInASecond() {
    SplittableRandom random = new SplittableRandom(1);
    List<Integer> on = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      on.add(timeline.resource(new Resource("r" + i, L2, i, 0, 0)));
    }
    for (int event = 0; event < 100_000; event++) {
      int[] after = event < 10 ? new int[0] : new int[] {event - random.nextInt(1, 10), event - 10};
      timeline.event(on.get(random.nextInt(200)), "", random.nextDouble(), 0, 1, after);
    }
    // Time of this thread, so that what else runs on the machine doesn't count.
    var threads = java.lang.management.ManagementFactory.getThreadMXBean();
    long begin = threads.getCurrentThreadCpuTime();
    double seconds = timeline.play().seconds();
    assertThat((threads.getCurrentThreadCpuTime() - begin) / 1e9).isLessThan(1);
    assertThat(timeline.play().seconds()).isEqualTo(seconds);
  }
}
