package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class EarlyRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new QuantizeEarly())
            .on(
                """
                (%x: i32[2,6], %m: i32[])
                %0 = reshape(%x) {to = [3, 4]} : i32[3,4]
                %1 = requantize(%0, %m, %m) {shift = 3, low = -128, high = 127, to = i8} : i8[3,4]
                """)
            .gives(
                """
                %0 = requantize(%x, %m, %m) {shift = 3, low = -128, high = 127, to = i8} : i8[2,6]
                %1 = reshape(%0) {to = [3, 4]} : i8[3,4]
                """),
        assertThat(new QuantizeEarly())
            .as("multipliers of columns")
            .on(
                """
                (%x: i32[2,6], %m: i32[4], %a: i32[])
                %0 = reshape(%x) {to = [3, 4]} : i32[3,4]
                %1 = requantize(%0, %m, %a) {shift = 3, low = -128, high = 127, to = i8} : i8[3,4]
                """)
            .doesNotFire(),
        assertThat(new QuantizeEarly())
            .on(
                """
                (%x: f32[2,6], %s: f32[], %z: i8[])
                %0 = reshape(%x) {to = [3, 4]} : f32[3,4]
                %1 = quantize(%0, %s, %z) {axis = 0, block = 0, to = i8} : i8[3,4]
                """)
            .gives(
                """
                %0 = quantize(%x, %s, %z) {axis = 0, block = 0, to = i8} : i8[2,6]
                %1 = reshape(%0) {to = [3, 4]} : i8[3,4]
                """),
        assertThat(new QuantizeEarly())
            .as("heads that become columns")
            .on(
                """
                (%x: f32[2,3,5], %s: f32[], %z: i8[])
                %0 = transpose(%x) {permutation = [1, 0, 2]} : f32[3,2,5]
                %1 = reshape(%0) {to = [3, 10]} : f32[3,10]
                %2 = quantize(%1, %s, %z) {axis = 0, block = 0, to = i8} : i8[3,10]
                """)
            .gives(
                """
                %0 = quantize(%x, %s, %z) {axis = 0, block = 0, to = i8} : i8[2,3,5]
                %1 = transpose(%0) {permutation = [1, 0, 2]} : i8[3,2,5]
                %2 = reshape(%1) {to = [3, 10]} : i8[3,10]
                """),
        assertThat(new QuantizeEarly())
            .as("scales of columns")
            .on(
                """
                (%x: f32[2,6], %s: f32[4], %z: i8[4])
                %0 = reshape(%x) {to = [3, 4]} : f32[3,4]
                %1 = quantize(%0, %s, %z) {axis = 1, block = 0, to = i8} : i8[3,4]
                """)
            .doesNotFire(),
        assertThat(new RequantizeParts())
            .on(
                """
                (%x: i8[2,1], %y: i8[2,3], %m: i32[])
                %0 = neg(%y) : i8[2,3]
                %1 = concat(%x, %0) {axis = 1} : i8[2,4]
                %2 = requantize(%1, %m, %m) {shift = 3, low = -128, high = 127, to = i32} : i32[2,4]
                """)
            .gives(
                """
                %0 = neg(%y) : i8[2,3]
                %1 = requantize(%x, %m, %m) {shift = 3, low = -128, high = 127, to = i32} : i32[2,1]
                %2 = requantize(%0, %m, %m) {shift = 3, low = -128, high = 127, to = i32} : i32[2,3]
                %3 = concat(%1, %2) {axis = 1} : i32[2,4]
                """),
        assertThat(new RequantizeParts())
            .as("parts that other loops compute")
            .on(
                """
                (%x: i8[2,1], %m: i32[])
                %0 = neg(%x) : i8[2,1]
                %1 = abs(%x) : i8[2,1]
                %2 = concat(%0, %1) {axis = 1} : i8[2,2]
                %3 = requantize(%2, %m, %m) {shift = 3, low = -128, high = 127, to = i8} : i8[2,2]
                """)
            .doesNotFire(),
        assertThat(new RequantizeByTable())
            .on(
                """
                (%x: i8[32,32])
                %0 = constant 2 : i32[]
                %1 = constant -3 : i32[]
                %2 = requantize(%x, %0, %1) {shift = 3, low = -128, high = 127, to = i8} : i8[32,32]
                """)
            .gives(
                """
                %0 = weight {offset = 0, hash = "69d97aff434c04f5"} : i8[256]
                %1 = lookup(%x, %0) : i8[32,32]
                """),
        assertThat(new RequantizeByTable())
            .as("few elements")
            .on(
                """
                (%x: i8[31,33])
                %0 = constant 77 : i32[]
                %1 = requantize(%x, %0, %0) {shift = 3, low = -128, high = 127, to = i8} : i8[31,33]
                """)
            .doesNotFire());
  }
}
