package io.partita.backend.java.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Assigns values with disjoint live ranges to shared arrays: the largest value first, to the first
 * array that is free during its live range.
 */
public final class MemoryPlan {
  /**
   * The most arrays tried for a value before it gets a new one; bounds the time for huge graphs.
   */
  private static final int TRIED = 256;

  /**
   * A value's memory request.
   *
   * @param first the step that writes it
   * @param last the last step that reads it
   */
  record Request(Storage storage, int elements, int first, int last) {}

  /** One array. */
  public record Buffer(Storage storage, int index, int elements) {
    /** The name of an array, such as {@code floats0}. */
    public String field() {
      return storage.name().toLowerCase(java.util.Locale.ROOT) + index;
    }
  }

  private record Shared(Buffer buffer, TreeMap<Integer, Integer> busy) {
    boolean isFree(Request request) {
      Map.Entry<Integer, Integer> before = busy.floorEntry(request.last());
      return before == null || before.getValue() < request.first();
    }
  }

  private final Map<Storage, List<Shared>> shared = new EnumMap<>(Storage.class);
  private final List<Buffer> assigned = new ArrayList<>();
  private long liveBytes;

  static MemoryPlan of(List<Request> requests) {
    MemoryPlan plan = new MemoryPlan();
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      order.add(i);
      plan.assigned.add(null);
    }
    order.sort(
        Comparator.<Integer>comparingInt(i -> -requests.get(i).elements())
            .thenComparingInt(i -> i));
    order.forEach(i -> plan.assigned.set(i, plan.place(requests.get(i))));
    plan.liveBytes = largestLive(requests);
    return plan;
  }

  private Buffer place(Request request) {
    List<Shared> candidates = shared.computeIfAbsent(request.storage(), key -> new ArrayList<>());
    for (Shared candidate :
        candidates.subList(Math.max(0, candidates.size() - TRIED), candidates.size())) {
      if (candidate.isFree(request)) {
        candidate.busy().put(request.first(), request.last());
        return candidate.buffer();
      }
    }
    Buffer buffer = new Buffer(request.storage(), candidates.size(), request.elements());
    Shared fresh = new Shared(buffer, new TreeMap<>());
    fresh.busy().put(request.first(), request.last());
    candidates.add(fresh);
    return buffer;
  }

  private static long largestLive(List<Request> requests) {
    TreeMap<Integer, Long> changes = new TreeMap<>();
    for (Request request : requests) {
      long bytes = (long) request.elements() * request.storage().bytes();
      changes.merge(request.first(), bytes, Long::sum);
      changes.merge(request.last() + 1, -bytes, Long::sum);
    }
    long live = 0;
    long largest = 0;
    for (long change : changes.values()) {
      live += change;
      largest = Math.max(largest, live);
    }
    return largest;
  }

  /** The number of values that share an array, one after the other. */
  public int tenants(Buffer buffer) {
    return Math.toIntExact(assigned.stream().filter(buffer::equals).count());
  }

  /** Returns the array of request {@code index}. */
  Buffer buffer(int index) {
    return assigned.get(index);
  }

  /** All arrays. */
  public List<Buffer> buffers() {
    return shared.values().stream().flatMap(List::stream).map(Shared::buffer).toList();
  }

  /** The bytes of all arrays. */
  public long bytes() {
    return buffers().stream().mapToLong(b -> (long) b.elements() * b.storage().bytes()).sum();
  }

  /** The peak live bytes, a lower bound for any plan. */
  public long liveBytes() {
    return liveBytes;
  }
}
