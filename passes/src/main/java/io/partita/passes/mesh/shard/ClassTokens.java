package io.partita.passes.mesh.shard;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.ModulePass;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * Gives each device of a {@code sequence} split a copy of the class token, as in "Communication-
 * Efficient Multi-Device Inference Acceleration for Transformer Models" (ASTRA), section 3.3. A
 * copy precedes the tokens of its device, other devices' tokens don't attend to it, and the head
 * reads the mean of all copies.
 *
 * <p>All copies are equal as long as tokens are exact, so the model computes the same. They differ
 * where devices see the tokens of others approximately.
 */
public final class ClassTokens implements ModulePass {
  private final int copies;

  /**
   * @param copies the number of devices
   */
  public ClassTokens(int copies) {
    this.copies = copies;
  }

  @Override
  public String name() {
    return "class-tokens";
  }

  @Override
  public String purpose() {
    return "give each device of a sequence split a class token, and the head their mean";
  }

  /**
   * @throws PartitaException with {@link ShardCode#CLASS_TOKEN} if the model has no class token, or
   *     it reaches the head in an unknown way
   */
  @Override
  public Module run(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    new Rewrite(graph, classToken(module.graph())).run(module.graph());
    return module.with(graph.freeze());
  }

  private static PartitaException refused(String where, String expected, Object found) {
    return ShardCode.CLASS_TOKEN.at(
        where, expected, found, "remove the pass; the first device then has the class token");
  }

  /** The concatenation of a learned token and the others, {@code [batch, tokens, features]}. */
  private static Node classToken(Graph graph) {
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Movement.Concat(int axis)
          && axis == 1
          && node.operands().size() == 2
          && node.result().type().rank() == 3
          && node.result().type().isStatic()
          && node.operand(0).type().dim(1).is(1)
          && isConstant(node.operand(0))) {
        return node;
      }
    }
    throw refused("pass class-tokens", "a class token before the tokens of a transformer", "none");
  }

  private static boolean isConstant(Value value) {
    Node node = value.definition();
    return node != null
        && (node.constant().isPresent()
            || node.op() instanceof Movement.Broadcast && isConstant(node.operand(0)));
  }

  /** Of one graph. */
  private final class Rewrite {
    private final GraphEditor graph;
    private final Node concat;
    private final long tokens;

    /** The old index of each new token; those of class tokens are 0. */
    private final long[] order;

    /** The device of each new token. */
    private final int[] devices;

    /** The new value of each old one with tokens, and the dimension that counts them. */
    private final Map<Value, Value> changed = new IdentityHashMap<>();

    private final Map<Value, Integer> dims = new IdentityHashMap<>();

    Rewrite(GraphEditor graph, Node concat) {
      this.graph = graph;
      this.concat = concat;
      this.tokens = concat.result().type().dim(1).value();
      int size = Math.toIntExact(tokens - 1 + copies);
      this.order = new long[size];
      this.devices = new int[size];
      int next = 0;
      int token = 1;
      for (int device = 0; device < copies; device++) {
        long end = (device + 1) * (size / copies) + Math.min(device + 1, size % copies);
        devices[next++] = device;
        while (next < end) {
          devices[next] = device;
          order[next++] = token++;
        }
      }
    }

    void run(Graph before) {
      Map<Value, List<Node>> readers = before.readers();
      Set<Value> outputs = new HashSet<>();
      before.outputs().forEach(output -> outputs.add(output.value()));
      readers.getOrDefault(concat.result(), List.of()).stream()
          .findFirst()
          .ifPresent(graph::before);
      put(concat.result(), ordered(concat.result(), 1), 1);
      boolean ends = false;
      for (Node node : before.nodes()) {
        if (node.operands().stream().noneMatch(changed::containsKey)) {
          continue;
        }
        graph.before(node);
        ends |= rewritten(node);
        if (node.results().stream().anyMatch(each -> isChanged(each) && outputs.contains(each))) {
          throw refused(node.toString(), "a head that reads only the class token", "all tokens");
        }
      }
      if (!ends) {
        throw refused("pass class-tokens", "a head that reads only the class token", "none");
      }
    }

    private boolean isChanged(Value value) {
      return changed.containsKey(value);
    }

    private void put(Value old, Value by, int dim) {
      changed.put(old, by);
      dims.put(old, dim);
    }

    /** Tokens in their new order. */
    private Value ordered(Value value, int dim) {
      return graph.add(
          new Movement.Gather(dim),
          value,
          graph.constant(Tensor.longs(Shape.of(order.length), order)));
    }

    /** Whether the node takes the class token out. */
    private boolean rewritten(Node node) {
      Value first = node.operand(0);
      int dim = dims.getOrDefault(first, -1);
      int last = first.type().rank() - 1;
      switch (node.op()) {
        case Elementwise op when node.results().size() == 1 -> elementwise(node);
        case Structured.Norm norm when isChanged(first) && norm.axis() > dim -> same(node, dim);
        case Structured.Linear linear when isChanged(first) && dim < last -> same(node, dim);
        case Structured.Ffn ffn when isChanged(first) && dim < last -> same(node, dim);
        case Movement.Reshape(Shape to) -> reshape(node, to, dim);
        case Movement.Transpose(List<Integer> permutation) -> same(node, permutation.indexOf(dim));
        case Structured.Attention attention -> attention(node, attention);
        case Movement.Gather(int axis) when axis == dim && isFirst(node) -> {
          mean(node, dim);
          return true;
        }
        case Movement.Slice slice when isFirst(slice, dim) -> {
          mean(node, dim);
          return true;
        }
        case Op other -> throw unknown(node);
      }
      return false;
    }

    private PartitaException unknown(Node node) {
      return refused(
          node.toString(), "operations that treat all tokens alike", node.op().mnemonic());
    }

    private static boolean isFirst(Node gather) {
      Node indices = gather.operand(1).definition();
      return indices != null
          && indices
              .constant()
              .filter(each -> each.size() == 1 && each.getLong(0) == 0)
              .isPresent();
    }

    private static boolean isFirst(Movement.Slice slice, int dim) {
      return dim >= 0
          && slice.starts().get(dim).is(0)
          && slice.sizes().get(dim).is(1)
          && slice.steps().get(dim) == 1;
    }

    /** The same operation on the new operands. */
    private void same(Node node, int dim) {
      if (dim < 0 || node.operands().stream().skip(1).anyMatch(this::isChanged)) {
        throw unknown(node);
      }
      List<Value> operands = new ArrayList<>(node.operands());
      operands.set(0, changed.get(node.operand(0)));
      put(node.result(), graph.add(node.op(), operands), dim);
    }

    /** Operands that aren't computed from tokens, such as positions, may have a line for each. */
    private void elementwise(Node node) {
      int rank = node.result().type().rank();
      int fromEnd =
          node.operands().stream()
              .filter(this::isChanged)
              .mapToInt(each -> each.type().rank() - dims.get(each))
              .findFirst()
              .orElseThrow();
      List<Value> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        int dim = operand.type().rank() - fromEnd;
        if (isChanged(operand) && dims.get(operand) != dim) {
          throw unknown(node);
        }
        boolean isLine = dim >= 0 && operand.type().dim(dim).is(tokens);
        operands.add(
            isChanged(operand) ? changed.get(operand) : isLine ? ordered(operand, dim) : operand);
      }
      put(node.result(), graph.add(node.op(), operands), rank - fromEnd);
    }

    private void reshape(Node node, Shape to, int dim) {
      Shape from = node.operand(0).type().shape();
      long before = from.range(0, dim).elements();
      for (int i = 0; i < to.rank(); i++) {
        if (to.dim(i).is(tokens) && to.range(0, i).elements() == before) {
          Op reshape = new Movement.Reshape(to.with(i, Dim.of(order.length)));
          put(node.result(), graph.add(reshape, changed.get(node.operand(0))), i);
          return;
        }
      }
      throw unknown(node);
    }

    private void attention(Node node, Structured.Attention op) {
      List<Value> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        if (dims.getOrDefault(operand, -1) != 2) {
          throw unknown(node);
        }
        operands.add(changed.get(operand));
      }
      if (op.causal() || op.window() > 0 || op.mask() || op.keyLength()) {
        throw refused(node.toString(), "attention without a mask", op);
      }
      operands.add(graph.constant(mask()));
      Op masked =
          new Structured.Attention(
              op.scale(), op.softCap(), false, op.offset(), 0, true, false, op.valueScale());
      put(node.result(), graph.add(masked, operands), 2);
    }

    /** Each token attends to all but the class tokens of other devices. */
    private Tensor mask() {
      int size = order.length;
      long[] data = new long[size * size];
      for (int query = 0; query < size; query++) {
        for (int key = 0; key < size; key++) {
          data[query * size + key] = order[key] != 0 || devices[query] == devices[key] ? 1 : 0;
        }
      }
      return Tensor.ofLongs(new TensorType(ElementType.BOOL, Shape.of(size, size)), data);
    }

    private void mean(Node node, int dim) {
      long[] classes = LongStream.range(0, order.length).filter(i -> order[(int) i] == 0).toArray();
      Value all =
          graph.add(
              new Movement.Gather(dim),
              changed.get(node.operand(0)),
              graph.constant(Tensor.longs(Shape.of(classes.length), classes)));
      Value mean = graph.add(new Reduction.Reduce(ReductionKind.MEAN, List.of(dim), false), all);
      graph.replace(
          node.result(), graph.add(new Movement.Reshape(node.result().type().shape()), mean));
    }
  }
}
