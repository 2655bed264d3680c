package io.partita.ir.program;

import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Devices whose programs differ only in data. Their graphs have the same number of inputs, nodes
 * and outputs, with the same names, types and edges, so that node {@code i} of one corresponds to
 * node {@code i} of each other one.
 *
 * @param devices in ascending order; the graph of the first one represents all
 * @param varying indices of the nodes whose attributes differ between these devices: the data of a
 *     constant, the start of a slice, the offset of attention, the peers and elements of exchanges
 *     (the kinds and sizes of messages are equal, unless a backend groups otherwise). A backend
 *     reads these from the graph of each device, and all others from the first one
 */
public record Role(List<Integer> devices, SortedSet<Integer> varying) {
  public Role {
    devices = List.copyOf(devices);
    varying = Collections.unmodifiableSortedSet(new TreeSet<>(varying));
  }
}
