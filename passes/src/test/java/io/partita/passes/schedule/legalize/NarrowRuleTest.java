package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class NarrowRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new NarrowRequantized())
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = i32} : i32[2,3]
                """)
            .gives(
                """
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = u8} : u8[2,3]
                %1 = cast(%0) {to = i32} : i32[2,3]
                """),
        assertThat(new NarrowRequantized())
            .as("a range of more than 8 bits")
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = -1, high = 128, to = i32} : i32[2,3]
                """)
            .doesNotFire(),
        assertThat(new NarrowRequantized())
            .as("to 8 bits")
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = -128, high = 127, to = i8} : i8[2,3]
                """)
            .doesNotFire(),
        assertThat(new NarrowNorm())
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = constant [100, -7, 20, 5, 90] : i32[5]
                %2 = integer_rms_norm(%0, %1) {shift = 1, low = 0, high = 255} : i32[2,5]
                """)
            .gives(
                """
                %0 = constant [100, -7, 20, 5, 90] : i32[5]
                %1 = integer_rms_norm(%x, %0) {shift = 1, low = 0, high = 255} : i8[2,5]
                %2 = cast(%1) {to = u8} : u8[2,5]
                %3 = cast(%2) {to = i32} : i32[2,5]
                """),
        assertThat(new NarrowNorm())
            .as("a range of more than 8 bits")
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = constant [100, -7, 20, 5, 90] : i32[5]
                %2 = integer_rms_norm(%0, %1) {shift = 1, low = -1, high = 255} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new NarrowNorm())
            .as("from 16 bits")
            .on(
                """
                (%x: i16[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = constant [100, -7, 20, 5, 90] : i32[5]
                %2 = integer_rms_norm(%0, %1) {shift = 1, low = 0, high = 255} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new CastNarrow())
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = cast(%0) {to = u8} : u8[2,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = u8} : u8[2,5]
                """),
        assertThat(new CastNarrow())
            .as("from 16 bits")
            .on(
                """
                (%x: i16[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = cast(%0) {to = i8} : i8[2,5]
                """)
            .doesNotFire(),
        assertThat(new RemoveRequantization())
            .on(
                """
                (%x: i8[2,5])
                %0 = constant 65536 : i32[]
                %1 = constant 0 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 16, low = -128, high = 127, to = i32} : i32[2,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[2,5]
                """),
        assertThat(new RemoveRequantization())
            .as("a scale so near 1 that every byte is rounded to itself")
            .on(
                """
                (%x: i8[2,5])
                %0 = constant 65700 : i32[]
                %1 = constant -9000 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 16, low = -128, high = 127, to = i8} : i8[2,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i8} : i8[2,5]
                """),
        assertThat(new RemoveRequantization())
            .as("a scale that some bytes aren't rounded to themselves by")
            .on(
                """
                (%x: i8[2,5])
                %0 = constant 65000 : i32[]
                %1 = constant 0 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 16, low = -128, high = 127, to = i8} : i8[2,5]
                """)
            .doesNotFire(),
        assertThat(new RemoveRequantization())
            .as("a limit within the bytes")
            .on(
                """
                (%x: i8[2,5])
                %0 = constant 65536 : i32[]
                %1 = constant 0 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 16, low = -127, high = 127, to = i8} : i8[2,5]
                """)
            .doesNotFire(),
        assertThat(new RemoveRequantization())
            .as("words")
            .on(
                """
                (%x: i32[2,5])
                %0 = constant 65536 : i32[]
                %1 = constant 0 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 16, low = -128, high = 127, to = i8} : i8[2,5]
                """)
            .doesNotFire(),
        assertThat(new RemoveRequantization())
            .as("a scale that isn't known")
            .on(
                """
                (%x: i8[2,5], %m: i32[])
                %0 = constant 0 : i32[]
                %1 = requantize(%x, %m, %0) {shift = 16, low = -128, high = 127, to = i8} : i8[2,5]
                """)
            .doesNotFire(),
        assertThat(new NarrowSoftmax())
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = power_softmax(%0) {levels = 256, group = 0} : i32[2,5]
                """)
            .gives(
                """
                %0 = power_softmax(%x) {levels = 256, group = 0} : i8[2,5]
                %1 = cast(%0) {to = u8} : u8[2,5]
                %2 = cast(%1) {to = i32} : i32[2,5]
                """),
        assertThat(new NarrowSoftmax())
            .as("more levels")
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = power_softmax(%0) {levels = 512, group = 0} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new NarrowSoftmax())
            .as("by groups")
            .on(
                """
                (%x: i8[2,6])
                %0 = cast(%x) {to = i32} : i32[2,6]
                %1 = power_softmax(%0) {levels = 256, group = 3} : i32[2,6]
                """)
            .doesNotFire(),
        assertThat(new NarrowSoftmax())
            .as("a gelu")
            .on(
                """
                (%x: i8[2,5])
                %0 = cast(%x) {to = i32} : i32[2,5]
                %1 = integer_gelu(%0) {b = -100, one = 10000} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new MoveNarrow())
            .on(
                """
                (%x: u8[2,3], %z: u8[2,1])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = cast(%z) {to = i32} : i32[2,1]
                %2 = concat(%0, %1) {axis = 1} : i32[2,4]
                """)
            .gives(
                """
                %0 = concat(%x, %z) {axis = 1} : u8[2,4]
                %1 = cast(%0) {to = i32} : i32[2,4]
                """),
        assertThat(new MoveNarrow())
            .as("parts of different types")
            .on(
                """
                (%x: u8[2,3], %z: i8[2,1])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = cast(%z) {to = i32} : i32[2,1]
                %2 = concat(%0, %1) {axis = 1} : i32[2,4]
                """)
            .doesNotFire(),
        assertThat(new MoveNarrow())
            .as("a window over padding alone")
            .on(
                """
                (%x: i8[2,3,4])
                %0 = cast(%x) {to = i32} : i32[2,3,4]
                %1 = max_pool(%0) {kernel = [2], strides = [1], dilations = [1], low = [2], high = [0]} : i32[2,3,5]
                """)
            .doesNotFire(),
        assertThat(new MoveNarrow())
            .as("a sum")
            .on(
                """
                (%x: i8[2,3])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = add(%0, %0) : i32[2,3]
                """)
            .doesNotFire(),
        assertThat(new ReadNarrow())
            .on(
                """
                (%x: u8[2,3], %w: i8[3,5])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = cast(%w) {to = i32} : i32[3,5]
                %2 = matmul(%0, %1) {result = i32} : i32[2,5]
                """)
            .gives(
                """
                %0 = matmul(%x, %w) {result = i32} : i32[2,5]
                """),
        assertThat(new ReadNarrow())
            .as("a requantization")
            .on(
                """
                (%x: i8[2,3], %m: i32[3], %a: i32[3])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = requantize(%0, %m, %a) {shift = 8, low = 0, high = 255, to = u8} : u8[2,3]
                """)
            .gives(
                """
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = u8} : u8[2,3]
                """),
        assertThat(new ReadNarrow())
            .as("a sum")
            .on(
                """
                (%x: i8[2,3])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = add(%0, %0) : i32[2,3]
                """)
            .doesNotFire(),
        assertThat(new ReadNarrow())
            .as("from 16 bits")
            .on(
                """
                (%x: i16[2,3], %w: i32[3,5])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = matmul(%0, %w) {result = i32} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new RequantizeWide())
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = u8} : u8[2,3]
                %1 = cast(%0) {to = i32} : i32[2,3]
                """)
            .gives(
                """
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = i32} : i32[2,3]
                """),
        assertThat(new RequantizeWide())
            .as("the narrow form is read as well")
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = u8} : u8[2,3]
                %1 = cast(%0) {to = i32} : i32[2,3]
                return %1, %0
                """)
            .doesNotFire(),
        assertThat(new RequantizeWide())
            .as("the range wraps in the narrow type")
            .on(
                """
                (%x: i32[2,3], %m: i32[3], %a: i32[3])
                %0 = requantize(%x, %m, %a) {shift = 8, low = 0, high = 255, to = i8} : i8[2,3]
                %1 = cast(%0) {to = i32} : i32[2,3]
                """)
            .doesNotFire());
  }
}
