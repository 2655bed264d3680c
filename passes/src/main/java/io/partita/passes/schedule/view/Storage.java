package io.partita.passes.schedule.view;

import io.partita.ir.graph.Value;
import io.partita.ir.schedule.Packing;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.lower.TensorView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The strided layout of the elements of a value in a region.
 *
 * @param packing how elements are stored
 * @param offset of the first element, in elements
 * @param shape static extents
 * @param strides distance of consecutive indices, in elements; for an extent of 1, as if the
 *     dimension were contiguous with the inner ones
 */
public record Storage(
    Region region,
    ElementType element,
    Packing packing,
    long offset,
    List<Long> shape,
    List<Long> strides) {
  public Storage {
    shape = List.copyOf(shape);
    strides = canonical(shape, strides);
  }

  /** Creates the storage of elements that are one after the other. */
  public Storage(
      Region region, ElementType element, long offset, List<Long> shape, List<Long> strides) {
    this(region, element, Packing.PLAIN, offset, shape, strides);
  }

  private static List<Long> canonical(List<Long> shape, List<Long> strides) {
    Long[] changed = strides.toArray(Long[]::new);
    long within = 1;
    for (int i = changed.length - 1; i >= 0; i--) {
      if (shape.get(i) == 1) {
        changed[i] = within;
      }
      within = changed[i] * shape.get(i);
    }
    return List.of(changed);
  }

  /** Returns the storage of a value that fills a region without gaps. */
  public static Storage whole(Region region, TensorType type) {
    return new Storage(
        region, type.element(), 0, boxed(type.shape().extents()), boxed(type.shape().strides()));
  }

  /** Returns the storage of an activation in a region of its own. */
  public static Storage fresh(Value value, StoredTypes types) {
    TensorType type = types.type(value);
    return whole(Region.activation(value.origin(), type.bytes()), type);
  }

  private static List<Long> boxed(long[] values) {
    List<Long> boxed = new ArrayList<>();
    for (long value : values) {
      boxed.add(value);
    }
    return boxed;
  }

  /** Returns the same bits as elements of another type of equal width. */
  Storage as(ElementType type) {
    return new Storage(region, type, packing, offset, shape, strides);
  }

  /**
   * Returns the same bytes as fewer, wider elements.
   *
   * @return none if lines don't consist of whole such elements at multiples of their width
   */
  public Optional<Storage> inElements(ElementType wide) {
    int factor = wide.bits() / element.bits();
    int last = shape.size() - 1;
    boolean isWhole =
        factor > 1
            && element.bits() >= Byte.SIZE
            && last >= 0
            && strides.get(last) == 1
            && shape.get(last) % factor == 0
            && offset % factor == 0
            && strides.subList(0, last).stream().allMatch(stride -> stride % factor == 0);
    if (!isWhole) {
      return Optional.empty();
    }
    List<Long> extents = new ArrayList<>(shape);
    extents.set(last, shape.get(last) / factor);
    List<Long> steps = new ArrayList<>(strides.stream().map(stride -> stride / factor).toList());
    steps.set(last, 1L);
    return Optional.of(new Storage(region, wide, offset / factor, extents, steps));
  }

  public long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }

  /** Returns whether elements are contiguous in row-major order. */
  public boolean isContiguous() {
    long within = 1;
    for (int i = shape.size() - 1; i >= 0; i--) {
      if (strides.get(i) != within && shape.get(i) != 1) {
        return false;
      }
      within *= shape.get(i);
    }
    return true;
  }

  /**
   * Returns whether loops can access it: elements have whole bytes and are adjacent along the last
   * dimension.
   */
  public boolean isRegular() {
    return isContiguous()
        || element.bits() >= Byte.SIZE && (shape.isEmpty() || strides.getLast() == 1);
  }

  /** Returns whether elements are adjacent along the last dimension but one, and not the last. */
  public boolean hasContiguousColumns() {
    int last = shape.size() - 1;
    return last > 0 && strides.get(last - 1) == 1 && strides.get(last) != 1;
  }

  /** Returns whether no two elements share an address. */
  public boolean isWritable() {
    for (int i = 0; i < shape.size(); i++) {
      if (strides.get(i) == 0) {
        return false;
      }
    }
    return isRegular();
  }

  public TensorType type() {
    return new TensorType(element, Shape.of(shape.stream().mapToLong(Long::longValue).toArray()));
  }

  /** Returns whether it covers all bytes of a constant. */
  public boolean isWholeConstant() {
    return region.kind() == Region.Kind.CONSTANT
        && isContiguous()
        && packing.bytes(element, elements()) == region.bytes();
  }

  public TensorView view() {
    return new TensorView(element, packing, shape, strides);
  }

  /** Returns the offset of the first element, in bytes from the start of the region. */
  public long byteOffset() {
    return packing.bytes(element, offset);
  }

  /** Returns the bytes from the first to the last element, if no stride is negative. */
  public long spannedBytes() {
    long last = 0;
    for (int i = 0; i < shape.size(); i++) {
      last += strides.get(i) * (shape.get(i) - 1);
    }
    return packing.bytes(element, last + 1);
  }

  /** Result dimension i is dimension {@code permutation[i]}. */
  public Storage transposed(List<Integer> permutation) {
    return new Storage(
        region,
        element,
        packing,
        offset,
        permutation.stream().map(shape::get).toList(),
        permutation.stream().map(strides::get).toList());
  }

  /** The storage of which {@link #transposed} gives this one. */
  public Storage untransposed(List<Integer> permutation) {
    List<Integer> inverse = new ArrayList<>(Collections.nCopies(permutation.size(), 0));
    for (int i = 0; i < permutation.size(); i++) {
      inverse.set(permutation.get(i), i);
    }
    return transposed(inverse);
  }

  public Storage sliced(List<Long> starts, List<Long> sizes, List<Long> steps) {
    long first = offset;
    List<Long> changed = new ArrayList<>();
    for (int i = 0; i < shape.size(); i++) {
      first += starts.get(i) * strides.get(i);
      changed.add(steps.get(i) * strides.get(i));
    }
    return new Storage(region, element, packing, first, sizes, changed);
  }

  /** Returns the part from index {@code start} on, along one dimension. */
  public Storage part(int axis, long start, long size) {
    List<Long> starts = new ArrayList<>(Collections.nCopies(shape.size(), 0L));
    List<Long> sizes = new ArrayList<>(shape);
    starts.set(axis, start);
    sizes.set(axis, size);
    return sliced(starts, sizes, Collections.nCopies(shape.size(), 1L));
  }

  /** Broadcasts by NumPy's rule: stretches extents of 1 and adds outer dimensions. */
  public Storage broadcast(List<Long> to) {
    List<Long> changed = new ArrayList<>();
    int added = to.size() - shape.size();
    for (int i = 0; i < to.size(); i++) {
      boolean expanded = i < added || shape.get(i - added) == 1 && to.get(i) != 1;
      changed.add(expanded ? 0L : strides.get(i - added));
    }
    return new Storage(region, element, packing, offset, to, changed);
  }

  /** Returns the elements in row-major order with another shape; none if that takes a copy. */
  public Optional<Storage> reshaped(List<Long> to) {
    if (elements() == 0) {
      return Optional.of(
          new Storage(region, element, packing, offset, to, Collections.nCopies(to.size(), 1L)));
    }
    List<Run> runs = runs();
    Long[] changed = new Long[to.size()];
    int next = 0;
    long left = 1;
    long stride = 1;
    for (int i = to.size() - 1; i >= 0; i--) {
      long extent = to.get(i);
      changed[i] = 1L;
      if (extent == 1) {
        continue;
      }
      if (left == 1) {
        left = runs.get(next).extent;
        stride = runs.get(next++).stride;
      }
      if (left % extent != 0) {
        return Optional.empty();
      }
      changed[i] = stride;
      stride *= extent;
      left /= extent;
    }
    return Optional.of(new Storage(region, element, packing, offset, to, List.of(changed)));
  }

  /**
   * Lines of contiguous elements.
   *
   * @param elements of a line; all elements if they are contiguous
   * @param stride from one line to the next, in elements
   */
  public record Lines(long elements, long stride) {}

  /** Returns its lines; empty if they aren't equally far apart. */
  public Optional<Lines> lines() {
    List<Run> runs = runs();
    if (runs.size() <= 1 && isContiguous()) {
      return Optional.of(new Lines(elements(), elements()));
    }
    return runs.size() == 2 && runs.getFirst().stride == 1
        ? Optional.of(new Lines(runs.getFirst().extent, runs.getLast().stride))
        : Optional.empty();
  }

  /**
   * Returns the elements in row-major order with a dimension for lines and one for their elements.
   */
  Optional<Storage> inLines() {
    return lines()
        .map(
            lines ->
                new Storage(
                    region,
                    element,
                    packing,
                    offset,
                    List.of(elements() / lines.elements(), lines.elements()),
                    List.of(lines.stride(), 1L)));
  }

  /** Merged dimensions with a uniform stride. */
  private record Run(long extent, long stride) {}

  /** Lists dimensions from the innermost on, without extents of 1. */
  private List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    for (int i = shape.size() - 1; i >= 0; i--) {
      if (shape.get(i) == 1) {
        continue;
      }
      Run inner = runs.isEmpty() ? null : runs.getLast();
      if (inner != null && strides.get(i) == inner.extent * inner.stride) {
        runs.set(runs.size() - 1, new Run(inner.extent * shape.get(i), inner.stride));
      } else {
        runs.add(new Run(shape.get(i), strides.get(i)));
      }
    }
    return runs;
  }
}
