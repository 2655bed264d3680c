package io.partita.ir.program;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Devices whose programs are one with different data. Their graphs have as many inputs, nodes and
 * outputs, of the same names and types and read from the same places; so node {@code i} of one is
 * the counterpart of node {@code i} of each other.
 *
 * @param devices ascending; the first one's graph stands for all
 * @param varying indices of the nodes whose attributes differ between these devices: the data of a
 *     constant, where a slice starts, how far attention is offset, with whom and which elements are
 *     exchanged (the kinds and sizes of messages are the same). The backend reads them from each
 *     device's own graph; all others it reads once
 */
public record Role(List<Integer> devices, SortedSet<Integer> varying) {
  public Role {
    devices = List.copyOf(devices);
    varying = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(varying));
  }
}
