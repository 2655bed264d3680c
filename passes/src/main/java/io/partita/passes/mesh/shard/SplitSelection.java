package io.partita.passes.mesh.shard;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Computes the best scores of a line from the best of each part, so that devices with the scores of
 * different tokens exchange only a few candidates. Ties still go to the lowest index: candidates
 * are in the order of parts and, within a part, of indices. If the parts don't divide the
 * vocabulary, the weight is padded with rows of zeros, whose scores are set below all others.
 */
final class SplitSelection {
  private static final int MAX_STEPS = 8;

  private final GraphEditor editor;
  private final TrainedWeights weights;
  private final Map<Value, List<Node>> readers;
  private final int parts;

  private SplitSelection(Graph graph, int parts) {
    this.editor = new GraphEditor(graph);
    this.weights = new TrainedWeights(graph);
    this.readers = graph.readers();
    this.parts = parts;
  }

  /** Returns the graph with such selections among the outputs of trained linears split. */
  static Graph apply(Graph graph, int parts) {
    SplitSelection split = new SplitSelection(graph, parts);
    boolean changed = false;
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Reduction.TopK top
          && top.largest()
          && top.axis() == node.operand(0).type().rank() - 1
          && node.operand(0).type().isStatic()
          && node.operand(0).type().element().isFloat()) {
        changed |= split.split(node, top);
      }
    }
    return changed ? split.editor.freeze() : graph;
  }

  private boolean split(Node node, Reduction.TopK top) {
    long vocabulary = node.operand(0).type().shape().fromEnd(0).value();
    Optional<List<Node>> chain = chain(node.operand(0));
    if (chain.isEmpty() || vocabulary < parts) {
      return false;
    }
    long size = Math.ceilDiv(vocabulary, parts);
    Padding padding = new Padding(editor, weights, readers, vocabulary, size * parts);
    if (!padding.isNone() && !padding.fits(chain.get())) {
      return false;
    }
    editor.before(node);
    Value scores =
        padding.isNone() ? node.operand(0) : padding.masked(padding.rebuild(chain.get()));
    replace(node, top.k().value(), scores, size);
    return true;
  }

  /** Returns the operations from the linear to the scores that compute each output by itself. */
  private Optional<List<Node>> chain(Value scores) {
    List<Node> nodes = new ArrayList<>();
    Value at = scores;
    for (int step = 0; step < MAX_STEPS && at.definition() != null; step++) {
      Node node = at.definition();
      nodes.addFirst(node);
      if (weights.of(node).isPresent()) {
        return Optional.of(nodes);
      }
      boolean passes =
          switch (node.op()) {
            case Elementwise elementwise -> true;
            case Movement.Reshape reshape -> true;
            case Op other -> false;
          };
      List<Value> computed =
          node.operands().stream().filter(operand -> !weights.isTrained(operand)).toList();
      Shape shape = node.results().getFirst().type().shape();
      if (!passes
          || computed.size() != 1
          || computed.getFirst().type().rank() == 0
          || !computed.getFirst().type().shape().fromEnd(0).equals(shape.fromEnd(0))) {
        return Optional.empty();
      }
      at = computed.getFirst();
    }
    return Optional.empty();
  }

  private void replace(Node node, long k, Value scores, long size) {
    List<Dim> outer = scores.type().shape().dims().subList(0, scores.type().rank() - 1);
    long few = Math.min(k, size);
    Value cut = editor.add(new Movement.Reshape(shape(outer, parts, size)), scores);
    Node best = editor.addNode(new Reduction.TopK(few, outer.size() + 1, true), List.of(cut));
    Value first =
        editor.add(
            new Elementwise.Binary(BinaryFunction.MUL),
            editor.add(new Source.Iota(Dim.of(parts), ElementType.I64)),
            editor.constant(Tensor.scalar(ElementType.I64, size)));
    Value offsets = editor.add(new Movement.Reshape(Shape.of(parts, 1)), first);
    Value places =
        editor.add(new Elementwise.Binary(BinaryFunction.ADD), best.results().get(1), offsets);
    Movement.Reshape join = new Movement.Reshape(shape(outer, parts * few));
    Value candidates = editor.add(join, best.results().get(0));
    Node chosen = editor.addNode(new Reduction.TopK(k, outer.size(), true), List.of(candidates));
    Value indices =
        editor.add(
            new Movement.GatherElements(outer.size()),
            editor.add(join, places),
            chosen.results().get(1));
    editor.replace(node.results().get(0), chosen.results().get(0));
    editor.replace(node.results().get(1), indices);
  }

  private static Shape shape(List<Dim> outer, long... inner) {
    List<Dim> dims = new ArrayList<>(outer);
    for (long extent : inner) {
      dims.add(Dim.of(extent));
    }
    return new Shape(dims);
  }

  /** Pads the weight of a linear and the constants after it. */
  private record Padding(
      GraphEditor editor,
      TrainedWeights weights,
      Map<Value, List<Node>> readers,
      long extent,
      long padded) {
    boolean isNone() {
      return extent == padded;
    }

    /** Whether all values with a row for each output are constants. */
    boolean fits(List<Node> chain) {
      return chain.getFirst().op() instanceof Structured.Linear
          && chain.stream()
              .flatMap(node -> node.operands().stream())
              .filter(weights::isTrained)
              .filter(this::hasRows)
              .allMatch(operand -> editor.constant(operand).isPresent());
    }

    private boolean hasRows(Value operand) {
      return operand.type().shape().dims().stream().anyMatch(dim -> dim.is(extent));
    }

    Value rebuild(List<Node> chain) {
      Value at = chain.getFirst().operand(0);
      for (Node node : chain) {
        Value before = at;
        List<Value> operands = new ArrayList<>();
        for (int i = 0; i < node.operands().size(); i++) {
          Value operand = node.operand(i);
          boolean isTrained = weights.isTrained(operand);
          operands.add(!isTrained ? before : hasRows(operand) ? pad(node, i) : operand);
        }
        Op op =
            node.op() instanceof Movement.Reshape reshape
                ? new Movement.Reshape(reshape.to().with(reshape.to().rank() - 1, Dim.of(padded)))
                : node.op();
        at = editor.from(node).add(op, operands);
      }
      return at;
    }

    /**
     * Pads with rows of zeros; other users of a matrix get the same one, so that it is stored once.
     */
    private Value pad(Node node, int operand) {
      Value value = node.operand(operand);
      Tensor data = editor.constant(value).orElseThrow();
      int dim = dimension(node, operand);
      TensorType type = data.type().with(data.shape().with(dim, Dim.of(padded)));
      Value larger = editor.constant(PaddedTensor.of(data, type, dim));
      if (value.type().rank() == 2 && dim == 0) {
        readers.getOrDefault(value, List.of()).stream()
            .filter(reader -> reader.op() instanceof Structured.Embedding)
            .forEach(reader -> lookUp(reader, larger));
      }
      return larger;
    }

    /** Returns an embedding of the padded table, in which -1 still is the last original row. */
    private void lookUp(Node embedding, Value table) {
      Value ids = embedding.operand(1);
      ElementType element = ids.type().element();
      editor.before(embedding);
      Value wrapped =
          editor.add(
              new Elementwise.Binary(BinaryFunction.ADD),
              ids,
              editor.constant(Tensor.scalar(element, extent)));
      Value isNegative =
          editor.add(
              new Elementwise.Binary(BinaryFunction.LESS),
              ids,
              editor.constant(Tensor.scalar(element, 0)));
      Value rows = editor.add(new Elementwise.Select(), isNegative, wrapped, ids);
      editor.replace(embedding.result(), editor.add(embedding.op(), table, rows));
    }

    private static int dimension(Node node, int operand) {
      boolean isWeight = node.op() instanceof Structured.Linear && operand == 1;
      boolean rows = isWeight && ((Structured.Linear) node.op()).transposed();
      return rows ? 0 : node.operand(operand).type().rank() - 1;
    }

    Value masked(Value scores) {
      TensorType type = new TensorType(ElementType.BOOL, Shape.of(padded));
      long[] real = new long[Math.toIntExact(padded)];
      java.util.Arrays.fill(real, 0, Math.toIntExact(extent), 1);
      Value mask = editor.constant(Tensor.ofLongs(type, real));
      Value least =
          editor.constant(Tensor.scalar(scores.type().element(), Double.NEGATIVE_INFINITY));
      return editor.add(new Elementwise.Select(), mask, scores, least);
    }
  }
}
