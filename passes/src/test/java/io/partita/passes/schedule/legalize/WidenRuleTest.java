package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class WidenRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new WidenNibbles())
            .on(
                """
                (%i: i64[3])
                %0 = constant [0, 1, 2, 3, 4, 5, 6, 15] : u4[4,2]
                %1 = constant [2] : i64[1]
                %2 = gather(%0, %1) {axis = 0} : u4[1,2]
                %3 = constant 0.5 : f32[]
                %4 = constant 8 : u4[]
                %5 = dequantize(%2, %3, %4) {axis = 0, block = 0, to = f32} : f32[1,2]
                """)
            .gives(
                """
                %0 = constant [2] : i64[1]
                %1 = constant 0.5 : f32[]
                %2 = constant [0, 1, 2, 3, 4, 5, 6, 15] : u8[4,2]
                %3 = gather(%2, %0) {axis = 0} : u8[1,2]
                %4 = constant 8 : u8[]
                %5 = dequantize(%3, %1, %4) {axis = 0, block = 0, to = f32} : f32[1,2]
                """),
        assertThat(new WidenNibbles())
            .as("not of a constant")
            .on(
                """
                (%x: u4[3,5])
                %0 = constant 0.5 : f32[]
                %1 = constant 8 : u4[]
                %2 = dequantize(%x, %0, %1) {axis = 0, block = 0, to = f32} : f32[3,5]
                """)
            .doesNotFire(),
        assertThat(new WidenNibbles())
            .as("bytes")
            .on(
                """
                (%x: f32[2])
                %0 = constant [1, 2] : u8[2]
                %1 = constant 0.5 : f32[]
                %2 = constant 8 : u8[]
                %3 = dequantize(%0, %1, %2) {axis = 0, block = 0, to = f32} : f32[2]
                %4 = add(%x, %3) : f32[2]
                """)
            .doesNotFire(),
        assertThat(new WidenProduct())
            .on(
                """
                (%x: i16[2,3], %w: u8[3,5])
                %0 = matmul(%x, %w) {result = i32} : i32[2,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = matmul(%0, %w) {result = i32} : i32[2,5]
                """),
        assertThat(new WidenProduct())
            .as("there's a kernel")
            .on(
                """
                (%x: i8[2,3], %w: i8[3,5])
                %0 = matmul(%x, %w) {result = i32} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new WidenProduct())
            .as("sums of 64 bits")
            .on(
                """
                (%x: i64[2,3], %w: i64[3,5])
                %0 = matmul(%x, %w) {result = i64} : i64[2,5]
                """)
            .doesNotFire(),
        assertThat(new WidenPower())
            .on(
                """
                (%x: i8[5])
                %0 = constant 3 : u8[]
                %1 = pow(%x, %0) : i8[5]
                """)
            .gives(
                """
                %0 = constant 3 : u8[]
                %1 = cast(%x) {to = i64} : i64[5]
                %2 = cast(%0) {to = i64} : i64[]
                %3 = pow(%1, %2) : i64[5]
                %4 = cast(%3) {to = i8} : i8[5]
                """),
        assertThat(new WidenPower())
            .as("of floats by integers")
            .on(
                """
                (%x: f32[5])
                %0 = constant 3 : i32[]
                %1 = pow(%x, %0) : f32[5]
                """)
            .gives(
                """
                %0 = constant 3 : i32[]
                %1 = cast(%x) {to = f64} : f64[5]
                %2 = cast(%0) {to = f64} : f64[]
                %3 = pow(%1, %2) : f64[5]
                %4 = cast(%3) {to = f32} : f32[5]
                """),
        assertThat(new WidenPower())
            .as("there's a kernel")
            .on(
                """
                (%x: f32[5], %z: f32[5])
                %0 = pow(%x, %z) : f32[5]
                """)
            .doesNotFire(),
        assertThat(new WidenPower())
            .as("a product")
            .on(
                """
                (%x: i8[5])
                %0 = mul(%x, %x) : i8[5]
                """)
            .doesNotFire(),
        assertThat(new WidenElements())
            .on(
                """
                (%x: i16[5], %z: i16[5])
                %0 = mul(%x, %z) : i16[5]
                %1 = neg(%0) : i16[5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[5]
                %1 = cast(%z) {to = i32} : i32[5]
                %2 = mul(%0, %1) : i32[5]
                %3 = cast(%2) {to = i16} : i16[5]
                %4 = cast(%3) {to = i32} : i32[5]
                %5 = neg(%4) : i32[5]
                %6 = cast(%5) {to = i16} : i16[5]
                """),
        assertThat(new WidenElements())
            .as("without a sign")
            .on(
                """
                (%x: u32[2,3])
                %0 = reduce_sum(%x) {axes = [1]} : u32[2]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i64} : i64[2,3]
                %1 = reduce_sum(%0) {axes = [1]} : i64[2]
                %2 = cast(%1) {to = u32} : u32[2]
                """),
        assertThat(new WidenElements())
            .as("with two results")
            .on(
                """
                (%x: u16[5])
                %0, %1 = top_k(%x) {k = [3], axis = 0, largest} : u16[3], i64[3]
                return %0, %1
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[5]
                %1, %2 = top_k(%0) {k = [3], axis = 0, largest} : i32[3], i64[3]
                %3 = cast(%1) {to = u16} : u16[3]
                return %3, %2
                """),
        assertThat(new WidenElements())
            .as("bytes have kernels of two")
            .on(
                """
                (%x: u8[5], %z: u8[5])
                %0 = mul(%x, %z) : u8[5]
                """)
            .doesNotFire(),
        assertThat(new WidenElements())
            .as("a power")
            .on(
                """
                (%x: i16[5], %z: i16[5])
                %0 = pow(%x, %z) : i16[5]
                """)
            .doesNotFire(),
        assertThat(new WidenElements())
            .as("a movement")
            .on(
                """
                (%x: i16[2,3])
                %0 = transpose(%x) {permutation = [1,0]} : i16[3,2]
                """)
            .doesNotFire(),
        assertThat(new WidenScatter())
            .indices(3)
            .on(
                """
                (%x: i8[3,5], %i: i64[2,1], %u: i8[2,5])
                %0 = scatter_nd(%x, %i, %u) {reduction = add} : i8[3,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i32} : i32[3,5]
                %1 = cast(%u) {to = i32} : i32[2,5]
                %2 = scatter_nd(%0, %i, %1) {reduction = add} : i32[3,5]
                %3 = cast(%2) {to = i8} : i8[3,5]
                """),
        assertThat(new WidenScatter())
            .as("replaces")
            .on(
                """
                (%x: i8[3,5], %i: i64[2,1], %u: i8[2,5])
                %0 = scatter_nd(%x, %i, %u) {reduction = replace} : i8[3,5]
                """)
            .doesNotFire(),
        assertThat(new WidenScatter())
            .as("the larger of 64 bits without a sign")
            .on(
                """
                (%x: u64[3,5], %i: i64[2,1], %u: u64[2,5])
                %0 = scatter_nd(%x, %i, %u) {reduction = max} : u64[3,5]
                """)
            .doesNotFire());
  }
}
