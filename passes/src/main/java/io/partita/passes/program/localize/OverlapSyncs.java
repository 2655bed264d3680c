package io.partita.passes.program.localize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.graph.anatomy.BlockRoles;
import io.partita.passes.program.localize.Cuts.Range;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Divides a sync, and the product whose result it exchanges, into tiles: each tile is sent while
 * the next one is computed (see {@link DelayReceives}). A product is divided along a dimension of
 * its result that isn't split, by its factor rule, together with the operations between the product
 * and the sync, such as a skip connection. If it is divided along output features, each weight is
 * still read once; constants are divided at compile time.
 */
public final class OverlapSyncs {
  private final GraphEditor editor;
  private final LayoutInference layouts;
  private final TensorParts parts = new TensorParts();

  /** The inner features of divided networks. */
  private final Map<Node, Value> inner = new IdentityHashMap<>();

  private OverlapSyncs(Module module) {
    this.editor = new GraphEditor(module.graph());
    this.layouts = LayoutInference.of(module);
  }

  /**
   * A sync that can be divided.
   *
   * @param product the product that is divided
   * @param dim the dimension of the result along which it is divided
   * @param extent the extent of this dimension, the largest number of tiles
   */
  public record Candidate(Node sync, Node product, int dim, long extent) {}

  /**
   * How a sync is divided.
   *
   * @param count the number of equal tiles, at least 2, limited by the extent of the dimension
   * @param halvings how many times the last tile is halved; nothing is computed while it is sent,
   *     so that a small one is waited for less
   * @param algorithm of the tiles; empty for that of the sync
   */
  public record Tiles(int count, int halvings, Optional<Algorithm> algorithm) {
    public Tiles {
      if (count < 2 || halvings < 0) {
        throw new IllegalArgumentException(count + " tiles, halved " + halvings + " times");
      }
    }

    /** Equal tiles. */
    public Tiles(int count, Optional<Algorithm> algorithm) {
      this(count, 0, algorithm);
    }

    /** Returns these tiles with the last one halved once more. */
    public Tiles halved() {
      return new Tiles(count, halvings + 1, algorithm);
    }

    /** Returns the ends of the tiles of a dimension, in ascending order. */
    List<Long> ends(long extent) {
      List<Long> ends = new ArrayList<>();
      long number = Math.min(count, extent);
      for (long tile = 1; tile < number; tile++) {
        ends.add(extent * tile / number);
      }
      for (int i = 0; i < halvings && extent - ends.getLast() > 1; i++) {
        ends.add((ends.getLast() + extent) / 2);
      }
      ends.add(extent);
      return ends;
    }
  }

  /**
   * Returns the syncs whose operand comes from a product, in execution order.
   *
   * @param module a module of the mesh dialect
   */
  public static List<Candidate> candidates(Module module) {
    OverlapSyncs overlap = new OverlapSyncs(module);
    return module.graph().nodes().stream()
        .flatMap(node -> overlap.candidate(node).stream())
        .toList();
  }

  /** Returns the module with some syncs in tiles. */
  public static Module apply(Module module, Map<Candidate, Tiles> tiles) {
    OverlapSyncs overlap = new OverlapSyncs(module);
    for (Node node : module.graph().nodes()) {
      overlap
          .candidate(node)
          .filter(tiles::containsKey)
          .ifPresent(candidate -> overlap.cut(candidate, tiles.get(candidate)));
    }
    return module.with(overlap.editor.freeze());
  }

  private Optional<Candidate> candidate(Node node) {
    if (!(node.op() instanceof Communication.Sync sync)) {
      return Optional.empty();
    }
    Layout from = layouts.layout(node.operand(0));
    List<Candidate> found = new ArrayList<>();
    for (int dim = 0; dim < sync.to().rank(); dim++) {
      long extent = node.operand(0).type().dim(dim).value();
      boolean isWhole = from.splits().get(dim).isNone() && sync.to().splits().get(dim).isNone();
      Node product = isWhole && extent > 1 ? product(node.operand(0), dim) : null;
      if (product != null) {
        found.add(new Candidate(node, product, dim, extent));
      }
    }
    return found.stream()
        .max(Comparator.comparing(this::leavesWeights).thenComparingLong(Candidate::extent));
  }

  /** Whether each element of the product's constants is used by one tile only. */
  private boolean leavesWeights(Candidate candidate) {
    if (candidate.product().op() instanceof Structured.Ffn) {
      // Its inner features are computed once: see tile().
      return candidate.dim() + 1 == candidate.sync().operand(0).type().rank();
    }
    List<Integer> cuts = Cuts.of(candidate.product(), candidate.dim());
    for (int i = 0; i < cuts.size(); i++) {
      if (cuts.get(i) < 0 && !isVariable(candidate.product().operand(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean isVariable(Value value) {
    Node definition = value.definition();
    return definition == null
        || !(definition.op() instanceof Source.Constant)
            && !(isReshard(definition) && !isVariable(definition.operand(0)));
  }

  private static boolean isReshard(Node node) {
    return node.op() instanceof Communication.Reshard;
  }

  /** Returns the product from which a value without other uses comes, or null. */
  private Node product(Value value, int dim) {
    Node node = value.definition();
    if (node == null
        || editor.uses(value) != 1
        || !node.operands().stream().allMatch(this::canBeCut)) {
      return null;
    } else if (isReshard(node)) {
      return product(node.operand(0), dim);
    }
    List<Integer> cuts = Cuts.of(node, dim);
    if (cuts == null || Cuts.isProduct(node)) {
      return cuts == null ? null : node;
    }
    for (int i = 0; i < cuts.size(); i++) {
      Node found = cuts.get(i) < 0 ? null : product(node.operand(i), cuts.get(i));
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The factor rule has no factor for extents of 1, which may still be split. */
  private boolean canBeCut(Value value) {
    Layout layout = layouts.layout(value);
    for (int dim = 0; dim < value.type().rank(); dim++) {
      if (value.type().dim(dim).is(1) && !layout.splits().get(dim).isNone()) {
        return false;
      }
    }
    Node node = value.definition();
    return node == null || !isReshard(node) || canBeCut(node.operand(0));
  }

  private void cut(Candidate candidate, Tiles tiles) {
    Node node = candidate.sync();
    Communication.Sync whole = (Communication.Sync) node.op();
    Communication.Sync sync = tiles.algorithm().map(whole::with).orElse(whole);
    editor.before(node);
    List<Value> synced = new ArrayList<>();
    long from = 0;
    for (long to : tiles.ends(candidate.extent())) {
      Value part = part(node.operand(0), new Range(candidate.dim(), from, to));
      editor.from(node);
      synced.add(editor.add(sync, part));
      from = to;
    }
    editor.replace(node.result(), editor.add(new Movement.Concat(candidate.dim()), synced));
  }

  /** Returns the tile of a value: computed from the product on, sliced before it. */
  private Value part(Value value, Range range) {
    Node node = value.definition();
    boolean isComputed = editor.uses(value) == 1 && product(value, range.dim()) != null;
    if (node != null && isReshard(node)) {
      editor.from(node);
      return editor.add(node.op(), part(node.operand(0), range));
    } else if (!isComputed) {
      return cut(value, range);
    }
    List<Integer> cuts = Cuts.of(node, range.dim());
    if (node.op() instanceof Structured.Ffn ffn && cuts.getFirst() < 0) {
      return down(node, ffn, range);
    }
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < cuts.size(); i++) {
      Value operand = node.operand(i);
      if (cuts.get(i) < 0) {
        operands.add(operand);
      } else {
        Range along = range.along(cuts.get(i));
        operands.add(Cuts.isProduct(node) ? cut(operand, along) : part(operand, along));
      }
    }
    editor.from(node);
    return editor.add(node.op(), operands);
  }

  /** Slices a tile of a whole value. */
  private Value cut(Value value, Range range) {
    Node node = value.definition();
    if (node != null && node.constant().isPresent()) {
      Tensor whole = node.constant().orElseThrow();
      editor.from(node);
      return editor.constant(parts.part(whole, range.of(whole.type())));
    } else if (node != null && isReshard(node)) {
      editor.from(node);
      return editor.add(node.op(), cut(node.operand(0), range));
    }
    return editor.add(range.slice(value.type()), value);
  }

  /** Returns some output features of a network, whose inner features are computed once. */
  private Value down(Node node, Structured.Ffn ffn, Range range) {
    editor.from(node);
    Value hidden = inner.computeIfAbsent(node, key -> inner(node, ffn));
    int count = node.operands().size();
    int first = count - (ffn.downBias() ? 2 : 1);
    List<Value> operands = new ArrayList<>(List.of(hidden));
    operands.add(cut(node.operand(first), range.along(1)));
    if (ffn.downBias()) {
      operands.add(cut(node.operand(first + 1), range.along(0)));
    }
    editor.from(node).inRole(BlockRoles.DOWN);
    return editor.add(new Structured.Linear(false, ffn.downBias()), operands);
  }

  private Value inner(Node node, Structured.Ffn ffn) {
    Value x = node.operand(0);
    int next = 1;
    Value gate = null;
    if (ffn.gated()) {
      editor.inRole(BlockRoles.GATE);
      gate = linear(x, node.operands().subList(next, next + (ffn.gateBias() ? 2 : 1)));
      next += ffn.gateBias() ? 2 : 1;
    }
    editor.inRole(BlockRoles.UP);
    Value up = linear(x, node.operands().subList(next, next + (ffn.upBias() ? 2 : 1)));
    Elementwise.Unary activation = new Elementwise.Unary(ffn.activation());
    return ffn.gated()
        ? editor.add(new Elementwise.Binary(BinaryFunction.MUL), editor.add(activation, gate), up)
        : editor.add(activation, up);
  }

  private Value linear(Value x, List<Value> parameters) {
    List<Value> operands = new ArrayList<>(parameters);
    operands.addFirst(x);
    return editor.add(new Structured.Linear(false, parameters.size() == 2), operands);
  }
}
