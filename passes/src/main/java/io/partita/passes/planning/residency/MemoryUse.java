package io.partita.passes.planning.residency;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a memory of a device holds.
 *
 * @param memory its name, such as {@code l2}
 * @param available bytes
 * @param bytes by content; nothing for what there is none of
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
