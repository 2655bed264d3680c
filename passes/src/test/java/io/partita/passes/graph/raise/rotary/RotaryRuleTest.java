package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class RotaryRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new RaiseRotaryEmbedding())
            .within(1e-6)
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[1,1,5,2], %s: f32[1,1,5,2])
                %0 = concat(%c, %c) {axis = 3} : f32[1,1,5,4]
                %1 = concat(%s, %s) {axis = 3} : f32[1,1,5,4]
                %2 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %3 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %4 = neg(%3) : f32[2,3,5,2]
                %5 = concat(%4, %2) {axis = 3} : f32[2,3,5,4]
                %6 = mul(%x, %0) : f32[2,3,5,4]
                %7 = mul(%5, %1) : f32[2,3,5,4]
                %8 = add(%6, %7) : f32[2,3,5,4]
                """)
            .gives(
                """
                %0 = concat(%c, %c) {axis = 3} : f32[1,1,5,4]
                %1 = concat(%s, %s) {axis = 3} : f32[1,1,5,4]
                %2 = slice(%0) {starts = [0, 0, 0, 0], sizes = [1, 1, 5, 2], steps = [1, 1, 1, 1]} : f32[1,1,5,2]
                %3 = slice(%1) {starts = [0, 0, 0, 0], sizes = [1, 1, 5, 2], steps = [1, 1, 1, 1]} : f32[1,1,5,2]
                %4 = reshape(%2) {to = [1, 5, 2]} : f32[1,5,2]
                %5 = reshape(%3) {to = [1, 5, 2]} : f32[1,5,2]
                %6 = rotary_embedding(%x, %4, %5) : f32[2,3,5,4]
                """),
        assertThat(new RaiseRotaryEmbedding())
            .as("the halves of a table differ")
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[1,1,5,4], %s: f32[1,1,5,4])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %1 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %2 = neg(%1) : f32[2,3,5,2]
                %3 = concat(%2, %0) {axis = 3} : f32[2,3,5,4]
                %4 = mul(%x, %c) : f32[2,3,5,4]
                %5 = mul(%3, %s) : f32[2,3,5,4]
                %6 = add(%4, %5) : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseRotaryEmbedding())
            .as("the lower half is negated")
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[1,1,5,2], %s: f32[1,1,5,2])
                %0 = concat(%c, %c) {axis = 3} : f32[1,1,5,4]
                %1 = concat(%s, %s) {axis = 3} : f32[1,1,5,4]
                %2 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %3 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %4 = neg(%2) : f32[2,3,5,2]
                %5 = concat(%4, %3) {axis = 3} : f32[2,3,5,4]
                %6 = mul(%x, %0) : f32[2,3,5,4]
                %7 = mul(%5, %1) : f32[2,3,5,4]
                %8 = add(%6, %7) : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseRotaryEmbedding())
            .as("another table for each head")
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[1,3,5,2], %s: f32[1,3,5,2])
                %0 = concat(%c, %c) {axis = 3} : f32[1,3,5,4]
                %1 = concat(%s, %s) {axis = 3} : f32[1,3,5,4]
                %2 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %3 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %4 = neg(%3) : f32[2,3,5,2]
                %5 = concat(%4, %2) {axis = 3} : f32[2,3,5,4]
                %6 = mul(%x, %0) : f32[2,3,5,4]
                %7 = mul(%5, %1) : f32[2,3,5,4]
                %8 = add(%6, %7) : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseRotaryEmbedding())
            .as("joined along another axis")
            .on(
                """
                (%x: f32[2,3,4,4], %c: f32[1,1,4,2], %s: f32[1,1,4,2])
                %0 = concat(%c, %c) {axis = 3} : f32[1,1,4,4]
                %1 = concat(%s, %s) {axis = 3} : f32[1,1,4,4]
                %2 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,2,4], steps = [1,1,1,1]} : f32[2,3,2,4]
                %3 = slice(%x) {starts = [0,0,2,0], sizes = [2,3,2,4], steps = [1,1,1,1]} : f32[2,3,2,4]
                %4 = neg(%3) : f32[2,3,2,4]
                %5 = concat(%4, %2) {axis = 2} : f32[2,3,4,4]
                %6 = mul(%x, %0) : f32[2,3,4,4]
                %7 = mul(%5, %1) : f32[2,3,4,4]
                %8 = add(%6, %7) : f32[2,3,4,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseSplitRotation())
            .within(1e-6)
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[5,2], %s: f32[5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %1 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %2 = mul(%0, %c) : f32[2,3,5,2]
                %3 = mul(%1, %s) : f32[2,3,5,2]
                %4 = sub(%2, %3) : f32[2,3,5,2]
                %5 = mul(%1, %c) : f32[2,3,5,2]
                %6 = mul(%0, %s) : f32[2,3,5,2]
                %7 = add(%5, %6) : f32[2,3,5,2]
                %8 = concat(%4, %7) {axis = 3} : f32[2,3,5,4]
                """)
            .gives(
                """
                %0 = reshape(%c) {to = [1, 5, 2]} : f32[1,5,2]
                %1 = reshape(%s) {to = [1, 5, 2]} : f32[1,5,2]
                %2 = rotary_embedding(%x, %0, %1) : f32[2,3,5,4]
                """),
        assertThat(new RaiseSplitRotation())
            .as("turned the other way")
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[5,2], %s: f32[5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %1 = slice(%x) {starts = [0,0,0,2], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %2 = mul(%0, %c) : f32[2,3,5,2]
                %3 = mul(%1, %s) : f32[2,3,5,2]
                %4 = add(%2, %3) : f32[2,3,5,2]
                %5 = mul(%1, %c) : f32[2,3,5,2]
                %6 = mul(%0, %s) : f32[2,3,5,2]
                %7 = sub(%5, %6) : f32[2,3,5,2]
                %8 = concat(%4, %7) {axis = 3} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseSplitRotation())
            .as("of three dimensions")
            .on(
                """
                (%x: f32[3,5,4], %c: f32[5,2], %s: f32[5,2])
                %0 = slice(%x) {starts = [0,0,0], sizes = [3,5,2], steps = [1,1,1]} : f32[3,5,2]
                %1 = slice(%x) {starts = [0,0,2], sizes = [3,5,2], steps = [1,1,1]} : f32[3,5,2]
                %2 = mul(%0, %c) : f32[3,5,2]
                %3 = mul(%1, %s) : f32[3,5,2]
                %4 = sub(%2, %3) : f32[3,5,2]
                %5 = mul(%1, %c) : f32[3,5,2]
                %6 = mul(%0, %s) : f32[3,5,2]
                %7 = add(%5, %6) : f32[3,5,2]
                %8 = concat(%4, %7) {axis = 2} : f32[3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseInterleavedRotation())
            .within(1e-6)
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[5,2], %s: f32[5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,2]} : f32[2,3,5,2]
                %1 = slice(%x) {starts = [0,0,0,1], sizes = [2,3,5,2], steps = [1,1,1,2]} : f32[2,3,5,2]
                %2 = mul(%0, %c) : f32[2,3,5,2]
                %3 = mul(%1, %s) : f32[2,3,5,2]
                %4 = sub(%2, %3) : f32[2,3,5,2]
                %5 = mul(%1, %c) : f32[2,3,5,2]
                %6 = mul(%0, %s) : f32[2,3,5,2]
                %7 = add(%5, %6) : f32[2,3,5,2]
                %8 = reshape(%4) {to = [2,3,5,2,1]} : f32[2,3,5,2,1]
                %9 = reshape(%7) {to = [2,3,5,2,1]} : f32[2,3,5,2,1]
                %10 = concat(%8, %9) {axis = 4} : f32[2,3,5,2,2]
                %11 = reshape(%10) {to = [2,3,5,4]} : f32[2,3,5,4]
                """)
            .gives(
                """
                %0 = reshape(%c) {to = [1, 5, 2]} : f32[1,5,2]
                %1 = reshape(%s) {to = [1, 5, 2]} : f32[1,5,2]
                %2 = rotary_embedding(%x, %0, %1) {interleaved} : f32[2,3,5,4]
                """),
        assertThat(new RaiseInterleavedRotation())
            .as("even features come out before odd ones")
            .on(
                """
                (%x: f32[2,3,5,4], %c: f32[5,2], %s: f32[5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,2], steps = [1,1,1,2]} : f32[2,3,5,2]
                %1 = slice(%x) {starts = [0,0,0,1], sizes = [2,3,5,2], steps = [1,1,1,2]} : f32[2,3,5,2]
                %2 = mul(%0, %c) : f32[2,3,5,2]
                %3 = mul(%1, %s) : f32[2,3,5,2]
                %4 = sub(%2, %3) : f32[2,3,5,2]
                %5 = mul(%1, %c) : f32[2,3,5,2]
                %6 = mul(%0, %s) : f32[2,3,5,2]
                %7 = add(%5, %6) : f32[2,3,5,2]
                %8 = reshape(%4) {to = [2,3,5,1,2]} : f32[2,3,5,1,2]
                %9 = reshape(%7) {to = [2,3,5,1,2]} : f32[2,3,5,1,2]
                %10 = concat(%8, %9) {axis = 3} : f32[2,3,5,2,2]
                %11 = reshape(%10) {to = [2,3,5,4]} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new ExtendPartialRotation())
            .on(
                """
                (%x: f32[2,3,5,7], %c: f32[1,5,2], %s: f32[1,5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,4], steps = [1,1,1,1]} : f32[2,3,5,4]
                %1 = slice(%x) {starts = [0,0,0,4], sizes = [2,3,5,3], steps = [1,1,1,1]} : f32[2,3,5,3]
                %2 = rotary_embedding(%0, %c, %s) : f32[2,3,5,4]
                %3 = concat(%2, %1) {axis = 3} : f32[2,3,5,7]
                """)
            .gives(
                """
                %0 = rotary_embedding(%x, %c, %s) : f32[2,3,5,7]
                """),
        assertThat(new ExtendPartialRotation())
            .as("the features in between are left out")
            .on(
                """
                (%x: f32[2,3,5,7], %c: f32[1,5,2], %s: f32[1,5,2])
                %0 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,4], steps = [1,1,1,1]} : f32[2,3,5,4]
                %1 = slice(%x) {starts = [0,0,0,5], sizes = [2,3,5,2], steps = [1,1,1,1]} : f32[2,3,5,2]
                %2 = rotary_embedding(%0, %c, %s) : f32[2,3,5,4]
                %3 = concat(%2, %1) {axis = 3} : f32[2,3,5,6]
                """)
            .doesNotFire(),
        assertThat(new ExtendPartialRotation())
            .as("the last features are rotated")
            .on(
                """
                (%x: f32[2,3,5,7], %c: f32[1,5,2], %s: f32[1,5,2])
                %0 = slice(%x) {starts = [0,0,0,3], sizes = [2,3,5,4], steps = [1,1,1,1]} : f32[2,3,5,4]
                %1 = slice(%x) {starts = [0,0,0,0], sizes = [2,3,5,3], steps = [1,1,1,1]} : f32[2,3,5,3]
                %2 = rotary_embedding(%0, %c, %s) : f32[2,3,5,4]
                %3 = concat(%2, %1) {axis = 3} : f32[2,3,5,7]
                """)
            .doesNotFire(),
        assertThat(new ExtendPartialRotation())
            .as("the rotated features are of another value")
            .on(
                """
                (%x: f32[2,3,5,7], %z: f32[2,3,5,7], %c: f32[1,5,2], %s: f32[1,5,2])
                %0 = slice(%z) {starts = [0,0,0,0], sizes = [2,3,5,4], steps = [1,1,1,1]} : f32[2,3,5,4]
                %1 = slice(%x) {starts = [0,0,0,4], sizes = [2,3,5,3], steps = [1,1,1,1]} : f32[2,3,5,3]
                %2 = rotary_embedding(%0, %c, %s) : f32[2,3,5,4]
                %3 = concat(%2, %1) {axis = 3} : f32[2,3,5,7]
                """)
            .doesNotFire(),
        assertThat(new HalveRotaryTable())
            .on(
                """
                (%f: f32[5,2])
                %0 = concat(%f, %f) {axis = 1} : f32[5,4]
                %1 = cos(%0) : f32[5,4]
                %2 = reshape(%1) {to = [1,5,4]} : f32[1,5,4]
                %3 = slice(%2) {starts = [0,0,0], sizes = [1,5,2], steps = [1,1,1]} : f32[1,5,2]
                """)
            .gives(
                """
                %0 = cos(%f) : f32[5,2]
                %1 = reshape(%0) {to = [1, 5, 2]} : f32[1,5,2]
                """),
        assertThat(new HalveRotaryTable())
            .as("the second half")
            .on(
                """
                (%f: f32[5,2])
                %0 = concat(%f, %f) {axis = 1} : f32[5,4]
                %1 = cos(%0) : f32[5,4]
                %2 = slice(%1) {starts = [0,2], sizes = [5,2], steps = [1,1]} : f32[5,2]
                """)
            .doesNotFire(),
        assertThat(new HalveRotaryTable())
            .as("the halves are different values")
            .on(
                """
                (%f: f32[5,2], %g: f32[5,2])
                %0 = concat(%f, %g) {axis = 1} : f32[5,4]
                %1 = cos(%0) : f32[5,4]
                %2 = slice(%1) {starts = [0,0], sizes = [5,2], steps = [1,1]} : f32[5,2]
                """)
            .doesNotFire(),
        assertThat(new HalveRotaryTable())
            .as("equal along another axis")
            .on(
                """
                (%f: f32[2,4])
                %0 = concat(%f, %f) {axis = 0} : f32[4,4]
                %1 = cos(%0) : f32[4,4]
                %2 = slice(%1) {starts = [0,0], sizes = [4,2], steps = [1,1]} : f32[4,2]
                """)
            .doesNotFire());
  }
}
