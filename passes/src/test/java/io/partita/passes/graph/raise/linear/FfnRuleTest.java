package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class FfnRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new SplitFusedLinear())
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,6], %b: f32[6])
                %0 = linear(%x, %w, %b) {bias} : f32[2,5,6]
                %1 = slice(%0) {starts = [0,0,2], sizes = [2,5,3], steps = [1,1,1]} : f32[2,5,3]
                """)
            .gives(
                """
                %0 = slice(%w) {starts = [0, 2], sizes = [3, 3], steps = [1, 1]} : f32[3,3]
                %1 = slice(%b) {starts = [2], sizes = [3], steps = [1]} : f32[3]
                %2 = linear(%x, %0, %1) {bias} : f32[2,5,3]
                %3 = reshape(%2) {to = [2, 5, 3]} : f32[2,5,3]
                """),
        assertThat(new SplitFusedLinear())
            .as("a part of each head")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[12,3])
                %0 = linear(%x, %w) {transposed} : f32[2,5,12]
                %1 = reshape(%0) {to = [2,5,2,6]} : f32[2,5,2,6]
                %2 = slice(%1) {starts = [0,0,0,2], sizes = [2,5,2,2], steps = [1,1,1,1]} : f32[2,5,2,2]
                """)
            .gives(
                """
                %0 = reshape(%w) {to = [2, 6, 3]} : f32[2,6,3]
                %1 = slice(%0) {starts = [0, 2, 0], sizes = [2, 2, 3], steps = [1, 1, 1]} : f32[2,2,3]
                %2 = reshape(%1) {to = [4, 3]} : f32[4,3]
                %3 = linear(%x, %2) {transposed} : f32[2,5,4]
                %4 = reshape(%3) {to = [2, 5, 2, 2]} : f32[2,5,2,2]
                """),
        assertThat(new SplitFusedLinear())
            .as("rows are cut")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,6])
                %0 = linear(%x, %w) : f32[2,5,6]
                %1 = slice(%0) {starts = [0,4,2], sizes = [2,1,3], steps = [1,1,1]} : f32[2,1,3]
                """)
            .doesNotFire(),
        assertThat(new SplitFusedLinear())
            .as("nothing is cut")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,6])
                %0 = linear(%x, %w) : f32[2,5,6]
                %1 = slice(%0) {starts = [0,0,0], sizes = [2,5,6], steps = [1,1,1]} : f32[2,5,6]
                """)
            .doesNotFire(),
        assertThat(new SplitFusedLinear())
            .as("nothing is left")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,6])
                %0 = linear(%x, %w) : f32[2,5,6]
                %1 = slice(%0) {starts = [0,0,2], sizes = [2,5,0], steps = [1,1,1]} : f32[2,5,0]
                """)
            .doesNotFire(),
        assertThat(new SplitFusedLinear())
            .as("the reshape mixes rows and features")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,6])
                %0 = linear(%x, %w) : f32[2,5,6]
                %1 = reshape(%0) {to = [4,15]} : f32[4,15]
                %2 = slice(%1) {starts = [0,2], sizes = [4,3], steps = [1,1]} : f32[4,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseFfn())
            .on(
                """
                (%x: f32[2,3], %up: f32[5,3], %bias: f32[5], %down: f32[5,3])
                %0 = linear(%x, %up, %bias) {transposed, bias} : f32[2,5]
                %1 = relu(%0) : f32[2,5]
                %2 = linear(%1, %down) : f32[2,3]
                """)
            .gives(
                """
                %0 = transpose(%up) {permutation = [1, 0]} : f32[3,5]
                %1 = ffn(%x, %0, %bias, %down) {activation = relu, up_bias} : f32[2,3]
                """),
        assertThat(new RaiseFfn())
            .as("a tanh, as in poolers")
            .on(
                """
                (%x: f32[2,3], %up: f32[3,5], %down: f32[5,3])
                %0 = linear(%x, %up) : f32[2,5]
                %1 = tanh(%0) : f32[2,5]
                %2 = linear(%1, %down) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseFfn())
            .as("the hidden value is read twice")
            .on(
                """
                (%x: f32[2,3], %up: f32[3,5], %down: f32[5,5])
                %0 = linear(%x, %up) : f32[2,5]
                %1 = relu(%0) : f32[2,5]
                %2 = linear(%1, %down) : f32[2,5]
                %3 = add(%1, %2) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseFfn())
            .as("the activation is the weight")
            .on(
                """
                (%x: f32[2,3], %z: f32[3,4], %up: f32[4,5])
                %0 = linear(%z, %up) : f32[3,5]
                %1 = relu(%0) : f32[3,5]
                %2 = linear(%x, %1) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseGatedFfn())
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,5], %up: f32[5,3], %bias: f32[5], %down: f32[5,3])
                %0 = linear(%x, %gate) : f32[2,5]
                %1 = silu(%0) : f32[2,5]
                %2 = linear(%x, %up, %bias) {transposed, bias} : f32[2,5]
                %3 = mul(%2, %1) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """)
            .gives(
                """
                %0 = transpose(%up) {permutation = [1, 0]} : f32[3,5]
                %1 = gated_ffn(%x, %gate, %0, %bias, %down) {activation = silu, up_bias} : f32[2,3]
                """),
        assertThat(new RaiseGatedFfn())
            .as("the gate of the first gated linear units is a sigmoid")
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,5], %up: f32[3,5], %down: f32[5,3])
                %0 = linear(%x, %gate) : f32[2,5]
                %1 = sigmoid(%0) : f32[2,5]
                %2 = linear(%x, %up) : f32[2,5]
                %3 = mul(%2, %1) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """)
            .gives(
                """
                %0 = gated_ffn(%x, %gate, %up, %down) {activation = sigmoid} : f32[2,3]
                """),
        assertThat(new RaiseGatedFfn())
            .as("gate and up read different values")
            .on(
                """
                (%x: f32[2,3], %z: f32[2,3], %gate: f32[3,5], %up: f32[3,5], %down: f32[5,3])
                %0 = linear(%x, %gate) : f32[2,5]
                %1 = silu(%0) : f32[2,5]
                %2 = linear(%z, %up) : f32[2,5]
                %3 = mul(%1, %2) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseGatedFfn())
            .as("the gate has one feature")
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,1], %up: f32[3,5], %down: f32[5,3])
                %0 = linear(%x, %gate) : f32[2,1]
                %1 = silu(%0) : f32[2,1]
                %2 = linear(%x, %up) : f32[2,5]
                %3 = mul(%1, %2) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseGatedFfn())
            .as("a sum instead of a product")
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,5], %up: f32[3,5], %down: f32[5,3])
                %0 = linear(%x, %gate) : f32[2,5]
                %1 = silu(%0) : f32[2,5]
                %2 = linear(%x, %up) : f32[2,5]
                %3 = add(%1, %2) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseGatedFfn())
            .as("up is read twice")
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,3], %up: f32[3,3], %down: f32[3,3])
                %0 = linear(%x, %gate) : f32[2,3]
                %1 = silu(%0) : f32[2,3]
                %2 = linear(%x, %up) : f32[2,3]
                %3 = mul(%1, %2) : f32[2,3]
                %4 = linear(%3, %down) : f32[2,3]
                %5 = add(%4, %2) : f32[2,3]
                """)
            .doesNotFire());
  }
}
