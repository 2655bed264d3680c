package io.partita.passes.graph.raise.integer;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Inputs have many more elements than there are bytes, so that numbers agree for all entries. */
public final class TabulateFunctionsTest implements RuleTest {
  private static final String HALVES =
      LongStream.range(-128, 128)
          .map(x -> x / 2)
          .mapToObj(Long::toString)
          .collect(Collectors.joining(", ", "[", "]"));

  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new TabulateFunctions())
            .as("one function of signed bytes with unsigned results")
            .on(
                """
                (%x: i8[32,64])
                %0 = constant 0.5 : f32[]
                %1 = constant -3 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[32,64]
                %3 = relu(%2) : f32[32,64]
                %4 = constant 0.25 : f32[]
                %5 = constant 10 : u8[]
                %6 = quantize(%3, %4, %5) {axis = 0, block = 0, to = u8} : u8[32,64]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "7f3ee8461eaa7e63"} : u8[256]
                %1 = lookup(%x, %0) : u8[32,64]
                """),
        assertThat(new TabulateFunctions())
            .as("several nodes with constants and a quantization in between")
            .on(
                """
                (%x: u8[32,64])
                %0 = constant 1.0 : f32[]
                %1 = constant 128 : u8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[32,64]
                %3 = relu(%2) : f32[32,64]
                %4 = constant [2.0] : f32[1,1]
                %5 = mul(%4, %3) : f32[32,64]
                %6 = quantize(%5, %0, %1) {axis = 0, block = 0, to = u8} : u8[32,64]
                %7 = dequantize(%6, %0, %1) {axis = 0, block = 0, to = f32} : f32[32,64]
                %8 = add(%2, %7) : f32[32,64]
                %9 = constant 0 : i8[]
                %10 = quantize(%8, %0, %9) {axis = 0, block = 0, to = i8} : i8[32,64]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "d03288051fc0b4de"} : i8[256]
                %1 = lookup(%x, %0) : i8[32,64]
                """),
        assertThat(new TabulateFunctions())
            .as("a function of a lookup")
            .on(
                """
                (%x: i8[2048])
                %0 = constant TABLE : i8[256]
                %1 = lookup(%x, %0) : i8[2048]
                %2 = constant 0.5 : f32[]
                %3 = constant 0 : i8[]
                %4 = dequantize(%1, %2, %3) {axis = 0, block = 0, to = f32} : f32[2048]
                %5 = neg(%4) : f32[2048]
                %6 = quantize(%5, %2, %3) {axis = 0, block = 0, to = i8} : i8[2048]
                """
                    .replace("TABLE", HALVES))
            .gives(
                """
                %0 = weight {offset = 0, hash = "c6ac9e7a0db6ea11"} : i8[256]
                %1 = lookup(%x, %0) : i8[2048]
                """),
        assertThat(new TabulateFunctions())
            .as("each byte is its own result")
            .on(
                """
                (%x: i8[4])
                %0 = constant 0.5 : f32[]
                %1 = constant 3 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[4]
                %3 = constant 1.0 : f32[]
                %4 = div(%2, %3) : f32[4]
                %5 = quantize(%4, %0, %1) {axis = 0, block = 0, to = i8} : i8[4]
                %6 = cast(%5) {to = i32} : i32[4]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[4]
                """),
        assertThat(new TabulateFloats())
            .as("an activation whose result stays float")
            .on(
                """
                (%x: i8[32,64], %up: f32[32,64])
                %0 = constant 0.0625 : f32[]
                %1 = constant 7 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[32,64]
                %3 = silu(%2) : f32[32,64]
                %4 = mul(%3, %up) : f32[32,64]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "55378ac9266c2e4f"} : f32[256]
                %1 = lookup(%x, %0) : f32[32,64]
                %2 = mul(%1, %up) : f32[32,64]
                """),
        assertThat(new TabulateFloats())
            .as("a negation takes no more than a load")
            .on(
                """
                (%x: i8[4])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[4]
                %3 = neg(%2) : f32[4]
                """)
            .doesNotFire(),
        assertThat(new TabulateFloats())
            .as("the argument is float")
            .on(
                """
                (%x: f32[4])
                %0 = silu(%x) : f32[4]
                """)
            .doesNotFire(),
        assertThat(new TabulateFunctions())
            .as("the function differs from feature to feature")
            .on(
                """
                (%x: i8[2,256], %b: f32[256])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,256]
                %3 = add(%2, %b) : f32[2,256]
                %4 = quantize(%3, %0, %1) {axis = 0, block = 0, to = i8} : i8[2,256]
                """)
            .doesNotFire(),
        assertThat(new TabulateFunctions())
            .as("it is a function of two arguments, one of which is computed from the other")
            .on(
                """
                (%x: i8[4], %y: i8[4])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[4]
                %3 = dequantize(%y, %0, %1) {axis = 0, block = 0, to = f32} : f32[4]
                %4 = add(%2, %3) : f32[4]
                %5 = mul(%4, %2) : f32[4]
                %6 = quantize(%5, %0, %1) {axis = 0, block = 0, to = i8} : i8[4]
                """)
            .doesNotFire(),
        assertThat(new TabulateFunctions())
            .as("the argument has 16 bits")
            .on(
                """
                (%x: i16[4])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i16[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[4]
                %3 = relu(%2) : f32[4]
                %4 = constant 0 : i8[]
                %5 = quantize(%3, %0, %4) {axis = 0, block = 0, to = i8} : i8[4]
                """)
            .doesNotFire(),
        assertThat(new TabulateFunctions())
            .as("each feature has its own scale")
            .on(
                """
                (%x: i8[4,2])
                %0 = constant [0.5, 0.25] : f32[2]
                %1 = constant [0, 0] : i8[2]
                %2 = dequantize(%x, %0, %1) {axis = 1, block = 0, to = f32} : f32[4,2]
                %3 = relu(%2) : f32[4,2]
                %4 = constant 0.5 : f32[]
                %5 = constant 0 : i8[]
                %6 = quantize(%3, %4, %5) {axis = 0, block = 0, to = i8} : i8[4,2]
                """)
            .doesNotFire());
  }
}
