package io.partita.passes.planning.residency;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.passes.program.values.LocalValues;
import io.partita.passes.program.values.StorageClass;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The peak live bytes of activations when a device runs its nodes in order.
 *
 * <p>The live range of a value begins with the node that computes it, or with the run for an input,
 * and ends with its last use, or with the run for an output. A reshape shares its operand's bytes,
 * as does an exchange of the same elements if its operand isn't used later. During an exchange,
 * messages that arrive before their receive are live: as many of each sender as a channel holds.
 * Constants and states aren't activations.
 */
final class LiveRanges {
  private final LocalValues values;
  private final int channel;
  private final long largestPiece;
  private final Map<Value, Value> places = new IdentityHashMap<>();
  private final Map<Value, Integer> lastUse = new IdentityHashMap<>();

  /**
   * @param bytes the peak live bytes
   * @param residents the live values, in order of appearance
   */
  record Peak(long bytes, List<Resident> residents) {}

  private LiveRanges(LocalValues values, int channel, long largestPiece) {
    this.values = values;
    this.channel = channel;
    this.largestPiece = largestPiece;
  }

  /**
   * @param channel the number of messages that a channel holds
   * @param largestPiece the bytes of the pieces into which messages are divided
   */
  static Peak peak(LocalValues values, int channel, long largestPiece) {
    LiveRanges ranges = new LiveRanges(values, channel, largestPiece);
    ranges.findLastUses();
    return ranges.walk();
  }

  private Value place(Value value) {
    return places.getOrDefault(value, value);
  }

  private void findLastUses() {
    List<Node> nodes = values.graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (node.op() instanceof Movement.Reshape) {
        places.put(node.result(), place(node.operand(0)));
      }
      for (Value operand : node.operands()) {
        lastUse.put(place(operand), i);
      }
    }
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (node.op() instanceof Communication.Exchange exchange && staysInPlace(exchange, node, i)) {
        Value place = place(node.operand(0));
        lastUse.put(place, Math.max(i, lastUse.getOrDefault(place(node.result()), i)));
        places.replaceAll((value, at) -> at == node.result() ? place : at);
        places.put(node.result(), place);
      }
    }
    for (Graph.Output output : values.graph().outputs()) {
      lastUse.put(place(output.value()), nodes.size());
    }
  }

  private boolean staysInPlace(Communication.Exchange exchange, Node node, int index) {
    return !exchange.before().isEmpty()
        && exchange.before().equals(exchange.after())
        && lastUse.get(place(node.operand(0))) == index;
  }

  private Peak walk() {
    List<Node> nodes = values.graph().nodes();
    Map<Integer, List<Value>> ends = new TreeMap<>();
    IdentityHashMap<Value, Long> live = new IdentityHashMap<>();
    long now = 0;
    for (Value input : values.graph().inputs()) {
      now += begin(input, live, ends, -1);
    }
    long most = now;
    int at = -1;
    for (int i = 0; i < nodes.size(); i++) {
      for (Value result : nodes.get(i).results()) {
        now += begin(result, live, ends, i);
      }
      long during = now + arriving(nodes.get(i));
      if (during > most) {
        most = during;
        at = i;
      }
      for (Value ended : ends.getOrDefault(i, List.of())) {
        now -= live.remove(ended);
      }
    }
    return new Peak(most, at(at));
  }

  private long begin(
      Value value, Map<Value, Long> live, Map<Integer, List<Value>> ends, int index) {
    if (values.storageClass(value) != StorageClass.ACTIVATION
        || place(value) != value
        || live.containsKey(value)) {
      return 0;
    }
    long bytes = values.bytes(value);
    live.put(value, bytes);
    int end = Math.max(index, lastUse.getOrDefault(value, index));
    ends.computeIfAbsent(end, key -> new ArrayList<>()).add(value);
    return bytes;
  }

  private long arriving(Node node) {
    if (!(node.op() instanceof Communication.Exchange exchange)) {
      return 0;
    }
    Map<Integer, List<Long>> bySender = new TreeMap<>();
    for (Step step : exchange.steps()) {
      if (step instanceof Step.Receive(int from, var slices, long bytes, var combine)) {
        bySender.computeIfAbsent(from, key -> new ArrayList<>()).add(bytes);
      }
    }
    long sum = 0;
    for (List<Long> messages : bySender.values()) {
      long largest = messages.stream().mapToLong(Long::longValue).max().orElse(0);
      sum += Math.min(largest, largestPiece) * Math.min(messages.size(), Math.max(1, channel));
    }
    return sum;
  }

  /** Returns the values that are live while a node runs; only inputs for -1. */
  private List<Resident> at(int index) {
    List<Resident> residents = new ArrayList<>();
    for (Value input : values.graph().inputs()) {
      addIfLive(input, -1, index, residents);
    }
    for (int i = 0; i <= index; i++) {
      for (Value result : values.graph().nodes().get(i).results()) {
        addIfLive(result, i, index, residents);
      }
    }
    return residents;
  }

  private void addIfLive(Value value, int begin, int index, List<Resident> residents) {
    if (values.storageClass(value) == StorageClass.ACTIVATION
        && place(value) == value
        && Math.max(begin, lastUse.getOrDefault(value, begin)) >= index) {
      residents.add(new Resident(value.name(), Content.ACTIVATIONS, values.bytes(value)));
    }
  }
}
