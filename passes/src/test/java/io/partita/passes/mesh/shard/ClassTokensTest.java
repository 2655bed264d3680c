package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClassTokensTest {
  private static final int FEATURES = 6;
  private static final int HEADS = 3;

  /** How the head uses the block's result. */
  enum Head {
    GATHER,
    SLICE,
    ALL
  }

  private final SplittableRandom random = new SplittableRandom(3);
  private final GraphBuilder graph = new GraphBuilder("vit");

  private Tensor random(long... extents) {
    Shape shape = Shape.of(extents);
    float[] data = new float[Math.toIntExact(shape.elements())];
    for (int i = 0; i < data.length; i++) {
      data[i] = (float) random.nextDouble(-1, 1);
    }
    return Tensor.floats(shape, data);
  }

  private Value heads(Value input, int batch, int tokens) {
    Value weight = graph.constant(random(FEATURES, FEATURES));
    Value projected = graph.add(new Structured.Linear(false, false), input, weight);
    Shape cut = Shape.of(batch, tokens, HEADS, FEATURES / HEADS);
    Value heads = graph.add(new Movement.Reshape(cut), projected);
    return graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads);
  }

  /** Two blocks of a vision transformer with a class token before the tokens of the input. */
  private Module transformer(int batch, int content, boolean causal, Head head) {
    int tokens = content + 1;
    Value x = graph.input("x", TensorType.of(ElementType.F32, batch, content, FEATURES));
    Value token = graph.constant(random(batch, 1, FEATURES));
    Value all = graph.add(new Movement.Concat(1), token, x);
    Op add = new Elementwise.Binary(BinaryFunction.ADD);
    Value stream = graph.add(add, graph.constant(random(tokens, FEATURES)), all);
    for (int block = 0; block < 2; block++) {
      List<Value> heads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        heads.add(heads(stream, batch, tokens));
      }
      Op attention = new Structured.Attention(0.7, 0, causal, Dim.ZERO, 0, false, false);
      Value attended = graph.add(attention, heads);
      Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), attended);
      Value joined = graph.add(new Movement.Reshape(stream.type().shape()), back);
      stream = graph.add(add, stream, joined);
    }
    graph.output("y", read(stream, batch, head));
    return new Module(graph.finish());
  }

  private Value read(Value stream, int batch, Head head) {
    return switch (head) {
      case GATHER ->
          graph.add(
              new Movement.Gather(1),
              stream,
              graph.constant(Tensor.longs(new Shape(List.of()), 0)));
      case SLICE ->
          graph.add(
              new Movement.Slice(
                  List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO),
                  List.of(Dim.of(batch), Dim.ONE, Dim.of(FEATURES)),
                  List.of(1L, 1L, 1L)),
              stream);
      case ALL -> graph.add(new Reduction.Reduce(ReductionKind.MEAN, List.of(1), false), stream);
    };
  }

  @ParameterizedTest
  @CsvSource({"1,6,2,GATHER", "1,5,3,SLICE", "2,4,4,GATHER", "2,3,5,SLICE", "1,4,1,GATHER"})
  void copiesComputeTheSame(int batch, int content, int devices, Head head) {
    Module module = transformer(batch, content, false, head);
    Module copied = new ClassTokens(devices).run(module);
    Verifier.verify(copied);
    Tensor x = random(batch, content, FEATURES);
    Tensor expected = Evaluator.run(module.graph(), List.of(x)).getFirst();
    Tensor found = Evaluator.run(copied.graph(), List.of(x)).getFirst();
    assertThat(found.type()).isEqualTo(expected.type());
    Module sharded = new ShardPass(Strategy.of(Map.of("sequence", "" + devices))).run(copied);
    Tensor onDevices = MeshEvaluator.run(sharded, List.of(x)).getFirst();
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5));
      assertThat(onDevices.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5));
    }
  }

  @Test
  void otherHeadsAndMasksAreRefused() {
    assertThatThrownBy(() -> new ClassTokens(2).run(transformer(1, 4, false, Head.ALL)))
        .hasMessageContaining("P4205")
        .hasMessageContaining("reduce_mean");
    assertThatThrownBy(
            () -> new ClassTokens(2).run(new ClassTokensTest().transformer(1, 4, true, Head.SLICE)))
        .hasMessageContaining("P4205")
        .hasMessageContaining("attention without a mask");
  }

  @Test
  void modelsWithoutAClassTokenAreRefused() {
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 4, FEATURES));
    graph.output("y", heads(x, 1, 4));
    Module module = new Module(graph.finish());
    assertThatThrownBy(() -> new ClassTokens(2).run(module)).hasMessageContaining("P4205");
  }
}
