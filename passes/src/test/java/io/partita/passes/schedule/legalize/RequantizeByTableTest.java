package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequantizeByTableTest {
  private static Legalized requantized(
      ElementType from, ElementType to, boolean isConstant, long... extents) {
    TensorType one = TensorType.of(ElementType.I32);
    return Legalized.of(
        graph -> {
          Value x = graph.input("x", TensorType.of(from, extents));
          Value multiplier =
              isConstant
                  ? graph.constant(Tensor.filled(one, 40_000))
                  : graph.input("multiplier", one);
          Value addend = graph.constant(Tensor.filled(one, -70_000));
          Requantize op = new Requantize(16, to.minimum(), to.maximum(), to);
          return graph.add(op, x, multiplier, addend);
        });
  }

  @ParameterizedTest
  @CsvSource({"I8, I8", "I8, U8", "U8, I8", "U8, U8"})
  void manyBytesAreReadFromATable(ElementType from, ElementType to) {
    assertThat(requantized(from, to, true, 4, 300).agrees().operations()).containsExactly("lookup");
  }

  @Test
  void othersAreComputed() {
    assertThat(requantized(ElementType.I8, ElementType.I8, true, 4, 200).operations())
        .containsExactly("requantize");
    assertThat(requantized(ElementType.I8, ElementType.I32, true, 4, 300).operations())
        .containsExactly("requantize");
    assertThat(requantized(ElementType.I32, ElementType.I8, true, 4, 300).operations())
        .containsExactly("requantize");
    assertThat(requantized(ElementType.I8, ElementType.I8, false, 4, 300).operations())
        .containsExactly("requantize");
  }
}
