package io.partita.passes.graph.raise.integer;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class IntegerRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new MultiplyIntegers())
            .as("one scale for each column, and a zero point of the input")
            .within(1e-6)
            .on(
                """
                (%x: u8[2,3], %b: f32[2])
                %0 = constant 0.5 : f32[]
                %1 = constant 3 : u8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,3]
                %3 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %4 = constant [0.25, 2.0] : f32[2]
                %5 = constant [0, 0] : i8[2]
                %6 = dequantize(%3, %4, %5) {axis = 1, block = 0, to = f32} : f32[3,2]
                %7 = linear(%2, %6, %b) {bias} : f32[2,2]
                """)
            .gives(
                """
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = constant [3, -387] : i32[2]
                %3 = add(%1, %2) : i32[2,2]
                %4 = cast(%3) {to = f32} : f32[2,2]
                %5 = constant [0.125, 1.0] : f32[2]
                %6 = mul(%4, %5) : f32[2,2]
                %7 = add(%6, %b) : f32[2,2]
                """),
        assertThat(new MultiplyIntegers())
            .as("a transposed weight whose zero point makes it signed")
            .within(1e-6)
            .on(
                """
                (%x: i8[4,2,3])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[4,2,3]
                %3 = constant [1, 255, 3, 128, 0, 127] : u8[2,3]
                %4 = constant [0.25, 2.0] : f32[2]
                %5 = constant [128, 128] : u8[2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,3]
                %7 = linear(%2, %6) {transposed} : f32[4,2,2]
                """)
            .gives(
                """
                %0 = constant [-127, 0, 127, -128, -125, -1] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[4,2,2]
                %2 = cast(%1) {to = f32} : f32[4,2,2]
                %3 = constant [0.125, 1.0] : f32[2]
                %4 = mul(%2, %3) : f32[4,2,2]
                """),
        assertThat(new MultiplyIntegers())
            .as("a part of the columns")
            .within(1e-6)
            .on(
                """
                (%x: i8[2,2])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,2]
                %3 = constant [1, -2, 3, 4, -5, 127] : i8[2,3]
                %4 = constant [0.25, 2.0, 3.0] : f32[3]
                %5 = constant [0, 0, 0] : i8[3]
                %6 = dequantize(%3, %4, %5) {axis = 1, block = 0, to = f32} : f32[2,3]
                %7 = slice(%6) {starts = [0,1], sizes = [2,2], steps = [1,1]} : f32[2,2]
                %8 = linear(%2, %7) : f32[2,2]
                """)
            .gives(
                """
                %0 = constant [-2, 3, -5, 127] : i8[2,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = cast(%1) {to = f32} : f32[2,2]
                %3 = constant [1.0, 1.5] : f32[2]
                %4 = mul(%2, %3) : f32[2,2]
                """),
        assertThat(new MultiplyIntegers())
            .as("the scales are those of rows")
            .on(
                """
                (%x: i8[2,2])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,2]
                %3 = constant [1, -2, 3, 4] : i8[2,2]
                %4 = constant [0.25, 2.0] : f32[2]
                %5 = constant [0, 0] : i8[2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyIntegers())
            .as("the weight has a zero point")
            .on(
                """
                (%x: i8[2,2])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,2]
                %3 = constant [1, -2, 3, 4] : i8[2,2]
                %4 = constant 0.25 : f32[]
                %5 = constant 7 : i8[]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyIntegers())
            .as("sums of so many rows might not fit 32 bits")
            .on(
                """
                (%x: u8[1,33026])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : u8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[1,33026]
                %3 = constant [ROWS] : i8[33026,1]
                %4 = constant 0.25 : f32[]
                %5 = constant 0 : i8[]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f32} : f32[33026,1]
                %7 = linear(%2, %6) : f32[1,1]
                """
                    .replace("ROWS", "1, ".repeat(33_025) + "1"))
            .doesNotFire(),
        assertThat(new MultiplyIntegers())
            .as("a scale of 16 bits")
            .on(
                """
                (%x: u8[2,2])
                %0 = constant 0.5 : f16[]
                %1 = constant 0 : u8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f16} : f16[2,2]
                %3 = constant [1, -2, 3, 4] : i8[2,2]
                %4 = constant 0.25 : f16[]
                %5 = constant 0 : i8[]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f16} : f16[2,2]
                %7 = linear(%2, %6) : f16[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyIntegers())
            .as("the input has 16 bits, so that sums might not fit 32")
            .on(
                """
                (%x: i16[2,2])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i16[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,2]
                %3 = constant [1, -2, 3, 4] : i8[2,2]
                %4 = constant 0.25 : f32[]
                %5 = constant 0 : i8[]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyNibbles())
            .as("groups of rows, columns that don't fill a panel, and a zero point of the input")
            .within(1e-5)
            .on(
                """
                (%x: u8[2,16], %b: f32[2])
                %0 = constant 0.5 : f32[]
                %1 = constant 3 : u8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,16]
                %3 = constant [-1, -4, 3, 7, -6, -8, 7, 0, -1, -2, 7, 7, 4, -4, -1, -4, 4, -8, -6, -3, -7, 1, -8, 0, 7, 4, 5, 4, 6, -4, 3, -5] : i4[16,2]
                %4 = constant [0.25, 2.0, 1.5, 0.3] : f32[2,2]
                %5 = constant [0, 0, 0, 0] : i4[2,2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 8, to = f32} : f32[16,2]
                %7 = linear(%2, %6, %b) {bias} : f32[2,2]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "c3d8ff1899246e49"} : u8[1,2,32]
                %1 = constant [0.25, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] : f32[1,2,8]
                %2 = nibble_matmul(%x, %0, %1) : f32[2,8]
                %3 = slice(%2) {starts = [0, 0], sizes = [2, 2], steps = [1, 1]} : f32[2,2]
                %4 = constant [-27.0, 57.9] : f32[2]
                %5 = add(%3, %4) : f32[2,2]
                %6 = constant 0.5 : f32[]
                %7 = mul(%5, %6) : f32[2,2]
                %8 = add(%7, %b) : f32[2,2]
                """),
        assertThat(new MultiplyNibbles())
            .as("a transposed weight whose zero point makes it signed, and scales that fit bf16")
            .within(1e-5)
            .on(
                """
                (%x: i8[3,8])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[3,8]
                %3 = constant [1, 12, 10, 15, 13, 7, 13, 4, 4, 11, 3, 2, 13, 1, 9, 12, 15, 13, 6, 11, 3, 9, 8, 12, 6, 7, 8, 2, 1, 0, 4, 14, 8, 10, 9, 13, 1, 2, 1, 12, 13, 0, 3, 4, 12, 3, 10, 3, 9, 8, 2, 0, 10, 1, 10, 8, 13, 5, 15, 9, 8, 6, 11, 13] : u4[8,8]
                %4 = constant [0.5, 1.0, 2.0, 0.25, 1.5, 3.0, 0.125, -1.0] : f32[8,1]
                %5 = constant [8, 8, 8, 8, 8, 8, 8, 8] : u4[8,1]
                %6 = dequantize(%3, %4, %5) {axis = 1, block = 8, to = f32} : f32[8,8]
                %7 = linear(%2, %6) {transposed} : f32[3,8]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "1f40d64e31fcf7f6"} : u8[1,1,32]
                %1 = constant [0.5, 1.0, 2.0, 0.25, 1.5, 3.0, 0.125, -1.0] : bf16[1,1,8]
                %2 = nibble_matmul(%x, %0, %1) : f32[3,8]
                %3 = constant 0.5 : f32[]
                %4 = mul(%2, %3) : f32[3,8]
                """),
        assertThat(new MultiplyNibbles())
            .as("the groups are too small for kernels")
            .on(
                """
                (%x: i8[2,8])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,8]
                %3 = constant [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7] : i4[8,2]
                %4 = constant [1.0, 1.0, 1.0, 1.0] : f32[2,2]
                %5 = constant [0, 0, 0, 0] : i4[2,2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 4, to = f32} : f32[8,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyNibbles())
            .as("the weight has a zero point")
            .on(
                """
                (%x: i8[2,8])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,8]
                %3 = constant [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7] : i4[8,2]
                %4 = constant [1.0, 1.0] : f32[1,2]
                %5 = constant [0, 1] : i4[1,2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 8, to = f32} : f32[8,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyNibbles())
            .as("the integers don't fit 4 bits with a sign")
            .on(
                """
                (%x: i8[2,8])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,8]
                %3 = constant [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7] : u4[8,2]
                %4 = constant [1.0, 1.0] : f32[1,2]
                %5 = constant [0, 0] : u4[1,2]
                %6 = dequantize(%3, %4, %5) {axis = 0, block = 8, to = f32} : f32[8,2]
                %7 = linear(%2, %6) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MultiplyNibbles())
            .as("the groups are along the columns of the result")
            .on(
                """
                (%x: i8[2,8])
                %0 = constant 0.5 : f32[]
                %1 = constant 0 : i8[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,8]
                %3 = constant [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7] : i4[8,8]
                %4 = constant [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] : f32[8,1]
                %5 = constant [0, 0, 0, 0, 0, 0, 0, 0] : i4[8,1]
                %6 = dequantize(%3, %4, %5) {axis = 1, block = 8, to = f32} : f32[8,8]
                %7 = linear(%2, %6) : f32[2,8]
                """)
            .doesNotFire(),
        assertThat(new RequantizeSums())
            .as("with a bias, a rectifier and zero points")
            .on(
                """
                (%x: u8[2,3])
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = constant [12, -387] : i32[2]
                %3 = add(%1, %2) : i32[2,2]
                %4 = cast(%3) {to = f32} : f32[2,2]
                %5 = constant [0.0137, 0.00211] : f32[2]
                %6 = mul(%4, %5) : f32[2,2]
                %7 = constant [1.3, -4.7] : f32[2]
                %8 = add(%6, %7) : f32[2,2]
                %9 = relu(%8) : f32[2,2]
                %10 = constant 0.173 : f32[]
                %11 = constant -93 : i8[]
                %12 = quantize(%9, %10, %11) {axis = 0, block = 0, to = i8} : i8[2,2]
                """)
            .gives(
                """
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = constant [-1067, -10240] : i32[2]
                %3 = add(%1, %2) : i32[2,2]
                %4 = constant [1360486807, 209534829] : i32[2]
                %5 = constant [-665285960, 82505558] : i32[2]
                %6 = requantize(%3, %4, %5) {shift = 34, low = -93, high = 127, to = i8} : i8[2,2]
                """),
        assertThat(new RequantizeSums())
            .as("subtracted correction, and one scale")
            .on(
                """
                (%x: i8[2,3])
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = constant [12, -387] : i32[1,2]
                %3 = sub(%1, %2) : i32[2,2]
                %4 = cast(%3) {to = f32} : f32[2,2]
                %5 = constant 0.0137 : f32[]
                %6 = mul(%4, %5) : f32[2,2]
                %7 = constant 0.9 : f32[]
                %8 = constant 100 : u8[]
                %9 = quantize(%6, %7, %8) {axis = 0, block = 0, to = u8} : u8[2,2]
                """)
            .gives(
                """
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = constant [6557, 6956] : i32[2]
                %3 = add(%1, %2) : i32[2,2]
                %4 = constant [2092126349, 2092126349] : i32[2]
                %5 = constant [717360619, 717360619] : i32[2]
                %6 = requantize(%3, %4, %5) {shift = 37, low = 0, high = 255, to = u8} : u8[2,2]
                """),
        assertThat(new RequantizeSums())
            .as("the sums have another use")
            .on(
                """
                (%x: i8[2,3])
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = cast(%1) {to = f32} : f32[2,2]
                %3 = constant 0.0137 : f32[]
                %4 = mul(%2, %3) : f32[2,2]
                %5 = constant 0.9 : f32[]
                %6 = constant 100 : u8[]
                %7 = quantize(%4, %5, %6) {axis = 0, block = 0, to = u8} : u8[2,2]
                %8 = dequantize(%7, %5, %6) {axis = 0, block = 0, to = f32} : f32[2,2]
                %9 = add(%4, %8) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new RequantizeSums())
            .as("a bias is beyond 32 bits of sums")
            .on(
                """
                (%x: i8[2,3])
                %0 = constant [1, -2, 3, 4, -5, 127] : i8[3,2]
                %1 = matmul(%x, %0) {result = i32} : i32[2,2]
                %2 = cast(%1) {to = f32} : f32[2,2]
                %3 = constant [1e-9, 0.1] : f32[2]
                %4 = mul(%2, %3) : f32[2,2]
                %5 = constant 0.9 : f32[]
                %6 = constant 100 : u8[]
                %7 = quantize(%4, %5, %6) {axis = 0, block = 0, to = u8} : u8[2,2]
                """)
            .doesNotFire());
  }
}
