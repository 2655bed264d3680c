package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class NormRuleTest implements RuleTest {
  /** Sums of 7 elements, and a root instead of a power. */
  private static final double TOLERANCE = 1e-5;

  private static final String SHIFTED =
      """
      %0 = layer_norm(%x) {axis = 2, epsilon = 9.999999747378752E-6} : f32[2,3,7]
      %1 = mul(%0, %s) : f32[2,3,7]
      %2 = add(%1, %b) : f32[2,3,7]
      """;

  /** The sum of the scaled {@code %x} and {@code %11}, which {@code shift} computes. */
  private static String shifted(String shift) {
    return """
    (%x: f32[2,3,7], %s: f32[7], %b: f32[7])
    %0 = reduce_mean(%x) {axes = [2], keep_dims} : f32[2,3,1]
    %1 = sub(%x, %0) : f32[2,3,7]
    %2 = mul(%1, %1) : f32[2,3,7]
    %3 = reduce_mean(%2) {axes = [2], keep_dims} : f32[2,3,1]
    %4 = constant 1.0E-5 : f32[]
    %5 = add(%3, %4) : f32[2,3,1]
    %6 = sqrt(%5) : f32[2,3,1]
    %61 = reciprocal(%6) : f32[2,3,1]
    %7 = mul(%61, %s) : f32[2,3,7]
    %8 = mul(%x, %7) : f32[2,3,7]
    SHIFT%12 = add(%8, %11) : f32[2,3,7]
    """
        .replace("SHIFT", shift);
  }

  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new RaiseLengthNorm())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,3,4])
                %0 = mul(%x, %x) : f32[2,3,4]
                %1 = reduce_sum(%0) {axes = [2], keep_dims} : f32[2,3,1]
                %2 = sqrt(%1) : f32[2,3,1]
                %3 = constant 1.0E-12 : f32[]
                %4 = max(%2, %3) : f32[2,3,1]
                %5 = broadcast(%4) {to = [2,3,4]} : f32[2,3,4]
                %6 = div(%x, %5) : f32[2,3,4]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 2, epsilon = 2.499999980020986E-25} : f32[2,3,4]
                %1 = constant 0.5 : f32[]
                %2 = mul(%0, %1) : f32[2,3,4]
                """),
        assertThat(new RaiseLengthNorm())
            .as("a factor of the length, which is that of a mean")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[3,4])
                %0 = mul(%x, %x) : f32[3,4]
                %1 = reduce_sum(%0) {axes = [1], keep_dims} : f32[3,1]
                %2 = sqrt(%1) : f32[3,1]
                %3 = constant 0.5 : f32[]
                %4 = mul(%2, %3) : f32[3,1]
                %5 = div(%x, %4) : f32[3,4]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                """),
        assertThat(new RaiseLengthNorm())
            .as("a limit that usual rows may reach")
            .on(
                """
                (%x: f32[3,4])
                %0 = mul(%x, %x) : f32[3,4]
                %1 = reduce_sum(%0) {axes = [1], keep_dims} : f32[3,1]
                %2 = sqrt(%1) : f32[3,1]
                %3 = constant 1.0E-4 : f32[]
                %4 = max(%2, %3) : f32[3,1]
                %5 = div(%x, %4) : f32[3,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseLengthNorm())
            .as("the length of columns")
            .on(
                """
                (%x: f32[3,4])
                %0 = mul(%x, %x) : f32[3,4]
                %1 = reduce_sum(%0) {axes = [0], keep_dims} : f32[1,4]
                %2 = sqrt(%1) : f32[1,4]
                %3 = div(%x, %2) : f32[3,4]
                """)
            .doesNotFire(),
        assertThat(new JoinNormFactors())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[3,4])
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                %1 = constant 0.5 : f32[]
                %2 = mul(%0, %1) : f32[3,4]
                %3 = constant 2.0 : f32[]
                %4 = mul(%3, %2) : f32[3,4]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                """),
        assertThat(new JoinNormFactors())
            .as("a factor that remains")
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[3,4])
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                %1 = constant 0.5 : f32[]
                %2 = mul(%0, %1) : f32[3,4]
                %3 = constant 6.0 : f32[]
                %4 = mul(%2, %3) : f32[3,4]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                %1 = constant 3.0 : f32[]
                %2 = mul(%0, %1) : f32[3,4]
                """),
        assertThat(new JoinNormFactors())
            .as("a factor of a norm that is read without the other one, too")
            .on(
                """
                (%x: f32[3,4])
                %0 = rms_norm(%x) {axis = 1, epsilon = 0.0} : f32[3,4]
                %1 = constant 0.5 : f32[]
                %2 = mul(%0, %1) : f32[3,4]
                %3 = constant 6.0 : f32[]
                %4 = mul(%2, %3) : f32[3,4]
                %5 = add(%2, %4) : f32[3,4]
                """)
            .doesNotFire(),
        assertThat(new RaiseLayerNorm())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,3,7])
                %0 = reduce_mean(%x) {axes = [2], keep_dims} : f32[2,3,1]
                %1 = sub(%x, %0) : f32[2,3,7]
                %2 = mul(%1, %1) : f32[2,3,7]
                %3 = reduce_mean(%2) {axes = [2], keep_dims} : f32[2,3,1]
                %4 = constant 1.0E-5 : f32[]
                %5 = add(%3, %4) : f32[2,3,1]
                %6 = sqrt(%5) : f32[2,3,1]
                %7 = div(%1, %6) : f32[2,3,7]
                """)
            .gives(
                """
                %0 = layer_norm(%x) {axis = 2, epsilon = 9.999999747378752E-6} : f32[2,3,7]
                """),
        assertThat(new RaiseLayerNorm())
            .as("the mean over another axis")
            .on(
                """
                (%x: f32[2,7,7])
                %0 = reduce_mean(%x) {axes = [1], keep_dims} : f32[2,1,7]
                %1 = sub(%x, %0) : f32[2,7,7]
                %2 = mul(%1, %1) : f32[2,7,7]
                %3 = reduce_mean(%2) {axes = [2], keep_dims} : f32[2,7,1]
                %4 = constant 1.0E-5 : f32[]
                %5 = add(%3, %4) : f32[2,7,1]
                %6 = sqrt(%5) : f32[2,7,1]
                %7 = div(%1, %6) : f32[2,7,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseLayerNorm())
            .as("over an axis that isn't the last")
            .on(
                """
                (%x: f32[2,7,3])
                %0 = reduce_mean(%x) {axes = [1], keep_dims} : f32[2,1,3]
                %1 = sub(%x, %0) : f32[2,7,3]
                %2 = mul(%1, %1) : f32[2,7,3]
                %3 = reduce_mean(%2) {axes = [1], keep_dims} : f32[2,1,3]
                %4 = constant 1.0E-5 : f32[]
                %5 = add(%3, %4) : f32[2,1,3]
                %6 = sqrt(%5) : f32[2,1,3]
                %7 = div(%1, %6) : f32[2,7,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseShiftedLayerNorm())
            .within(TOLERANCE)
            .on(
                shifted(
                    """
                    %9 = neg(%0) : f32[2,3,1]
                    %10 = mul(%9, %7) : f32[2,3,7]
                    %11 = add(%10, %b) : f32[2,3,7]
                    """))
            .gives(SHIFTED),
        assertThat(new RaiseShiftedLayerNorm())
            .as("the mean is subtracted from the bias")
            .within(TOLERANCE)
            .on(
                shifted(
                    """
                    %10 = mul(%0, %7) : f32[2,3,7]
                    %11 = sub(%b, %10) : f32[2,3,7]
                    """))
            .gives(SHIFTED),
        assertThat(new RaiseShiftedLayerNorm())
            .as("another scale for the mean")
            .on(
                shifted(
                    """
                    %10 = mul(%0, %s) : f32[2,3,7]
                    %11 = sub(%b, %10) : f32[2,3,7]
                    """))
            .doesNotFire(),
        assertThat(new RaiseRmsNorm())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,3,7])
                %0 = constant 2.0 : f32[]
                %1 = pow(%x, %0) : f32[2,3,7]
                %2 = reduce_mean(%1) {axes = [2], keep_dims} : f32[2,3,1]
                %3 = constant 1.0E-6 : f32[]
                %4 = add(%2, %3) : f32[2,3,1]
                %5 = constant -0.5 : f32[]
                %6 = pow(%4, %5) : f32[2,3,1]
                %7 = mul(%x, %6) : f32[2,3,7]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 2, epsilon = 9.999999974752427E-7} : f32[2,3,7]
                """),
        assertThat(new RaiseRmsNorm())
            .as("divides another value")
            .on(
                """
                (%x: f32[2,3,7], %z: f32[2,3,7])
                %0 = mul(%x, %x) : f32[2,3,7]
                %1 = reduce_mean(%0) {axes = [2], keep_dims} : f32[2,3,1]
                %2 = constant 1.0E-6 : f32[]
                %3 = add(%1, %2) : f32[2,3,1]
                %4 = sqrt(%3) : f32[2,3,1]
                %5 = div(%z, %4) : f32[2,3,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseRmsNorm())
            .as("a sum instead of a mean")
            .on(
                """
                (%x: f32[2,3,7])
                %0 = mul(%x, %x) : f32[2,3,7]
                %1 = reduce_sum(%0) {axes = [2], keep_dims} : f32[2,3,1]
                %2 = constant 1.0E-6 : f32[]
                %3 = add(%1, %2) : f32[2,3,1]
                %4 = sqrt(%3) : f32[2,3,1]
                %5 = div(%x, %4) : f32[2,3,7]
                """)
            .doesNotFire(),
        assertThat(new RaiseRmsNorm())
            .as("epsilon adds a dimension")
            .on(
                """
                (%x: f32[3,7])
                %0 = mul(%x, %x) : f32[3,7]
                %1 = reduce_mean(%0) {axes = [1], keep_dims} : f32[3,1]
                %2 = constant [1.0E-6] : f32[1,1,1]
                %3 = add(%1, %2) : f32[1,3,1]
                %4 = sqrt(%3) : f32[1,3,1]
                %5 = div(%x, %4) : f32[1,3,7]
                """)
            .doesNotFire(),
        assertThat(new FuseNormScale())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[1,3]
                %1 = rms_norm(%x) {axis = 1, epsilon = 1.0E-6} : f32[2,3]
                %2 = mul(%0, %1) : f32[2,3]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0, 3.0] : f32[1,3]
                %1 = reshape(%0) {to = [3]} : f32[3]
                %2 = rms_norm(%x, %1) {axis = 1, epsilon = 1.0E-6, scale} : f32[2,3]
                """),
        assertThat(new FuseNormScale())
            .as("the scale isn't a weight")
            .on(
                """
                (%x: f32[2,3], %s: f32[3])
                %0 = rms_norm(%x) {axis = 1, epsilon = 1.0E-6} : f32[2,3]
                %1 = mul(%0, %s) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new FuseNormScale())
            .as("a factor for each row")
            .on(
                """
                (%x: f32[3,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3,1]
                %1 = rms_norm(%x) {axis = 1, epsilon = 1.0E-6} : f32[3,3]
                %2 = mul(%0, %1) : f32[3,3]
                """)
            .doesNotFire(),
        assertThat(new FuseNormScale())
            .as("the scale adds a dimension")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[1,1,3]
                %1 = rms_norm(%x) {axis = 1, epsilon = 1.0E-6} : f32[2,3]
                %2 = mul(%0, %1) : f32[1,2,3]
                """)
            .doesNotFire(),
        assertThat(new FuseNormBias())
            .within(TOLERANCE)
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = layer_norm(%x, %0) {axis = 1, epsilon = 1.0E-5, scale} : f32[2,3]
                %2 = constant [0.5, 0.25, 0.125] : f32[3]
                %3 = add(%1, %2) : f32[2,3]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = constant [0.5, 0.25, 0.125] : f32[3]
                %2 = layer_norm(%x, %0, %1) {axis = 1, epsilon = 1.0E-5, scale, bias} : f32[2,3]
                """),
        assertThat(new FuseNormBias())
            .as("a residual")
            .on(
                """
                (%x: f32[2,3])
                %0 = layer_norm(%x) {axis = 1, epsilon = 1.0E-5} : f32[2,3]
                %1 = add(%0, %x) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new FuseNormBias())
            .as("it has a bias already")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = layer_norm(%x, %0) {axis = 1, epsilon = 1.0E-5, bias} : f32[2,3]
                %2 = add(%1, %0) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new FuseNormBias())
            .as("the bias adds a dimension")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[1,1,3]
                %1 = layer_norm(%x) {axis = 1, epsilon = 1.0E-5} : f32[2,3]
                %2 = add(%1, %0) : f32[1,2,3]
                """)
            .doesNotFire(),
        assertThat(new RemoveNormCasts())
            .within(0x1p-10)
            .on(
                """
                (%x: f16[2,7])
                %0 = cast(%x) {to = f32} : f32[2,7]
                %1 = rms_norm(%0) {axis = 1, epsilon = 1.0E-6} : f32[2,7]
                %2 = cast(%1) {to = f16} : f16[2,7]
                """)
            .gives(
                """
                %0 = rms_norm(%x) {axis = 1, epsilon = 1.0E-6} : f16[2,7]
                """),
        assertThat(new RemoveNormCasts())
            .as("to another type than it was")
            .on(
                """
                (%x: f16[2,7])
                %0 = cast(%x) {to = f32} : f32[2,7]
                %1 = rms_norm(%0) {axis = 1, epsilon = 1.0E-6} : f32[2,7]
                %2 = cast(%1) {to = bf16} : bf16[2,7]
                """)
            .doesNotFire(),
        assertThat(new RemoveNormCasts())
            .as("scaled in f32")
            .on(
                """
                (%x: f16[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = cast(%x) {to = f32} : f32[2,3]
                %2 = rms_norm(%1, %0) {axis = 1, epsilon = 1.0E-6, scale} : f32[2,3]
                %3 = cast(%2) {to = f16} : f16[2,3]
                """)
            .doesNotFire(),
        assertThat(new RaiseScaledNorm())
            .within(TOLERANCE)
            .on(flax("0.0", "max(%0, %6)", "[2]"))
            .gives(
                """
                %0 = layer_norm(%x) {axis = 2, epsilon = 9.999999747378752E-6} : f32[2,3,7]
                %1 = mul(%0, %s) : f32[2,3,7]
                """),
        assertThat(new RaiseScaledNorm())
            .as("another least variance")
            .on(flax("0.5", "max(%0, %6)", "[2]"))
            .doesNotFire(),
        assertThat(new RaiseScaledNorm())
            .as("the least of variance and zero")
            .on(flax("0.0", "min(%0, %6)", "[2]"))
            .doesNotFire(),
        assertThat(new RaiseScaledNorm())
            .as("not over the last dimension")
            .on(
                flax("0.0", "max(%0, %6)", "[1]")
                    .replace("[2,3,1]", "[2,1,7]")
                    .replace("%s) : f32[2,3,7]", "%s) : f32[2,1,7]"))
            .doesNotFire(),
        assertThat(new RaiseScaledNorm())
            .as("of an RMS norm, whose mean is a sum that is divided")
            .within(TOLERANCE)
            .on(rmsOfSum("7.0"))
            .gives(
                """
                %0 = rms_norm(%x) {axis = 1, epsilon = 9.999999747378752E-6} : f32[3,7]
                %1 = mul(%0, %s) : f32[3,7]
                """),
        assertThat(new RaiseScaledNorm())
            .as("the sum is divided by another number than that of its terms")
            .on(rmsOfSum("6.0"))
            .doesNotFire());
  }

  /** A layer norm of Flax without its bias: the mean of squares minus the square of the mean. */
  private static String flax(String least, String variance, String axes) {
    return """
    (%x: f32[2,3,7], %s: f32[7])
    %0 = constant LEAST : f32[]
    %1 = reduce_mean(%x) {axes = AXES, keep_dims} : f32[2,3,1]
    %3 = mul(%x, %x) : f32[2,3,7]
    %4 = reduce_mean(%3) {axes = AXES, keep_dims} : f32[2,3,1]
    %5 = mul(%1, %1) : f32[2,3,1]
    %6 = sub(%4, %5) : f32[2,3,1]
    %7 = VARIANCE : f32[2,3,1]
    %8 = constant 1.0E-5 : f32[]
    %9 = add(%7, %8) : f32[2,3,1]
    %10 = sqrt(%9) : f32[2,3,1]
    %11 = reciprocal(%10) : f32[2,3,1]
    %12 = mul(%11, %s) : f32[2,3,7]
    %13 = sub(%x, %1) : f32[2,3,7]
    %14 = mul(%13, %12) : f32[2,3,7]
    """
        .replace("LEAST", least)
        .replace("VARIANCE", variance)
        .replace("AXES", axes);
  }

  private static String rmsOfSum(String count) {
    return """
    (%x: f32[3,7], %s: f32[7])
    %0 = mul(%x, %x) : f32[3,7]
    %1 = reduce_sum(%0) {axes = [1], keep_dims} : f32[3,1]
    %2 = constant COUNT : f32[]
    %3 = div(%1, %2) : f32[3,1]
    %4 = constant 1.0E-5 : f32[]
    %5 = add(%3, %4) : f32[3,1]
    %6 = sqrt(%5) : f32[3,1]
    %7 = reciprocal(%6) : f32[3,1]
    %8 = mul(%7, %s) : f32[3,7]
    %9 = mul(%x, %8) : f32[3,7]
    """
        .replace("COUNT", count);
  }
}
