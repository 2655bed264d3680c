package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ElementTextTest {
  private static String write(ElementType element, long bits) {
    return ElementText.write(ElementText.tensor(TensorType.scalar(element), new long[] {bits}), 0);
  }

  @ParameterizedTest
  @EnumSource(
      value = ElementType.class,
      names = {"F16", "BF16", "I16", "U16", "I8", "U8"})
  void everyValueOfSmallTypesRoundTrips(ElementType element) {
    long mask = (1L << element.bits()) - 1;
    for (long bits = 0; bits <= mask; bits++) {
      assertThat(ElementText.read(element, write(element, bits)) & mask).isEqualTo(bits);
    }
  }

  @Property(seed = "1", tries = 2000)
  void everyBitPatternRoundTrips(@ForAll long bits) {
    for (ElementType element : ElementType.values()) {
      if (element != ElementType.BOOL) {
        long mask = element.bits() == 64 ? -1 : (1L << element.bits()) - 1;
        assertThat(ElementText.read(element, write(element, bits)) & mask)
            .as("%s %x", element, bits)
            .isEqualTo(bits & mask);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "F32, 0.1, 0.1",
    "F32, 16777217, 1.6777216E7",
    "F16, 0.1, 0.1",
    "F16, 65504, 65500.0",
    "F16, 1e-8, 0.0",
    "BF16, 3.14159, 3.14",
    "F64, -0.0, -0.0",
    "F64, 1e400000000, NONE",
    "F16, 65520, NONE",
    "F32, 0x1p3, NONE",
    "F32, 1f, NONE",
    "F32, NaN, NONE",
    "F32, nan:0x7f800000, NONE",
    "F32, nan:0x7fc00001, nan:0x7fc00001",
    "F32, nan:0x7fc0, NONE",
    "F32, -inf, -inf",
    "U64, 18446744073709551615, 18446744073709551615",
    "U64, 18446744073709551616, NONE",
    "U8, -1, NONE",
    "I4, -8, -8",
    "I4, 8, NONE",
    "I8, 1.0, NONE",
    "BOOL, true, true",
    "BOOL, 1, NONE",
  })
  void theShortestTextIsPrinted(ElementType element, String text, String expected) {
    if (expected.equals("NONE")) {
      assertThatThrownBy(() -> ElementText.read(element, text))
          .isInstanceOf(NumberFormatException.class);
    } else {
      assertThat(write(element, ElementText.read(element, text))).isEqualTo(expected);
    }
  }

  @Test
  void strayBitsAreRefused() {
    Tensor odd = Tensor.of(TensorType.of(ElementType.U4, 1), bytes(0x35));
    assertThat(ElementText.isPlain(odd)).isFalse();
    assertThat(ElementText.isPlain(Tensor.of(TensorType.of(ElementType.U4, 2), bytes(0x35))))
        .isTrue();
    assertThat(ElementText.isPlain(Tensor.of(TensorType.of(ElementType.BOOL, 1), bytes(2))))
        .isFalse();
  }

  private static java.lang.foreign.MemorySegment bytes(int value) {
    return java.lang.foreign.MemorySegment.ofArray(new byte[] {(byte) value});
  }
}
