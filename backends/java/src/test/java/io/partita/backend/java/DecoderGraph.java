package io.partita.backend.java;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A decoder with KV caches as state and random weights, token by token. */
record DecoderGraph(int embed, int hidden, int layers, int heads, int vocabulary, int capacity) {
  Module module() {
    return new Builder().module();
  }

  private final class Builder {
    private final GraphBuilder graph = new GraphBuilder("decoder");
    private final Random random = new Random(7);
    private final List<Module.State> states = new ArrayList<>();
    private Value position;
    private Value length;

    Module module() {
      Value token = graph.input("input_ids", TensorType.of(ElementType.I64, 1, 1));
      position = graph.input("position", TensorType.of(ElementType.I64, 1));
      Value one = graph.constant(Tensor.longs(Shape.of(1), 1));
      length = graph.at("/length").add(new Elementwise.Binary(BinaryFunction.ADD), position, one);
      Value table = weight(vocabulary, embed);
      Value x = graph.at("/embed").add(new Structured.Embedding(), table, token);
      for (int layer = 0; layer < layers; layer++) {
        x = block(layer, x);
      }
      graph.at("/norm");
      Value last = norm(x);
      graph.at("/lm_head");
      graph.output("logits", linear(last, weight(embed, vocabulary)));
      return new Module(graph.finish(), states);
    }

    private Value weight(int... extents) {
      long[] dims = new long[extents.length];
      int count = 1;
      for (int i = 0; i < dims.length; i++) {
        dims[i] = extents[i];
        count *= extents[i];
      }
      float[] data = new float[count];
      float scale = (float) (1 / Math.sqrt(extents[0]));
      for (int i = 0; i < count; i++) {
        data[i] = (random.nextFloat() - 0.5f) * 2 * scale;
      }
      return graph.constant(Tensor.floats(Shape.of(dims), data));
    }

    private Value linear(Value x, Value weight) {
      return graph.add(new Structured.Linear(false, false), x, weight);
    }

    private Value norm(Value x) {
      return graph.add(
          new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false), x, weight(embed));
    }

    private Value add(Value x, Value y) {
      return graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, y);
    }

    private Value block(int layer, Value x) {
      String name = "/model/layers." + layer;
      graph.at(name + "/input_norm");
      Value normed = norm(x);
      graph.at(name + "/attn");
      Value q = split(linear(normed, weight(embed, embed)));
      Value k = cache("k" + layer, split(linear(normed, weight(embed, embed))));
      Value v = cache("v" + layer, split(linear(normed, weight(embed, embed))));
      double scale = 1 / Math.sqrt((double) embed / heads);
      Value attended =
          graph.add(
              new Structured.Attention(scale, 0, true, Dim.ZERO, 0, false, true), q, k, v, length);
      Value joined = graph.add(new Movement.Reshape(Shape.of(1, 1, embed)), attended);
      x = add(x, linear(joined, weight(embed, embed)));
      graph.at(name + "/mlp_norm");
      Value inner = norm(x);
      graph.at(name + "/mlp");
      Value out =
          graph.add(
              new Structured.Ffn(UnaryFunction.SILU, false, false, false, false),
              inner,
              weight(embed, hidden),
              weight(hidden, embed));
      return add(x, out);
    }

    private Value split(Value x) {
      return graph.add(new Movement.Reshape(Shape.of(1, heads, 1, embed / heads)), x);
    }

    private Value cache(String name, Value update) {
      Value past =
          graph.input(
              "past_" + name, TensorType.of(ElementType.F32, 1, heads, capacity, embed / heads));
      Value present = graph.add(new Structured.CacheUpdate(2, false), past, update, position);
      graph.output("present_" + name, present);
      states.add(new Module.State("past_" + name, "present_" + name));
      return present;
    }
  }
}
