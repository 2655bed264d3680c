package io.partita.driver.report;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/**
 * Which part of each weight, attention and cache each device has, block by block. Blocks that are
 * split alike share an entry.
 */
final class PartitionFields {
  private static final int SMALLEST_WEIGHT_RANK = 2;

  private final Module module;
  private final LayoutInference layouts;
  private final int devices;

  private PartitionFields(Module module) {
    this.module = module;
    this.layouts = module.placement().isPresent() ? LayoutInference.of(module) : null;
    this.devices = module.placement().map(placement -> placement.mesh().devices()).orElse(1);
  }

  /**
   * @param module the module whose syncs are numbered in order
   */
  static Map<String, Object> of(Module module) {
    PartitionFields fields = new PartitionFields(module);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("devices", fields.devices);
    json.put("groups", fields.groups());
    json.put("states", fields.states());
    return json;
  }

  /** Blocks with equal parts, in the order of the first; what is outside of blocks is by itself. */
  private List<Map<String, Object>> groups() {
    List<OptionalInt> blocks = new ArrayList<>();
    List<List<Map<String, Object>>> parts = new ArrayList<>();
    int syncs = 0;
    for (Node node : module.graph().nodes()) {
      Map<String, Object> part = part(node, syncs);
      syncs += node.op() instanceof Communication.Sync ? 1 : 0;
      if (part.isEmpty()) {
        continue;
      }
      OptionalInt block = node.origin().block();
      int at = block.isPresent() ? blocks.indexOf(block) : -1;
      if (at < 0 && !blocks.isEmpty() && blocks.getLast().equals(block)) {
        at = blocks.size() - 1;
      }
      if (at < 0) {
        blocks.add(block);
        parts.add(new ArrayList<>());
        at = blocks.size() - 1;
      }
      parts.get(at).add(part);
    }
    SequencedMap<List<Map<String, Object>>, List<Integer>> alike = new LinkedHashMap<>();
    for (int i = 0; i < blocks.size(); i++) {
      alike
          .computeIfAbsent(
              parts.get(i).stream().map(PartitionFields::shape).toList(), key -> new ArrayList<>())
          .add(i);
    }
    List<Map<String, Object>> groups = new ArrayList<>();
    for (List<Integer> members : alike.values()) {
      Map<String, Object> group = new LinkedHashMap<>();
      group.put(
          "blocks", members.stream().flatMapToInt(i -> blocks.get(i).stream()).boxed().toList());
      group.put("parts", parts.get(members.getFirst()));
      groups.add(group);
    }
    return groups;
  }

  /** A part without what differs between blocks. */
  private static Map<String, Object> shape(Map<String, Object> part) {
    Map<String, Object> shape = new LinkedHashMap<>(part);
    shape.remove("name");
    shape.remove("weight");
    shape.remove("sync");
    return shape;
  }

  /** The fields of a node that the partition shows; empty for others. */
  private Map<String, Object> part(Node node, int sync) {
    Map<String, Object> part = new LinkedHashMap<>();
    if (node.op() instanceof Communication.Sync) {
      part.put("kind", "sync");
      part.put("sync", sync);
    } else if (node.op() instanceof Structured.Attention) {
      part.put("kind", "attention");
    } else {
      Value weight =
          node.op() instanceof Communication.Reshard
              ? null
              : node.operands().stream().filter(PartitionFields::isMatrix).findFirst().orElse(null);
      if (weight == null) {
        return Map.of();
      }
      part.put("kind", "weight");
      part.put("name", node.name());
      part.put("role", role(node));
      part.put("weight", constant(weight).name());
      split(weight, part);
      return part;
    }
    part.put("name", node.name());
    part.put("role", role(node));
    split(node.result(), part);
    return part;
  }

  private static String role(Node node) {
    return node.origin().role().isEmpty() ? node.op().mnemonic() : node.origin().role();
  }

  private static boolean isMatrix(Value value) {
    return constant(value) != null && value.type().rank() >= SMALLEST_WEIGHT_RANK;
  }

  /** The constant that a value is, or is a part of; null for other values. */
  private static Node constant(Value value) {
    Node node = value.definition();
    while (node != null && node.op() instanceof Communication.Reshard) {
      node = node.operand(0).definition();
    }
    return node != null && node.op() instanceof Source.Constant ? node : null;
  }

  /** The type, layout, and the part of each device along the dimension that is split. */
  private void split(Value value, Map<String, Object> fields) {
    fields.put("type", value.type().toString());
    if (layouts == null) {
      return;
    }
    Layout layout = layouts.layout(value);
    fields.put("layout", layout.toString());
    int dim =
        IntStream.range(0, layout.rank())
            .filter(each -> !layout.splits().get(each).isNone())
            .findFirst()
            .orElse(-1);
    if (dim >= 0) {
      fields.put("dim", dim);
      fields.put("extent", extent(value.type(), dim));
    }
    fields.put(
        "held", IntStream.range(0, devices).mapToObj(device -> held(layout, device, dim)).toList());
  }

  private static long extent(TensorType type, int dim) {
    return type.shape().extent(dim);
  }

  /** The first index and the one after the last; 0 and 1 if all; empty if nothing. */
  private static List<Long> held(Layout layout, int device, int dim) {
    if (!layout.holds(device)) {
      return List.of();
    }
    if (dim < 0) {
      return List.of(0L, 1L);
    }
    Split split = layout.splits().get(dim);
    int part = layout.mesh().part(device, split.axes());
    return List.of(split.from(part), split.to(part));
  }

  private List<Map<String, Object>> states() {
    List<Map<String, Object>> states = new ArrayList<>();
    for (Module.State state : module.states()) {
      Value input =
          module.graph().inputs().stream()
              .filter(value -> value.name().equals(state.input()))
              .findFirst()
              .orElseThrow();
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("name", state.input());
      split(input, fields);
      states.add(fields);
    }
    return states;
  }
}
