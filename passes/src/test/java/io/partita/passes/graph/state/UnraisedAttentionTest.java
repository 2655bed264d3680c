package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the report of unraised attention for caches that remain inputs. */
class UnraisedAttentionTest {
  private static final Set<String> PAST = Set.of("past");

  private final GraphBuilder graph = new GraphBuilder("decoder");

  private Value scores() {
    Dim past = Dim.symbol("past");
    Value cache =
        graph.input(
            "past_key", new TensorType(ElementType.F32, Shape.of(Dim.ONE, past, Dim.of(4))));
    Value fresh = graph.input("key", TensorType.of(ElementType.F32, 1, 1, 4));
    return graph.at("/join").add(new Movement.Concat(1), cache, fresh);
  }

  private String described(Value scores) {
    graph.output("y", graph.at("/softmax").add(new Reduction.Softmax(1, false), scores));
    return KvStatePass.unraised(new Module(graph.finish()), PAST).orElseThrow();
  }

  @Test
  void softmaxIsNamed() {
    assertThat(described(scores()))
        .isEqualTo(
            "a softmax of scores that aren't recognised as those of an attention, at node \"/softmax\"");
  }

  @Test
  void quantizedScoresAreNamed() {
    Value scale = graph.constant(Tensor.scalar(ElementType.F32, 0.5));
    Value zero = graph.constant(Tensor.scalar(ElementType.I8, 3));
    Value whole = graph.add(new Quantized.Quantize(0, 0, ElementType.I8), scores(), scale, zero);
    Value again = graph.add(new Quantized.Dequantize(0, 0, ElementType.F32), whole, scale, zero);
    assertThat(described(again))
        .isEqualTo(
            "a softmax of scores that are quantised, unlike those of an attention, at node \"/softmax\"");
  }

  @Test
  void modelsThatIgnoreThePastHaveNoReport() {
    graph.output("y", scores());
    assertThat(KvStatePass.unraised(new Module(graph.finish()), PAST)).isEmpty();
    assertThat(KvStatePass.unraised(new Module(new GraphBuilder("none").finish()), PAST)).isEmpty();
  }
}
