package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.op.Communication;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The bytes of a weight that each device of a sharded module stores.
 *
 * @param name the name of the constant
 * @param type the type of the whole constant
 * @param bytes the stored bytes by device
 */
public record WeightHolding(String name, TensorType type, List<Long> bytes) {
  public WeightHolding {
    bytes = List.copyOf(bytes);
  }

  /** Returns the bytes on all devices together. */
  public long held() {
    return bytes.stream().mapToLong(each -> each).sum();
  }

  /** Returns the bytes beyond one copy. */
  public long duplicated() {
    return held() - type.bytes();
  }

  /** Returns the constants of a distributed module, in execution order. */
  public static List<WeightHolding> of(Module module) {
    Mesh mesh = module.placement().map(Placement::mesh).orElseThrow();
    Map<Node, Set<Layout>> layouts = new LinkedHashMap<>();
    for (Node node : module.graph().nodes()) {
      if (node.constant().isPresent()) {
        layouts.put(node, new LinkedHashSet<>());
      }
    }
    for (Node node : module.graph().nodes()) {
      node.operands().stream()
          .filter(operand -> layouts.containsKey(operand.definition()))
          .forEach(
              operand -> layouts.get(operand.definition()).add(read(node, operand.type(), mesh)));
    }
    module.graph().outputs().stream()
        .map(output -> output.value())
        .filter(value -> layouts.containsKey(value.definition()))
        .forEach(
            value ->
                layouts.get(value.definition()).add(Layout.replicated(mesh, value.type().rank())));
    List<WeightHolding> holdings = new ArrayList<>();
    layouts.forEach(
        (node, read) ->
            holdings.add(
                new WeightHolding(
                    node.name(), node.result().type(), bytes(node.result().type(), mesh, read))));
    return holdings;
  }

  /** Returns the constants of which devices store copies, the largest first. */
  public static List<WeightHolding> duplicates(Module module) {
    return of(module).stream()
        .filter(holding -> holding.duplicated() > 0)
        .sorted(
            java.util.Comparator.comparingLong(WeightHolding::duplicated)
                .reversed()
                .thenComparing(WeightHolding::name))
        .toList();
  }

  private static Layout read(Node reader, TensorType type, Mesh mesh) {
    return reader.op() instanceof Communication.Relayout change
        ? change.to()
        : Layout.replicated(mesh, type.rank());
  }

  /**
   * A device that uses a part and the whole stores the whole; different parts are stored
   * separately.
   */
  private static List<Long> bytes(TensorType type, Mesh mesh, Set<Layout> layouts) {
    List<Long> bytes = new ArrayList<>(Collections.nCopies(mesh.devices(), 0L));
    for (int device = 0; device < mesh.devices(); device++) {
      long sum = 0;
      for (Layout layout : layouts) {
        sum += stores(layout, device) ? layout.localType(type, device).bytes() : 0;
      }
      bytes.set(device, Math.min(sum, type.bytes()));
    }
    return bytes;
  }

  /** For a sum, one device stores the value and the others store zeros. */
  private static boolean stores(Layout layout, int device) {
    return layout.holds(device)
        && layout.partial().entrySet().stream()
            .allMatch(
                axis ->
                    axis.getValue().isIdempotent()
                        || layout.mesh().coordinate(device, axis.getKey()) == 0);
  }
}
