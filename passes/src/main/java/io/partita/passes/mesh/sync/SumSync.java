package io.partita.passes.mesh.sync;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Source;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.tensor.TensorHash;
import io.partita.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A sync of a sum in a transformer block, after attention or after the feed-forward network. Each
 * device has a term {@code [..., features]}.
 *
 * @param node the sync
 * @param block the number of the block, from 0; a model without attention is one block
 * @param axes the axes along which it joins, in the order of the mesh
 * @param sizes the sizes of these axes
 */
public record SumSync(Node node, int block, List<String> axes, List<Integer> sizes) {
  private static final int HASH_DIGITS = 16;

  public SumSync {
    axes = List.copyOf(axes);
    sizes = List.copyOf(sizes);
  }

  /**
   * Returns the sums of a module of the mesh dialect, in order: all-reduces of floats that all
   * devices along the axes hold whole afterwards.
   */
  static List<SumSync> of(Module module, LayoutInference layouts) {
    List<SumSync> found = new ArrayList<>();
    BlockNumbers blocks = BlockNumbers.of(module.graph());
    int block = blocks.count() > 0 ? BlockNumbers.NONE : 0;
    for (Node node : module.graph().nodes()) {
      if (blocks.begins(node)) {
        block = blocks.of(node);
      } else if (node.op() instanceof Communication.Sync sync && block >= 0) {
        Layout from = layouts.layout(node.operand(0));
        if (isSum(sync, node.operand(0).type(), from)) {
          List<String> axes =
              from.mesh().axes().stream()
                  .map(axis -> axis.name())
                  .filter(from.partial()::containsKey)
                  .toList();
          found.add(new SumSync(node, block, axes, axes.stream().map(from.mesh()::size).toList()));
        }
      }
    }
    return found;
  }

  private static boolean isSum(Communication.Sync sync, TensorType type, Layout from) {
    return !from.partial().isEmpty()
        && from.reduction() == ReductionKind.SUM
        && from.varying().isEmpty()
        && from.splits().stream().allMatch(Split::isNone)
        && sync.kinds().values().stream().allMatch(kind -> kind == SyncKind.ALL_REDUCE)
        && sync.to().partial().isEmpty()
        && type.element().isFloat()
        && type.isStatic()
        && type.rank() >= 1;
  }

  TensorType type() {
    return node.operand(0).type();
  }

  /** Returns the number of devices that have a term. */
  public int places() {
    return sizes.stream().mapToInt(Integer::intValue).reduce(1, (a, b) -> a * b);
  }

  public int features() {
    return Math.toIntExact(type().shape().fromEnd(0).value());
  }

  /**
   * Returns a hash of the weights that compute the terms and of their split, which is the same in
   * all graphs of a model, for prompts and for single tokens.
   */
  public String weights() {
    ArrayDeque<Value> open = new ArrayDeque<>(List.of(node.operand(0)));
    Map<Value, String> hashes = new IdentityHashMap<>();
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      Node definition = value.definition();
      if (definition == null
          || !seen.add(value)
          || definition.op() instanceof Communication.Relayout) {
        continue;
      }
      List<Value> matrices = definition.operands().stream().filter(SumSync::isMatrix).toList();
      matrices.forEach(matrix -> hashes.computeIfAbsent(matrix, SumSync::hash));
      if (matrices.isEmpty()) {
        open.addAll(definition.operands());
      }
    }
    TensorHash all = new TensorHash();
    hashes.values().stream().sorted().forEach(all::add);
    return all.text().substring(0, HASH_DIGITS);
  }

  static boolean isMatrix(Value value) {
    return value.type().rank() >= 2 && constant(value) != null;
  }

  static Tensor constant(Value value) {
    Node definition = value.definition();
    if (definition != null && definition.op() instanceof Communication.Reshard) {
      definition = definition.operand(0).definition();
    }
    return definition != null && definition.op() instanceof Source.Constant(Tensor data)
        ? data
        : null;
  }

  /** Adds a weight and its split to the hash. */
  private static String hash(Value weight) {
    TensorHash hash = new TensorHash().add(constant(weight));
    if (weight.definition().op() instanceof Communication.Reshard(Layout to)) {
      hash.add(to.toString());
    }
    return hash.text();
  }
}
