package io.partita.ir.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DimensionBindingTest {
  private static final Dim SEQ = Dim.symbol("seq");
  private static final Map<String, Dim> THREE = Map.of("seq", Dim.of(3));

  @Test
  void everyDimensionOfAModuleIsBound() {
    GraphBuilder builder = new GraphBuilder("g");
    Value x = builder.input("x", new TensorType(ElementType.I64, Shape.of(SEQ, Dim.of(2))));
    Value flat = builder.at("flat").add(new Movement.Reshape(Shape.of(SEQ.times(Dim.of(2)))), x);
    Value extent = builder.add(new Source.Extent(SEQ));
    Value wide = builder.add(new Movement.Broadcast(Shape.of(SEQ)), extent);
    Value iota = builder.add(new Source.Iota(SEQ, ElementType.I64));
    Value last =
        builder.add(new Movement.Slice(List.of(SEQ.plus(-1)), List.of(Dim.ONE), List.of(1L)), iota);
    builder.output("y", builder.add(new Movement.Concat(0), List.of(flat, wide, last)));
    Module module = new Module(builder.finish(), List.of(new Module.State("x", "y")));
    Module bound = DimensionBinding.bind(module, THREE);
    assertThat(bound.states()).isEqualTo(module.states());
    assertThat(bound.graph().symbols()).isEmpty();
    assertThat(bound.graph().nodes().getFirst().name()).isEqualTo("flat");
    Tensor input = Tensor.longs(Shape.of(3, 2), 9, 8, 7, 6, 5, 4);
    assertThat(Evaluator.run(bound.graph(), List.of(input)))
        .containsExactly(Tensor.longs(Shape.of(10), 9, 8, 7, 6, 5, 4, 3, 3, 3, 2));
  }

  @Test
  void dimensionsOfAttentionAreBound() {
    Op op = new Structured.Attention(1, 0, true, SEQ, 0, false, false);
    assertThat(DimensionBinding.bind(op, THREE))
        .isEqualTo(new Structured.Attention(1, 0, true, Dim.of(3), 0, false, false));
    Op product = new Contraction.MatMul(ElementType.F32);
    assertThat(DimensionBinding.bind(product, THREE)).isSameAs(product);
  }

  @Test
  void symbolsMayBindToSymbols() {
    Op op = new Source.Extent(SEQ.times(Dim.of(2)));
    assertThat(DimensionBinding.bind(op, Map.of("seq", Dim.symbol("n").plus(1))))
        .isEqualTo(new Source.Extent(Dim.symbol("n").times(Dim.of(2)).plus(2)));
  }
}
