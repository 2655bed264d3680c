package io.partita.passes.graph.anatomy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the embeddings before the first block and the head after the last. */
final class EmbeddingAndHead {
  /** The largest number of rows of a table of token types. */
  private static final long MAX_TYPES = 4;

  /** The number of elements that are compared to find equal tables. */
  private static final int SAMPLES = 4096;

  private static final int MAX_STEPS = 16;

  private final Graph graph;
  private final Flow flow;
  private final Projections projections;

  EmbeddingAndHead(Graph graph, Flow flow, Projections projections) {
    this.graph = graph;
    this.flow = flow;
    this.projections = projections;
  }

  List<ModelAnatomy.EmbeddingTable> embeddings() {
    List<ModelAnatomy.EmbeddingTable> tables = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (isLookup(node) && !isRotaryTable(node.result())) {
        Shape table = node.operand(0).type().shape();
        tables.add(
            new ModelAnatomy.EmbeddingTable(node, kind(node), table.extent(0), table.extent(1)));
      } else if (isAddedTable(node)) {
        Value table = flow.isParameter(node.operand(0)) ? node.operand(0) : node.operand(1);
        Shape shape = table.type().shape();
        tables.add(
            new ModelAnatomy.EmbeddingTable(
                node,
                ModelAnatomy.EmbeddingKind.POSITION,
                shape.extent(shape.rank() - 2),
                shape.extent(shape.rank() - 1)));
      }
    }
    return tables;
  }

  /** Finds a lookup, or the gather of a quantised table before its conversion to floats. */
  private boolean isLookup(Node node) {
    return switch (node.op()) {
      case Structured.Embedding embedding -> true;
      case Movement.Gather(int axis) ->
          axis == 0
              && node.operand(0).type().rank() == 2
              && flow.isParameter(node.operand(0))
              && node.result().type().element().isInteger()
              && flow.readers(node.result()).stream()
                  .allMatch(reader -> reader.op() instanceof Quantized.Dequantize)
              && !flow.readers(node.result()).isEmpty();
      case Op other -> false;
    };
  }

  private boolean isRotaryTable(Value value) {
    Value at = value;
    while (flow.readers(at).size() > 0) {
      Node reader = flow.readers(at).getFirst();
      if (reader.op() instanceof Structured.RotaryEmbedding) {
        return reader.operand(0) != at;
      }
      if (!Flow.isPassing(reader.op())) {
        return false;
      }
      at = reader.results().getFirst();
    }
    return false;
  }

  private ModelAnatomy.EmbeddingKind kind(Node embedding) {
    long rows = embedding.operand(0).type().shape().extent(0);
    Value ids = embedding.operand(1);
    while (ids.definition() != null && Flow.isPassing(ids.definition().op())) {
      ids = ids.definition().operand(0);
    }
    if (rows <= MAX_TYPES || ids.isInput() && ids.name().contains("type")) {
      return ModelAnatomy.EmbeddingKind.TYPE;
    }
    return ids.isInput() && !ids.name().contains("position")
        ? ModelAnatomy.EmbeddingKind.TOKEN
        : ModelAnatomy.EmbeddingKind.POSITION;
  }

  /** Finds a table with a vector for each position, which is added before the first block. */
  private boolean isAddedTable(Node node) {
    if (!(node.op() instanceof Elementwise.Binary(BinaryFunction function))
        || function != BinaryFunction.ADD
        || !isBeforeBlocks(node)
        || flow.isParameter(node.operand(0)) == flow.isParameter(node.operand(1))) {
      return false;
    }
    Value table = flow.isParameter(node.operand(0)) ? node.operand(0) : node.operand(1);
    Shape shape = table.type().shape();
    Shape sum = node.result().type().shape();
    return shape.rank() >= 2
        && sum.rank() >= 2
        && table.type().element().isFloat()
        && shape.isStatic()
        && shape.fromEnd(0).equals(sum.fromEnd(0))
        && shape.fromEnd(1).equals(sum.fromEnd(1));
  }

  /** Whether the result comes from an embedding through sums and concatenations only. */
  private boolean isBeforeBlocks(Node node) {
    if (flow.nextAttention(node.result()) != 0) {
      return false;
    }
    Node at = node;
    for (int step = 0; step < MAX_STEPS && at != null; step++) {
      boolean isPassed =
          Flow.isPassing(at.op())
              || at.op() instanceof Elementwise.Binary
              || at.op() instanceof Movement.Concat;
      if (!isPassed) {
        return isLookup(at)
            || at.op() instanceof Structured.PatchEmbedding
            || at.op() instanceof Structured.Linear && isStem(at);
      }
      at =
          at.operands().stream()
              .filter(operand -> !flow.isParameter(operand))
              .findFirst()
              .map(Value::definition)
              .orElse(null);
    }
    return false;
  }

  /** Whether a linear before the first block widens embeddings, as MobileBERT's does. */
  private boolean isStem(Node linear) {
    return linear.result().type().rank() == 3
        && Flow.above(
                linear.operand(0),
                op ->
                    Flow.isPassing(op)
                        || op instanceof Movement.Concat
                        || op instanceof Movement.Pad,
                op -> op instanceof Structured.Embedding)
            .isPresent();
  }

  Optional<Node> patchEmbedding() {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Structured.PatchEmbedding)
        .findFirst();
  }

  /** Finds the concatenation of a learned token with the patches. */
  Optional<Node> classToken() {
    return graph.nodes().stream()
        .filter(
            node ->
                node.op() instanceof Movement.Concat(int axis)
                    && node.operands().size() == 2
                    && flow.isParameter(node.operand(0))
                    && !flow.isParameter(node.operand(1))
                    && node.operand(0).type().rank() == 3
                    && axis == 1
                    && node.operand(0).type().dim(1).is(1)
                    && node.operand(0).type().element().isFloat()
                    && flow.nextAttention(node.result()) == 0)
        .findFirst();
  }

  /** Finds the last linear before an output. */
  Optional<ModelAnatomy.Head> head() {
    List<ModelAnatomy.EmbeddingTable> tokens =
        embeddings().stream()
            .filter(table -> table.kind() == ModelAnatomy.EmbeddingKind.TOKEN)
            .toList();
    for (Projection projection : projections.all().reversed()) {
      Value result = projection.result();
      if (projection.isLinear()
          && flow.nextAttention(result) == Flow.NO_ATTENTION
          && reachesOutput(result)) {
        Node node = projection.node();
        long outputs = result.type().shape().fromEnd(0).value();
        boolean transposed = node.op() instanceof Structured.Linear linear && linear.transposed();
        Optional<ModelAnatomy.EmbeddingTable> table =
            tokens.stream().filter(found -> found.rows() == outputs).findFirst();
        boolean tied =
            table
                .filter(found -> isSame(found.node().operand(0), node.operand(1), transposed))
                .isPresent();
        return Optional.of(new ModelAnatomy.Head(node, outputs, table.isPresent(), tied));
      }
    }
    return Optional.empty();
  }

  private boolean reachesOutput(Value value) {
    Value at = value;
    while (flow.output(at).isEmpty()) {
      List<Node> readers = flow.readers(at);
      if (readers.size() != 1 || !isAfterwards(readers.getFirst().op())) {
        return readers.size() == 1 && readers.getFirst().op() instanceof Reduction.TopK;
      }
      at = readers.getFirst().results().getFirst();
    }
    return true;
  }

  private static boolean isAfterwards(Op op) {
    return Flow.isPassing(op) || op instanceof Elementwise || op instanceof Reduction.Softmax;
  }

  private static boolean isSame(Value table, Value weight, boolean transposed) {
    if (table == weight && transposed) {
      return true;
    }
    Tensor rows = constant(table);
    Tensor other = constant(weight);
    if (rows == null || other == null || rows.size() != other.size()) {
      return false;
    }
    int features = (int) rows.shape().extent(1);
    int count = (int) rows.shape().extent(0);
    for (int sample = 0; sample < Math.min(SAMPLES, rows.size()); sample++) {
      int index = (int) ((long) sample * rows.size() / Math.min(SAMPLES, rows.size()));
      int place = transposed ? index : index % features * count + index / features;
      if (rows.getDouble(index) != other.getDouble(place)) {
        return false;
      }
    }
    return true;
  }

  private static Tensor constant(Value value) {
    return value.definition() == null ? null : value.definition().constant().orElse(null);
  }
}
