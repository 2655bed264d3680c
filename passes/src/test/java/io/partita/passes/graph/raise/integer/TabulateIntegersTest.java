package io.partita.passes.graph.raise.integer;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

/** Inputs have many more elements than there are bytes, so that numbers agree for all entries. */
public final class TabulateIntegersTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new TabulateIntegers())
            .as("an integer hard-swish between requantizations to words")
            .on(
                """
                (%sums: i32[32,64])
                %0 = constant 3 : i32[]
                %1 = constant 40 : i32[]
                %2 = requantize(%sums, %0, %1) {shift = 2, low = -128, high = 127, to = i32} : i32[32,64]
                %3 = constant 0 : i32[]
                %4 = constant 90 : i32[]
                %5 = add(%2, %1) : i32[32,64]
                %6 = max(%5, %3) : i32[32,64]
                %7 = min(%6, %4) : i32[32,64]
                %8 = mul(%7, %2) : i32[32,64]
                %9 = requantize(%8, %0, %1) {shift = 8, low = -128, high = 127, to = i32} : i32[32,64]
                """)
            .gives(
                """
                %0 = constant 3 : i32[]
                %1 = constant 40 : i32[]
                %2 = requantize(%sums, %0, %1) {shift = 2, low = -128, high = 127, to = i8} : i8[32,64]
                %3 = weight {offset = 0, hash = "73816470dbe25a90"} : i8[256]
                %4 = lookup(%2, %3) : i8[32,64]
                %5 = cast(%4) {to = i32} : i32[32,64]
                """),
        assertThat(new TabulateIntegers())
            .as("functions of bytes, with a result that isn't negative")
            .on(
                """
                (%x: i8[2048])
                %0 = constant 3 : i32[]
                %1 = cast(%x) {to = i32} : i32[2048]
                %2 = mul(%1, %1) : i32[2048]
                %3 = requantize(%2, %0, %0) {shift = 8, low = 0, high = 255, to = u8} : u8[2048]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "89ed78cb84fdf19a"} : u8[256]
                %1 = lookup(%x, %0) : u8[2048]
                """),
        assertThat(new TabulateIntegers())
            .as("two functions take no more than a lookup")
            .on(
                """
                (%x: i8[4])
                %0 = constant 3 : i32[]
                %1 = cast(%x) {to = i32} : i32[4]
                %2 = requantize(%1, %0, %0) {shift = 2, low = -128, high = 127, to = i8} : i8[4]
                """)
            .doesNotFire(),
        assertThat(new TabulateIntegers())
            .as("something else reads the requantized sums")
            .on(
                """
                (%sums: i32[4], %y: i32[4])
                %0 = constant 3 : i32[]
                %1 = requantize(%sums, %0, %0) {shift = 2, low = -128, high = 127, to = i32} : i32[4]
                %2 = add(%1, %0) : i32[4]
                %3 = mul(%2, %1) : i32[4]
                %4 = requantize(%3, %0, %0) {shift = 8, low = -128, high = 127, to = i8} : i8[4]
                %5 = add(%1, %y) : i32[4]
                return %4, %5
                """)
            .doesNotFire(),
        assertThat(new TabulateIntegers())
            .as("the requantized sums have more numbers than bytes")
            .on(
                """
                (%sums: i32[4])
                %0 = constant 3 : i32[]
                %1 = requantize(%sums, %0, %0) {shift = 2, low = -128, high = 128, to = i32} : i32[4]
                %2 = add(%1, %0) : i32[4]
                %3 = mul(%2, %1) : i32[4]
                %4 = requantize(%3, %0, %0) {shift = 8, low = -128, high = 127, to = i8} : i8[4]
                """)
            .doesNotFire());
  }
}
