package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that kernels without strides get each row of an operand whose rows are the same. */
class BroadcastRowsTest {
  private final Random random = new Random(5);

  private Tensor integers(ElementType element, long bound, long... extents) {
    TensorType type = TensorType.of(element, extents);
    return Tensor.ofLongs(type, random.longs(type.shape().elements(), 0, bound).toArray());
  }

  @Test
  void productsWithNibblesOfTheSameRows() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value row = graph.input("x", TensorType.of(ElementType.I8, 1, 16));
              Value rows = graph.add(new Movement.Broadcast(Shape.of(2, 16)), row);
              Value codes =
                  graph.constant(integers(ElementType.U8, 256, 3, 1, NibblePanels.bytes(16)));
              Value scales = graph.input("scales", TensorType.of(ElementType.F32, 3, 1, 8));
              graph.output("y", graph.add(new Contraction.NibbleMatMul(), rows, codes, scales));
            });
    TensorType type = TensorType.of(ElementType.F32, 3, 1, 8);
    Map<String, Tensor> inputs =
        Map.of(
            "x",
            integers(ElementType.I8, 100, 1, 16),
            "scales",
            Tensor.ofDoubles(type, random.doubles(24).toArray()));
    assertThat(
            new ScheduleEvaluator(SmallPrograms.schedule(program)).run(inputs).get("y").doubles())
        .isEqualTo(new ProgramEvaluator(program, 1).run(inputs).get("y").doubles());
  }
}
