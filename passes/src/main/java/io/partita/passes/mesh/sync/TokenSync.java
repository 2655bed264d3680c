package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.TensorHash;
import io.partita.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A sync that gathers the tokens of all devices for an attention whose queries are split over them:
 * {@code [..., tokens, ..., features]}.
 *
 * @param node the sync
 * @param block of the attention, from 0
 * @param axis of the mesh that splits the tokens
 * @param dim the dimension that counts tokens
 * @param kind what it gathers
 * @param weights a hash of the matrices by which the tokens are multiplied, or, of keys and values,
 *     of the matrices by which they were computed; it doesn't depend on the devices
 * @param joins the attentions that read the tokens and whose results are split again
 * @param takes the reshards by which only one device keeps what it computed from the tokens, such
 *     as the keys and values of a cache
 */
public record TokenSync(
    Node node,
    int block,
    String axis,
    int dim,
    TokenGathers.Kind kind,
    String weights,
    List<Node> joins,
    List<Node> takes) {
  private static final int HASH_DIGITS = 16;

  public TokenSync {
    joins = List.copyOf(joins);
    takes = List.copyOf(takes);
  }

  /** The syncs of a module of the mesh dialect that gather tokens for attention, in its order. */
  static List<TokenSync> of(Module module, LayoutInference layouts) {
    Map<Value, List<Node>> readers = module.graph().readers();
    Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());
    module.graph().outputs().forEach(output -> outputs.add(output.value()));
    BlockNumbers blocks = BlockNumbers.of(module.graph());
    List<TokenSync> found = new ArrayList<>();
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync && sync.codec().equals(Codec.EXACT)) {
        Layout from = layouts.layout(node.operand(0));
        int dim = tokens(sync, node.operand(0).type(), from);
        if (dim >= 0) {
          String axis = from.splits().get(dim).axes().getFirst();
          Ends ends = new Ends(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
          if (ends.find(node, axis, layouts, readers, outputs)) {
            found.add(
                new TokenSync(
                    node,
                    blocks.of(ends.joins.getFirst()),
                    axis,
                    dim,
                    ends.products.isEmpty() ? TokenGathers.Kind.KV : TokenGathers.Kind.FEATURES,
                    weights(node, readers),
                    ends.joins,
                    ends.takes));
          }
        }
      }
    }
    return found;
  }

  /** The dimension along which a sync gathers tokens, or -1. */
  private static int tokens(Communication.Sync sync, TensorType type, Layout from) {
    List<Integer> dims = new ArrayList<>();
    for (int dim = 0; dim < from.rank(); dim++) {
      if (!from.splits().get(dim).isNone()) {
        dims.add(dim);
      }
    }
    boolean gathers =
        dims.size() == 1
            && dims.getFirst() < from.rank() - 1
            && from.splits().get(dims.getFirst()).axes().size() == 1
            && from.partial().isEmpty()
            && from.varying().isEmpty()
            && sync.kinds().values().stream().allMatch(kind -> kind == SyncKind.ALL_GATHER)
            && sync.to().splits().stream().allMatch(Split::isNone)
            && type.element().isFloat()
            && type.isStatic();
    return gathers ? dims.getFirst() : -1;
  }

  /**
   * Where the paths from a sync end.
   *
   * @param products by constant matrices, on the paths
   */
  private record Ends(List<Node> joins, List<Node> takes, List<Node> products) {
    /**
     * Whether all paths end at attentions with queries that are split over the axis, or where one
     * device on it keeps the value; and some at such an attention.
     */
    boolean find(
        Node sync,
        String axis,
        LayoutInference layouts,
        Map<Value, List<Node>> readers,
        Set<Value> outputs) {
      Set<Node> seen = new HashSet<>();
      ArrayDeque<Value> open = new ArrayDeque<>(List.of(sync.result()));
      while (!open.isEmpty()) {
        Value value = open.removeFirst();
        if (outputs.contains(value)) {
          return false;
        }
        for (Node reader : readers.getOrDefault(value, List.of())) {
          if (!seen.add(reader)) {
            continue;
          }
          boolean isSplit =
              reader.results().stream().anyMatch(each -> layouts.layout(each).splitBy(axis) >= 0);
          if (BlockNumbers.isAttention(reader) && isSplit) {
            joins.add(reader);
          } else if (isTake(reader, axis, layouts)) {
            takes.add(reader);
          } else if (isSplit || reader.op() instanceof Communication) {
            return false;
          } else {
            if (matrices(reader).findAny().isPresent()) {
              products.add(reader);
            }
            open.addAll(reader.results());
          }
        }
      }
      return !joins.isEmpty();
    }

    private static boolean isTake(Node reader, String axis, LayoutInference layouts) {
      if (!(reader.op() instanceof Communication.Reshard)) {
        return false;
      }
      Layout from = layouts.layout(reader.operand(0));
      Integer place = layouts.layout(reader.result()).at().get(axis);
      return place != null && layouts.layout(reader.result()).equals(from.withAt(axis, place));
    }
  }

  private static String weights(Node sync, Map<Value, List<Node>> readers) {
    List<String> matrices =
        readers.getOrDefault(sync.result(), List.of()).stream().flatMap(TokenSync::hashes).toList();
    Set<Node> seen = new HashSet<>();
    List<Node> open = List.of(sync);
    while (matrices.isEmpty() && !open.isEmpty()) {
      open =
          open.stream()
              .flatMap(node -> node.operands().stream())
              .map(Value::definition)
              .filter(node -> node != null && seen.add(node))
              .toList();
      matrices = open.stream().flatMap(TokenSync::hashes).toList();
    }
    TensorHash all = new TensorHash();
    matrices.stream().sorted().forEach(all::add);
    return all.text().substring(0, HASH_DIGITS);
  }

  private static Stream<String> hashes(Node node) {
    return matrices(node).map(matrix -> new TensorHash().add(SumSync.constant(matrix)).text());
  }

  /** The constant matrices of a product. */
  private static Stream<Value> matrices(Node node) {
    boolean isProduct = node.op() instanceof Structured.Linear || node.op() instanceof Contraction;
    return node.operands().stream().filter(operand -> isProduct && SumSync.isMatrix(operand));
  }

  TensorType type() {
    return node.operand(0).type();
  }

  public int features() {
    return Math.toIntExact(type().shape().fromEnd(0).value());
  }
}
