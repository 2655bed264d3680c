package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * An exchange between devices 0 to {@code devices - 1}, defined on one vector that is common to all
 * of them: each device holds some of its elements before, and some after. Places in the memories of
 * devices are chosen later.
 *
 * @param root the root of a broadcast or a reduction; 0 otherwise
 * @param parts the sizes in elements, in the order of the vector: the shard of each device; for an
 *     all-to-all, the block from each device (major) to each device. Any may be 0. If all devices
 *     hold the whole vector, these are the parts of algorithms.
 * @param reduction how partial results combine; {@code REPLACE} without a reduction
 */
public record Collective(
    CollectiveKind kind,
    int devices,
    int root,
    List<Long> parts,
    ElementType element,
    Combine reduction) {
  public Collective {
    parts = List.copyOf(parts);
    if (devices < 1 || root < 0 || root >= devices || parts.size() != kind.parts(devices)) {
      throw new IllegalArgumentException(
          kind + " of " + parts.size() + " parts on " + devices + " devices with root " + root);
    }
    if (kind.reduces() == (reduction == Combine.REPLACE)) {
      throw new IllegalArgumentException(kind + " by " + reduction);
    }
    parts.forEach(size -> new Slice(0, size));
  }

  /**
   * Returns a collective of {@code elements} in the most even parts, with a sum if its kind
   * reduces, and with device 0 as root.
   */
  public static Collective of(
      CollectiveKind kind, int devices, long elements, ElementType element) {
    int count = kind.parts(devices);
    List<Long> parts =
        LongStream.range(0, count)
            .mapToObj(part -> (part + 1) * elements / count - part * elements / count)
            .toList();
    return new Collective(
        kind, devices, 0, parts, element, kind.reduces() ? Combine.ADD : Combine.REPLACE);
  }

  public long elements() {
    return parts.stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the slice of each part. */
  public List<Slice> slices() {
    List<Slice> slices = new ArrayList<>();
    long start = 0;
    for (long size : parts) {
      slices.add(new Slice(start, size));
      start += size;
    }
    return slices;
  }

  public Slice whole() {
    return new Slice(0, elements());
  }

  /** Returns the elements that a device holds before. */
  public List<Slice> before(int device) {
    return switch (kind) {
      case ALL_REDUCE, REDUCE_SCATTER, REDUCE -> List.of(whole());
      case ALL_GATHER -> List.of(slices().get(device));
      case BROADCAST -> device == root ? List.of(whole()) : List.of();
      case ALL_TO_ALL -> slices().subList(device * devices, (device + 1) * devices);
    };
  }

  /** Returns the elements that a device is to hold afterwards. */
  public List<Slice> after(int device) {
    return switch (kind) {
      case ALL_REDUCE, ALL_GATHER, BROADCAST -> List.of(whole());
      case REDUCE_SCATTER -> List.of(slices().get(device));
      case REDUCE -> device == root ? List.of(whole()) : List.of();
      case ALL_TO_ALL -> {
        List<Slice> all = slices();
        List<Slice> column = new ArrayList<>();
        for (int from = 0; from < devices; from++) {
          column.add(all.get(from * devices + device));
        }
        yield column;
      }
    };
  }

  /** {@code all-reduce of 512 f32 on 8 devices}. */
  @Override
  public String toString() {
    return kind.text() + " of " + elements() + " " + element + " on " + devices + " devices";
  }
}
