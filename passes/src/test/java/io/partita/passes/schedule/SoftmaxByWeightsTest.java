package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Many bytes have weights by a table, which is computed in each tile. */
class SoftmaxByWeightsTest extends EvaluatedLoops {
  private List<String> softmax(
      ElementType element, long rows, IntegerNetwork.IntegerSoftmax op, long l1) {
    return loops(
        graph -> {
          Value x = graph.input("x", TensorType.of(element, rows, 33));
          return graph.add(op, x);
        },
        l1);
  }

  @ParameterizedTest
  @CsvSource({"I8, 100000", "U8, 100000", "I8, 1500"})
  void manyBytes(ElementType element, long l1) {
    assertThat(softmax(element, 20, new IntegerNetwork.IntegerSoftmax(1, 85, 3770, 63, 256), l1))
        .containsExactly("[softmax_weights_i32, weighted_softmax_" + element + "]");
  }

  @ParameterizedTest
  @CsvSource({
    "I8, 15, 1, 3770, 256",
    "I32, 20, 1, 3770, 256",
    "I8, 20, 2000, 3770, 256",
    "I8, 20, 1, -1, 256",
    "I8, 20, 1, 3770, 512"
  })
  void fewAndLargeOnesByTheirParabolas(
      ElementType element, long rows, long a, long c, long levels) {
    assertThat(
            softmax(element, rows, new IntegerNetwork.IntegerSoftmax(a, 85, c, 63, levels), ROOM))
        .containsExactly("[integer_softmax_" + element + "]");
  }
}
