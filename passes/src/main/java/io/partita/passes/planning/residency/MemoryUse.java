package io.partita.passes.planning.residency;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The use of a memory of a device.
 *
 * @param memory the name of the memory, such as {@code l2}
 * @param available the size in bytes
 * @param bytes the bytes by content, without entries of 0
 */
public record MemoryUse(String memory, long available, SortedMap<Content, Long> bytes) {
  public MemoryUse {
    bytes = Collections.unmodifiableSortedMap(new TreeMap<>(bytes));
  }

  MemoryUse(String memory, long available, Map<Content, Long> bytes) {
    this(memory, available, (SortedMap<Content, Long>) new TreeMap<>(new EnumMap<>(bytes)));
  }

  public long of(Content content) {
    return bytes.getOrDefault(content, 0L);
  }

  public long used() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  public boolean fits() {
    return used() <= available;
  }
}
