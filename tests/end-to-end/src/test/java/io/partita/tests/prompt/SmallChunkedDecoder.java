package io.partita.tests.prompt;

import io.partita.driver.Entries;
import io.partita.ir.function.BinaryFunction;
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
import io.partita.passes.graph.state.SharedWeights;
import java.util.List;
import java.util.Optional;

/** An embedding, one attention over a cache, and scores: for one token, and for several. */
final class SmallChunkedDecoder {
  static final int CAPACITY = 6;
  static final int CHUNK = 3;
  private static final int VOCABULARY = 5;
  private static final int FEATURES = 4;

  private SmallChunkedDecoder() {}

  static Entries entries() {
    Module step = module(1);
    return new Entries(step, Optional.of(SharedWeights.share(step, module(CHUNK))));
  }

  private static Module module(int tokens) {
    GraphBuilder graph = new GraphBuilder("decoder");
    Value ids = graph.input("input_ids", TensorType.of(ElementType.I64, 1, tokens));
    Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
    Value past = graph.input("past", TensorType.of(ElementType.F32, 1, 1, CAPACITY, FEATURES));
    Value table = graph.at("embed.weight").constant(ramp(VOCABULARY, FEATURES));
    Value x = graph.at("/embed").add(new Structured.Embedding(), table, ids);
    Value q = graph.at("/heads").add(new Movement.Reshape(Shape.of(1, 1, tokens, FEATURES)), x);
    Value keys = graph.at("/cache").add(new Structured.CacheUpdate(2, false), past, q, position);
    Value all = graph.constant(Tensor.longs(Shape.of(1), tokens));
    Value length =
        graph.at("/length").add(new Elementwise.Binary(BinaryFunction.ADD), position, all);
    Value seen =
        graph
            .at("/attention")
            .add(
                new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, true),
                q,
                keys,
                keys,
                length);
    Value joined = graph.at("/join").add(new Movement.Reshape(Shape.of(1, tokens, FEATURES)), seen);
    Value weight = graph.at("head.weight").constant(ramp(FEATURES, VOCABULARY));
    graph.output(
        "logits", graph.at("/head").add(new Structured.Linear(false, false), joined, weight));
    graph.output("present", keys);
    return new Module(graph.finish(), List.of(new Module.State("past", "present")));
  }

  private static Tensor ramp(long... extents) {
    Shape shape = Shape.of(extents);
    float[] data = new float[(int) shape.elements()];
    for (int i = 0; i < data.length; i++) {
      data[i] = (i * 7 % 11 - 5) * 0.25f;
    }
    return Tensor.floats(shape, data);
  }
}
