package io.partita.ir.graph;

import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.Dim;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Replaces dimension symbols by numbers, or by polynomials over other symbols. */
public final class DimensionBinding {
  private DimensionBinding() {}

  /**
   * Returns the module with all occurrences of the symbols in {@code extents} replaced. Node names
   * and order are kept.
   *
   * @throws TypeMismatch if the model isn't valid for these extents
   */
  public static Module bind(Module module, Map<String, Dim> extents) {
    return module.with(bind(module.graph(), extents));
  }

  /** Like {@link #bind(Module, Map)}, for a graph. */
  public static Graph bind(Graph graph, Map<String, Dim> extents) {
    GraphBuilder builder = new GraphBuilder(graph.name());
    Map<Value, Value> copies = new IdentityHashMap<>();
    for (Value input : graph.inputs()) {
      copies.put(input, builder.input(input.name(), input.type().bind(extents)));
    }
    for (Node node : graph.nodes()) {
      List<Value> operands = node.operands().stream().map(copies::get).toList();
      Node copy = builder.at(node).addNode(bind(node.op(), extents), operands);
      for (int i = 0; i < copy.results().size(); i++) {
        copies.put(node.results().get(i), copy.results().get(i));
      }
    }
    graph.outputs().forEach(output -> builder.output(output.name(), copies.get(output.value())));
    return builder.finish();
  }

  /** Returns the operation with the symbols in its attributes replaced. */
  public static Op bind(Op op, Map<String, Dim> extents) {
    return switch (op) {
      case Movement.Reshape(var to) -> new Movement.Reshape(to.bind(extents));
      case Movement.Broadcast(var to) -> new Movement.Broadcast(to.bind(extents));
      case Movement.Slice(var starts, var sizes, var steps) ->
          new Movement.Slice(bind(starts, extents), bind(sizes, extents), steps);
      case Source.Iota(var size, var element) -> new Source.Iota(size.bind(extents), element);
      case Source.Extent(var size) -> new Source.Extent(size.bind(extents));
      case Structured.Attention attention -> attention.withOffset(attention.offset().bind(extents));
      case Movement.Transpose unchanged -> unchanged;
      case Movement.Concat unchanged -> unchanged;
      case Movement.Pad unchanged -> unchanged;
      case Movement.Gather unchanged -> unchanged;
      case Movement.GatherElements unchanged -> unchanged;
      case Movement.GatherNd unchanged -> unchanged;
      case Movement.ScatterElements unchanged -> unchanged;
      case Movement.ScatterNd unchanged -> unchanged;
      case Source.Constant unchanged -> unchanged;
      case Structured.Linear unchanged -> unchanged;
      case Structured.Norm unchanged -> unchanged;
      case Structured.RotaryEmbedding unchanged -> unchanged;
      case Structured.Ffn unchanged -> unchanged;
      case Structured.Embedding unchanged -> unchanged;
      case Structured.PatchEmbedding unchanged -> unchanged;
      case Structured.CacheUpdate unchanged -> unchanged;
      case Elementwise unchanged -> unchanged;
      case Reduction.TopK(var k, var axis, var largest) ->
          new Reduction.TopK(k.bind(extents), axis, largest);
      case Reduction unchanged -> unchanged;
      case Contraction unchanged -> unchanged;
      case Quantized unchanged -> unchanged;
      case IntegerNetwork unchanged -> unchanged;
      case Communication unchanged -> unchanged;
    };
  }

  private static List<Dim> bind(List<Dim> dims, Map<String, Dim> extents) {
    return dims.stream().map(dim -> dim.bind(extents)).toList();
  }
}
