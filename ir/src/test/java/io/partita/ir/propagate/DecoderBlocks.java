package io.partita.ir.propagate;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Decoder blocks with grouped heads and biases, and their splits. */
public final class DecoderBlocks {
  static final int SEQ = 5;
  static final int MODEL = 24;
  static final int HEADS = 6;
  static final int KV_HEADS = 3;
  static final int HEAD = 4;
  static final int INNER = 40;

  public final GraphBuilder builder = new GraphBuilder("blocks");
  final Draw draw = new Draw(7);
  final List<Value> queryWeights = new ArrayList<>();
  final List<Value> innerWeights = new ArrayList<>();

  /** Returns the values of the residual stream after the input, two per block. */
  public final List<Value> sums = new ArrayList<>();

  /** Returns two per block, and the last one. */
  public final List<Value> norms = new ArrayList<>();

  public final List<Value> blockResults = new ArrayList<>();
  public final Value input = builder.input("x", TensorType.of(ElementType.F32, 1, SEQ, MODEL));

  public Graph build(int count) {
    Value x = input;
    for (int i = 0; i < count; i++) {
      x = add(x, attention(norm(x)));
      x = add(x, ffn(norm(x)));
      blockResults.add(x);
    }
    builder.output("y", norm(x));
    return builder.finish();
  }

  Value weight(long... extents) {
    return builder.constant(SampleValues.value(TensorType.of(ElementType.F32, extents), draw));
  }

  Value add(Value left, Value right) {
    Value sum = builder.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
    sums.add(sum);
    return sum;
  }

  Value norm(Value x) {
    Op norm = new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false);
    norms.add(builder.add(norm, x, weight(MODEL)));
    return norms.getLast();
  }

  Value heads(Value x, int heads, boolean query) {
    Value weight = weight(MODEL, (long) heads * HEAD);
    if (query) {
      queryWeights.add(weight);
    }
    Value projected =
        builder.add(new Structured.Linear(false, true), x, weight, weight((long) heads * HEAD));
    Value split = builder.add(new Movement.Reshape(Shape.of(1, SEQ, heads, HEAD)), projected);
    return builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), split);
  }

  Value attention(Value x) {
    Value q = heads(x, HEADS, true);
    Value k = heads(x, KV_HEADS, false);
    Value v = heads(x, KV_HEADS, false);
    Op attention = new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, false);
    Value mixed = builder.add(attention, q, k, v);
    Value back = builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), mixed);
    Value flat = builder.add(new Movement.Reshape(Shape.of(1, SEQ, HEADS * HEAD)), back);
    return builder.add(
        new Structured.Linear(false, true), flat, weight(HEADS * HEAD, MODEL), weight(MODEL));
  }

  Value ffn(Value x) {
    Value up = weight(MODEL, INNER);
    innerWeights.add(up);
    return builder.add(
        new Structured.Ffn(UnaryFunction.GELU, false, false, true, true),
        x,
        up,
        weight(INNER),
        weight(INNER, MODEL),
        weight(MODEL));
  }

  /** Splits queries by groups of heads, and networks by inner features. */
  public Map<Value, Layout> pinned(Mesh mesh) {
    Map<Value, Layout> pinned = new HashMap<>();
    long unit = HEADS / KV_HEADS * HEAD;
    Split heads = Split.even(mesh, HEADS * HEAD, unit, List.of("x"));
    queryWeights.forEach(weight -> pinned.put(weight, Layout.of(mesh, Split.NONE, heads)));
    Split inner = Split.even(mesh, INNER, "x");
    innerWeights.forEach(weight -> pinned.put(weight, Layout.of(mesh, Split.NONE, inner)));
    return pinned;
  }
}
