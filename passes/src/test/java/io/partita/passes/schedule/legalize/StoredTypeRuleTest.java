package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class StoredTypeRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new UnpackNibbles())
            .on(
                """
                (%x: i4[3,5])
                %0 = transpose(%x) {permutation = [1,0]} : i4[5,3]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i8} : i8[3,5]
                %1 = transpose(%0) {permutation = [1, 0]} : i8[5,3]
                %2 = cast(%1) {to = i4} : i4[5,3]
                """),
        assertThat(new UnpackNibbles())
            .as("to 4 bits")
            .on(
                """
                (%x: f32[5])
                %0 = constant 0.25 : f32[]
                %1 = constant 8 : u4[]
                %2 = quantize(%x, %0, %1) {axis = 0, block = 0, to = u4} : u4[5]
                """)
            .gives(
                """
                %0 = constant 0.25 : f32[]
                %1 = constant 8 : u4[]
                %2 = cast(%1) {to = u8} : u8[]
                %3 = quantize(%x, %0, %2) {axis = 0, block = 0, to = u8} : u8[5]
                %4 = constant 0 : u8[]
                %5 = max(%3, %4) : u8[5]
                %6 = constant 15 : u8[]
                %7 = min(%5, %6) : u8[5]
                %8 = cast(%7) {to = u4} : u4[5]
                """),
        assertThat(new UnpackNibbles())
            .as("a cast, which is unpacking")
            .on(
                """
                (%x: u4[3,5])
                %0 = cast(%x) {to = u8} : u8[3,5]
                %1 = cast(%0) {to = u4} : u4[3,5]
                """)
            .doesNotFire(),
        assertThat(new UnpackNibbles())
            .as("a reshape")
            .on(
                """
                (%x: i4[3,5])
                %0 = reshape(%x) {to = [15]} : i4[15]
                """)
            .doesNotFire(),
        assertThat(new UnpackNibbles())
            .as("bytes")
            .on(
                """
                (%x: i8[3,5])
                %0 = transpose(%x) {permutation = [1,0]} : i8[5,3]
                """)
            .doesNotFire(),
        assertThat(new UnpackMessages())
            .withoutNumbers()
            .on(
                """
                (%x: i4[3])
                %0 = exchange(%x) {sync = 0, elements = 6, element = i4, before = "0+3", after = "0+3 3+3", steps = "send 1 (2 B): 0+3; receive 1 (2 B) replace: 3+3"} : i4[6]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i8} : i8[3]
                %1 = exchange(%0) {sync = 0, elements = 6, element = i8, before = "0+3", after = "0+3 3+3", steps = "send 1 (3 B): 0+3; receive 1 (3 B) replace: 3+3"} : i8[6]
                %2 = cast(%1) {to = i4} : i4[6]
                """),
        assertThat(new UnpackMessages())
            .as("bytes")
            .on(
                """
                (%x: i8[3])
                %0 = exchange(%x) {sync = 0, elements = 6, element = i8, before = "0+3", after = "0+3 3+3", steps = "send 1 (3 B): 0+3; receive 1 (3 B) replace: 3+3"} : i8[6]
                """)
            .doesNotFire(),
        assertThat(new ComputeInF32())
            .within(0x1p-9)
            .on(
                """
                (%x: f16[2,3], %z: f16[3,5])
                %0 = matmul(%x, %z) {result = f16} : f16[2,5]
                """)
            .gives(
                """
                %0 = cast(%x) {to = f32} : f32[2,3]
                %1 = cast(%z) {to = f32} : f32[3,5]
                %2 = matmul(%0, %1) {result = f32} : f32[2,5]
                %3 = cast(%2) {to = f16} : f16[2,5]
                """),
        assertThat(new ComputeInF32())
            .as("to integers")
            .on(
                """
                (%x: bf16[2,3])
                %0 = cast(%x) {to = i32} : i32[2,3]
                """)
            .gives(
                """
                %0 = cast(%x) {to = f32} : f32[2,3]
                %1 = cast(%0) {to = i32} : i32[2,3]
                """),
        assertThat(new ComputeInF32())
            .as("a movement")
            .on(
                """
                (%x: f16[2,3])
                %0 = transpose(%x) {permutation = [1,0]} : f16[3,2]
                """)
            .doesNotFire(),
        assertThat(new ComputeInF32())
            .as("a cast that rounds once")
            .on(
                """
                (%x: f32[2,3])
                %0 = cast(%x) {to = f16} : f16[2,3]
                %1 = cast(%0) {to = f32} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new ComputeInF32())
            .as("in f32 already")
            .on(
                """
                (%x: f32[2,3])
                %0 = exp(%x) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new KeepF32())
            .within(0x1p-9)
            .on(
                """
                (%x: f32[2,3])
                %0 = cast(%x) {to = f16} : f16[2,3]
                %1 = cast(%0) {to = f32} : f32[2,3]
                """)
            .gives(
                """
                return %x
                """),
        assertThat(new KeepF32())
            .as("through integers")
            .on(
                """
                (%x: f32[2,3])
                %0 = cast(%x) {to = i32} : i32[2,3]
                %1 = cast(%0) {to = f32} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new KeepF32())
            .as("from f64")
            .on(
                """
                (%x: f64[2,3])
                %0 = cast(%x) {to = f16} : f16[2,3]
                %1 = cast(%0) {to = f32} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new MoveF32())
            .on(
                """
                (%x: f32[2,3], %z: f32[2,1])
                %0 = cast(%x) {to = bf16} : bf16[2,3]
                %1 = cast(%z) {to = bf16} : bf16[2,1]
                %2 = concat(%0, %1) {axis = 1} : bf16[2,4]
                """)
            .gives(
                """
                %0 = concat(%x, %z) {axis = 1} : f32[2,4]
                %1 = cast(%0) {to = bf16} : bf16[2,4]
                """),
        assertThat(new MoveF32())
            .as("one part isn't of f32")
            .on(
                """
                (%x: f32[2,3], %z: f16[2,1])
                %0 = cast(%x) {to = f16} : f16[2,3]
                %1 = concat(%0, %z) {axis = 1} : f16[2,4]
                """)
            .doesNotFire(),
        assertThat(new MoveF32())
            .as("a gather")
            .on(
                """
                (%x: f32[2,3], %i: i64[5])
                %0 = cast(%x) {to = f16} : f16[2,3]
                %1 = gather(%0, %i) {axis = 1} : f16[2,5]
                """)
            .doesNotFire(),
        assertThat(new MoveF32())
            .as("to integers")
            .on(
                """
                (%x: f32[2,3])
                %0 = cast(%x) {to = i8} : i8[2,3]
                %1 = transpose(%0) {permutation = [1,0]} : i8[3,2]
                """)
            .doesNotFire());
  }
}
