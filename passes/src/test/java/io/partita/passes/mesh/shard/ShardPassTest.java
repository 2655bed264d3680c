package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardPassTest {
  private static final int FEATURES = 8;

  /** Attention of 2 heads without projections of keys and values. */
  private static Module attention(Dim batch, Dim tokens) {
    GraphBuilder graph = new GraphBuilder("attention");
    Dim heads = Dim.of(2);
    Dim features = Dim.of(FEATURES);
    Value x =
        graph.input("x", new TensorType(ElementType.F32, Shape.of(batch, heads, tokens, features)));
    Value weight =
        graph.constant(Tensor.floats(Shape.of(FEATURES, FEATURES), new float[FEATURES * FEATURES]));
    Value projected = graph.add(new Structured.Linear(false, false), x, weight);
    graph.output(
        "y",
        graph.add(
            new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, false), projected, x, x));
    return new Module(graph.finish());
  }

  /** Tests that each symbol is reported once, whatever the strategy reads first. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "tensor=2",
        "sequence=2",
        "pipeline=2",
        "pipeline=2,sequence=2",
        "norm=root,tensor=2"
      })
  void openDimensionsAreDiagnosed(String strategy) {
    ShardPass pass = new ShardPass(Strategy.parse(strategy));
    assertThatThrownBy(() -> pass.run(attention(Dim.symbol("batch"), Dim.symbol("seq"))))
        .hasMessage(
            """
            error P3407: a dimension must be a number before it is split over devices
              where:     input x
              expected:  numbers
              found:     f32[batch,2,seq,8]
              fix:       bind the symbol: --dim batch=N
            error P3407: a dimension must be a number before it is split over devices
              where:     input x
              expected:  numbers
              found:     f32[batch,2,seq,8]
              fix:       bind the symbol: --dim seq=N""");
  }

  /**
   * Tests that keys and values of split tokens are gathered before their heads are apart, where the
   * parts of devices follow each other.
   */
  @Test
  void tokensAreGatheredBeforeHeadsAreSeparated() {
    GraphBuilder graph = new GraphBuilder("attention");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 6, 2 * FEATURES));
    List<Value> separated = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Value weight =
          graph.constant(
              Tensor.floats(Shape.of(2 * FEATURES, FEATURES), new float[2 * FEATURES * FEATURES]));
      Value projected = graph.add(new Structured.Linear(false, false), x, weight);
      Value heads = graph.add(new Movement.Reshape(Shape.of(1, 6, 2, 4)), projected);
      separated.add(graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads));
    }
    Node attention =
        graph.addNode(
            new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, false), separated);
    graph.output("y", attention.result());
    Module split = new ShardPass(Strategy.parse("sequence=2")).run(new Module(graph.finish()));
    assertThat(split.graph().nodes())
        .filteredOn(node -> node.op() instanceof Communication.Relayout)
        .extracting(node -> node.operand(0).definition().op())
        .hasSize(2)
        .allMatch(op -> op instanceof Structured.Linear);
  }
}
