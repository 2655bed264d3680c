package io.partita.backend.java.code;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The elements of an exchange's vector that one device ever holds, renumbered without the others.
 */
final class TouchedElements {
  private final Exchange whole;

  /** The new index of each run's first element, by its old index. */
  private final TreeMap<Long, Long> places = new TreeMap<>();

  private final long count;

  TouchedElements(Exchange whole) {
    this.whole = whole;
    List<Slice> slices = new ArrayList<>(whole.before());
    slices.addAll(whole.after());
    whole.steps().forEach(step -> slices.addAll(step.slices()));
    slices.sort(Comparator.comparingLong(Slice::start));
    long end = -1;
    long place = 0;
    for (Slice slice : slices) {
      if (slice.start() > end) {
        places.put(slice.start(), place);
        end = slice.start();
      }
      place += Math.max(0, slice.end() - end);
      end = Math.max(end, slice.end());
    }
    count = place;
  }

  /** Returns the exchange on a vector of only the touched elements. */
  Exchange exchange() {
    return new Exchange(
        whole.sync(),
        count,
        whole.element(),
        moved(whole.before()),
        moved(whole.after()),
        whole.steps().stream().map(this::moved).toList());
  }

  private Step moved(Step step) {
    return switch (step) {
      case Step.Send(int to, List<Slice> slices, long bytes) ->
          new Step.Send(to, moved(slices), bytes);
      case Step.Receive receive ->
          new Step.Receive(
              receive.from(), moved(receive.slices()), receive.bytes(), receive.combine());
    };
  }

  private List<Slice> moved(List<Slice> slices) {
    return slices.stream().map(this::moved).toList();
  }

  private Slice moved(Slice slice) {
    Map.Entry<Long, Long> run = places.floorEntry(slice.start());
    return new Slice(slice.start() - run.getKey() + run.getValue(), slice.size());
  }
}
