package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class ActivationRuleTest implements RuleTest {
  /** The constants are rounded to f32, and the factors multiplied in another order. */
  private static final double TOLERANCE = 1e-6;

  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new RaiseGelu())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 1.4142135 : f32[]
                %1 = div(%x, %0) : f32[2,7]
                %2 = erf(%1) : f32[2,7]
                %3 = constant 1.0 : f32[]
                %4 = add(%2, %3) : f32[2,7]
                %5 = mul(%x, %4) : f32[2,7]
                %6 = constant 0.5 : f32[]
                %7 = mul(%5, %6) : f32[2,7]
                """)
            .gives(
                """
                %0 = gelu(%x) : f32[2,7]
                """),
        assertThat(new RaiseGelu())
            .as("by tanh")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 3.0 : f32[]
                %1 = pow(%x, %0) : f32[2,7]
                %2 = constant 0.044715 : f32[]
                %3 = mul(%1, %2) : f32[2,7]
                %4 = add(%x, %3) : f32[2,7]
                %5 = constant 0.79788456 : f32[]
                %6 = mul(%4, %5) : f32[2,7]
                %7 = tanh(%6) : f32[2,7]
                %8 = constant 1.0 : f32[]
                %9 = add(%7, %8) : f32[2,7]
                %10 = constant 0.5 : f32[]
                %11 = mul(%x, %10) : f32[2,7]
                %12 = mul(%11, %9) : f32[2,7]
                """)
            .gives(
                """
                %0 = gelu_tanh(%x) : f32[2,7]
                """),
        assertThat(new RaiseGelu())
            .as("the erf of another value")
            .on(
                """
                (%x: f32[2,7], %z: f32[2,7])
                %0 = constant 1.4142135 : f32[]
                %1 = div(%z, %0) : f32[2,7]
                %2 = erf(%1) : f32[2,7]
                %3 = constant 1.0 : f32[]
                %4 = add(%2, %3) : f32[2,7]
                %5 = mul(%x, %4) : f32[2,7]
                %6 = constant 0.5 : f32[]
                %7 = mul(%5, %6) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseGelu())
            .as("another divisor")
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 1.4 : f32[]
                %1 = div(%x, %0) : f32[2,7]
                %2 = erf(%1) : f32[2,7]
                %3 = constant 1.0 : f32[]
                %4 = add(%2, %3) : f32[2,7]
                %5 = mul(%x, %4) : f32[2,7]
                %6 = constant 0.5 : f32[]
                %7 = mul(%5, %6) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseSilu())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = sigmoid(%x) : f32[2,7]
                %1 = mul(%0, %x) : f32[2,7]
                """)
            .gives(
                """
                %0 = silu(%x) : f32[2,7]
                """),
        assertThat(new RaiseSilu())
            .as("the gate of another value")
            .on(
                """
                (%x: f32[2,7], %z: f32[2,7])
                %0 = sigmoid(%z) : f32[2,7]
                %1 = mul(%x, %0) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseQuickGelu())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 1.702 : f32[]
                %1 = mul(%0, %x) : f32[2,7]
                %2 = sigmoid(%1) : f32[2,7]
                %3 = mul(%x, %2) : f32[2,7]
                """)
            .gives(
                """
                %0 = quick_gelu(%x) : f32[2,7]
                """),
        assertThat(new RaiseQuickGelu())
            .as("another factor")
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 1.7 : f32[]
                %1 = mul(%x, %0) : f32[2,7]
                %2 = sigmoid(%1) : f32[2,7]
                %3 = mul(%x, %2) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseQuickGelu())
            .as("the factor adds a dimension")
            .on(
                """
                (%x: f32[7])
                %0 = constant [1.702] : f32[1,1]
                %1 = mul(%x, %0) : f32[1,7]
                %2 = sigmoid(%1) : f32[1,7]
                %3 = mul(%x, %2) : f32[1,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseHardSwish())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 3.0 : f32[]
                %1 = add(%x, %0) : f32[2,7]
                %2 = relu(%1) : f32[2,7]
                %3 = constant 6.0 : f32[]
                %4 = min(%2, %3) : f32[2,7]
                %5 = mul(%x, %4) : f32[2,7]
                %6 = div(%5, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = hard_swish(%x) : f32[2,7]
                """),
        assertThat(new RaiseHardSwish())
            .as("another upper bound")
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 3.0 : f32[]
                %1 = add(%x, %0) : f32[2,7]
                %2 = relu(%1) : f32[2,7]
                %3 = constant 5.0 : f32[]
                %4 = min(%2, %3) : f32[2,7]
                %5 = mul(%x, %4) : f32[2,7]
                %6 = constant 6.0 : f32[]
                %7 = div(%5, %6) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseHardSwish())
            .as("a bound adds a dimension")
            .on(
                """
                (%x: f32[7])
                %0 = constant 3.0 : f32[]
                %1 = add(%x, %0) : f32[7]
                %2 = relu(%1) : f32[7]
                %3 = constant [6.0] : f32[1,1]
                %4 = min(%2, %3) : f32[1,7]
                %5 = mul(%x, %4) : f32[1,7]
                %6 = div(%5, %3) : f32[1,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseGelu())
            .as("by erfc")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 0.5 : f32[]
                %1 = mul(%0, %x) : f32[2,7]
                %2 = neg(%x) : f32[2,7]
                %3 = constant 0.70710677 : f32[]
                %4 = mul(%2, %3) : f32[2,7]
                %5 = erf(%4) : f32[2,7]
                %6 = constant 1.0 : f32[]
                %7 = sub(%6, %5) : f32[2,7]
                %8 = mul(%1, %7) : f32[2,7]
                """)
            .gives(
                """
                %0 = gelu(%x) : f32[2,7]
                """),
        assertThat(new RaiseGelu())
            .as("one sign is missing")
            .on(
                """
                (%x: f32[2,7])
                %0 = constant 0.5 : f32[]
                %1 = mul(%0, %x) : f32[2,7]
                %3 = constant 0.70710677 : f32[]
                %4 = mul(%x, %3) : f32[2,7]
                %5 = erf(%4) : f32[2,7]
                %6 = constant 1.0 : f32[]
                %7 = sub(%6, %5) : f32[2,7]
                %8 = mul(%1, %7) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseSoftmax())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = reduce_max(%x) {axes = [1], keep_dims} : f32[2,1]
                %1 = sub(%x, %0) : f32[2,7]
                %2 = exp(%1) : f32[2,7]
                %3 = reduce_sum(%2) {axes = [1], keep_dims} : f32[2,1]
                %4 = div(%2, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = softmax(%x) {axis = 1} : f32[2,7]
                """),
        assertThat(new RaiseSoftmax())
            .as("of JAX, times a reciprocal")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = reduce_max(%x) {axes = [1], keep_dims} : f32[2,1]
                %01 = constant -inf : f32[]
                %02 = max(%01, %0) : f32[2,1]
                %1 = sub(%x, %02) : f32[2,7]
                %2 = exp(%1) : f32[2,7]
                %3 = reduce_sum(%2) {axes = [1], keep_dims} : f32[2,1]
                %4 = reciprocal(%3) : f32[2,1]
                %5 = mul(%2, %4) : f32[2,7]
                """)
            .gives(
                """
                %0 = softmax(%x) {axis = 1} : f32[2,7]
                """),
        assertThat(new RaiseSoftmax())
            .as("0 in place of an infinite maximum")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = reduce_max(%x) {axes = [0], keep_dims} : f32[1,7]
                %01 = constant -inf : f32[]
                %02 = equal(%0, %01) : bool[1,7]
                %03 = constant 0.0 : f32[]
                %04 = select(%02, %03, %0) : f32[1,7]
                %1 = sub(%x, %04) : f32[2,7]
                %2 = exp(%1) : f32[2,7]
                %3 = reduce_sum(%2) {axes = [0], keep_dims} : f32[1,7]
                %4 = div(%2, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = softmax(%x) {axis = 0} : f32[2,7]
                """),
        assertThat(new RaiseSoftmax())
            .as("nothing or one number is subtracted")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7], %m: f32[])
                %0 = sub(%x, %m) : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                %2 = reduce_sum(%1) {axes = [1], keep_dims} : f32[2,1]
                %3 = div(%1, %2) : f32[2,7]
                """)
            .gives(
                """
                %0 = softmax(%x) {axis = 1} : f32[2,7]
                """),
        assertThat(new RaiseSoftmax())
            .as("what is subtracted differs along the axis")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7], %m: f32[7])
                %0 = sub(%x, %m) : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                %2 = reduce_sum(%1) {axes = [1], keep_dims} : f32[2,1]
                %3 = div(%1, %2) : f32[2,7]
                """)
            .gives(
                """
                %0 = sub(%x, %m) : f32[2,7]
                %1 = softmax(%0) {axis = 1} : f32[2,7]
                """),
        assertThat(new ExponentiateLogSoftmax())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = log_softmax(%x) {axis = 1} : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                """)
            .gives(
                """
                %0 = softmax(%x) {axis = 1} : f32[2,7]
                """),
        assertThat(new ExponentiateLogSoftmax())
            .as("the exponential of a softmax")
            .on(
                """
                (%x: f32[2,7])
                %0 = softmax(%x) {axis = 1} : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseSigmoid())
            .as("exp(x) in place of exp(-x)")
            .on(
                """
                (%x: f32[2,7])
                %0 = exp(%x) : f32[2,7]
                %1 = constant 1.0 : f32[]
                %2 = add(%0, %1) : f32[2,7]
                %3 = div(%1, %2) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseSigmoid())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = neg(%x) : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                %2 = constant 1.0 : f32[]
                %3 = add(%1, %2) : f32[2,7]
                %4 = div(%2, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = sigmoid(%x) : f32[2,7]
                """),
        assertThat(new RaiseSilu())
            .as("a quotient")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = neg(%x) : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                %2 = constant 1.0 : f32[]
                %3 = add(%2, %1) : f32[2,7]
                %4 = div(%x, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = silu(%x) : f32[2,7]
                """),
        assertThat(new RaiseSilu())
            .as("another number than 1")
            .on(
                """
                (%x: f32[2,7])
                %0 = neg(%x) : f32[2,7]
                %1 = exp(%0) : f32[2,7]
                %2 = constant 2.0 : f32[]
                %3 = add(%2, %1) : f32[2,7]
                %4 = div(%x, %3) : f32[2,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseSoftmax())
            .as("the maximum is along another axis")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,7])
                %0 = reduce_max(%x) {axes = [1], keep_dims} : f32[2,1]
                %1 = sub(%x, %0) : f32[2,7]
                %2 = exp(%1) : f32[2,7]
                %3 = reduce_sum(%2) {axes = [0], keep_dims} : f32[1,7]
                %4 = div(%2, %3) : f32[2,7]
                """)
            .gives(
                """
                %0 = reduce_max(%x) {axes = [1], keep_dims} : f32[2,1]
                %1 = sub(%x, %0) : f32[2,7]
                %2 = softmax(%1) {axis = 0} : f32[2,7]
                """),
        assertThat(new RaiseSoftmax())
            .as("another sum")
            .on(
                """
                (%x: f32[2,7], %y: f32[2,7])
                %0 = exp(%x) : f32[2,7]
                %1 = exp(%y) : f32[2,7]
                %2 = reduce_sum(%1) {axes = [1], keep_dims} : f32[2,1]
                %3 = div(%0, %2) : f32[2,7]
                """)
            .doesNotFire());
  }
}
