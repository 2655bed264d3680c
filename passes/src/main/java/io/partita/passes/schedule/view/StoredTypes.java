package io.partita.passes.schedule.view;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The element types in which values are stored. They are those of the graph, but where kernels
 * unpack pages of 16 bits: what a model of bf16 computes in f32 is stored in bf16 there, unless
 * something else than a kernel reads it.
 */
public final class StoredTypes {
  /** The values of f32 that are stored in 16 bits. */
  private final Set<Value> packed = Collections.newSetFromMap(new IdentityHashMap<>());

  private StoredTypes() {}

  /**
   * @param graph the legal graph of a device
   * @param arePacked whether kernels unpack and pack pages, and the program is one of bf16
   */
  public static StoredTypes of(Graph graph, boolean arePacked) {
    StoredTypes types = new StoredTypes();
    if (arePacked) {
      for (Node node : graph.nodes()) {
        node.results().stream().filter(StoredTypes::isF32).forEach(types.packed::add);
      }
      graph.outputs().forEach(output -> types.packed.remove(output.value()));
      while (types.keep(graph)) {}
    }
    return types;
  }

  /** Whether all floats that a run reads are of bf16; or, if it reads none, those it returns. */
  public static boolean areOfBf16(Program program) {
    Set<ElementType> read = floats(program.inputs());
    Set<ElementType> floats = read.isEmpty() ? floats(program.outputs()) : read;
    return floats.equals(Set.of(ElementType.BF16));
  }

  private static Set<ElementType> floats(Map<String, ShardedType> types) {
    return types.values().stream()
        .map(type -> type.type().element())
        .filter(ElementType::isFloat)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static boolean isF32(Value value) {
    return value.type().element() == ElementType.F32;
  }

  /**
   * Keeps the type of what is exchanged, of centroids, whose distances need all bits, and of what
   * is moved to or from values that keep it.
   */
  private boolean keep(Graph graph) {
    boolean hasChanged = false;
    for (Node node : graph.nodes()) {
      List<Value> floats =
          Stream.concat(node.operands().stream(), node.results().stream())
              .filter(StoredTypes::isF32)
              .toList();
      boolean isExchange = node.op() instanceof Communication.Exchange;
      if (isExchange || moves(node) && !packed.containsAll(floats)) {
        hasChanged |= packed.removeAll(floats);
      } else if (node.op() instanceof Contraction.NearestCentroid) {
        hasChanged |= packed.remove(node.operand(1));
      }
    }
    return hasChanged;
  }

  private static boolean moves(Node node) {
    return node.op() instanceof Movement
        || node.op() instanceof Elementwise.Select
        || node.op() instanceof Communication.Gate
        || node.op() instanceof Structured.Embedding
        || node.op() instanceof Structured.CacheUpdate;
  }

  /** Returns the type of the elements of a value in memory. */
  public ElementType element(Value value) {
    return packed.contains(value) ? ElementType.BF16 : value.type().element();
  }

  /** Returns the type of a value in memory. */
  public TensorType type(Value value) {
    return value.type().with(element(value));
  }

  /** Whether a node is a cast between types that are stored alike. */
  boolean isSameBits(Node node) {
    return node.op() instanceof Elementwise.Cast
        && ViewRules.isSameBits(element(node.operand(0)), element(node.result()));
  }
}
