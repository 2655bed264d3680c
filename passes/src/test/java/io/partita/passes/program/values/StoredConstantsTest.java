package io.partita.passes.program.values;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.Packing;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import org.junit.jupiter.api.Test;

/** Matrices in blocks of 16 output features, 17 bytes each; the other constants keep their type. */
class StoredConstantsTest {
  private final GraphBuilder builder = new GraphBuilder("products");

  private Value constant(long... extents) {
    return builder.constant(Tensor.filled(TensorType.of(ElementType.F32, extents), 1));
  }

  private static LocalValues values(Graph graph, Packing weights) {
    return new LocalValues(new Module(graph), Assumptions.NONE.with(weights));
  }

  @Test
  void matricesOfProductsConsistOfBlocks() {
    Value x = builder.input("x", TensorType.of(ElementType.F32, 3, 8));
    Value wide = constant(8, 40);
    Value back = constant(24, 40);
    Value bias = constant(24);
    Value up = constant(24, 5);
    Value down = constant(5, 24);
    Value scale = constant(3, 24);
    Value inner = builder.add(new Structured.Linear(false, false), x, wide);
    Value narrow = builder.add(new Structured.Linear(true, true), inner, back, bias);
    Value network =
        builder.add(
            new Structured.Ffn(UnaryFunction.RELU, false, false, false, false), narrow, up, down);
    builder.output("y", builder.add(new Elementwise.Binary(BinaryFunction.MUL), network, scale));
    LocalValues packed = values(builder.finish(), Packing.BF8_B);
    assertThat(packed.bytes(wide)).isEqualTo(8 * 3 * 17);
    // One row for each of 40 input features, of 24 output features.
    assertThat(packed.bytes(back)).isEqualTo(40 * 2 * 17);
    assertThat(packed.bytes(up)).isEqualTo(24 * 17);
    assertThat(packed.bytes(down)).isEqualTo(5 * 2 * 17);
    assertThat(packed.bytes(bias)).isEqualTo(4 * 24);
    assertThat(packed.bytes(scale)).isEqualTo(4 * 3 * 24);
    assertThat(packed.bytes(x)).isEqualTo(4 * 3 * 8);
    assertThat(packed.usedBytes(inner.definition(), 1)).isEqualTo(8 * 3 * 17);
    assertThat(packed.usedBytes(inner.definition(), 0)).isEqualTo(4 * 3 * 8);
  }

  @Test
  void whatIsReadOtherwiseIsStoredInItsTypeAsWell() {
    Value x = builder.input("x", TensorType.of(ElementType.F32, 8, 40));
    Value tied = constant(8, 40);
    Value sum = builder.add(new Elementwise.Binary(BinaryFunction.ADD), x, tied);
    builder.output("y", builder.add(new Structured.Linear(true, false), sum, tied));
    Graph graph = builder.finish();
    LocalValues packed = values(graph, Packing.BF8_B);
    assertThat(packed.bytes(tied)).isEqualTo(40 * 17 + 4 * 8 * 40);
    assertThat(packed.usedBytes(sum.definition(), 1)).isEqualTo(4 * 8 * 40);
    assertThat(values(graph, Packing.PLAIN).bytes(tied)).isEqualTo(4 * 8 * 40);
  }
}
