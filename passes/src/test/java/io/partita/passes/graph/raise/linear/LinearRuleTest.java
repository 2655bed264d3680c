package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class LinearRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new ExpandEinsum())
            .on(
                """
                (%x: f32[2,3,5], %z: f32[2,7,5])
                %0 = einsum(%x, %z) {equation = "bik,bjk->bji"} : f32[2,7,3]
                """)
            .gives(
                """
                %0 = transpose(%z) {permutation = [0, 2, 1]} : f32[2,5,7]
                %1 = matmul(%x, %0) {result = f32} : f32[2,3,7]
                %2 = transpose(%1) {permutation = [0, 2, 1]} : f32[2,7,3]
                """),
        assertThat(new ExpandEinsum())
            .as("groups of queries that share keys")
            .within(1e-5)
            .on(
                """
                (%q: f32[2,3,2,5,4], %k: f32[2,3,7,4])
                %0 = einsum(%q, %k) {equation = "bkgid,bkjd->bkgij"} : f32[2,3,2,5,7]
                """)
            .gives(
                """
                %0 = transpose(%k) {permutation = [0, 1, 3, 2]} : f32[2,3,4,7]
                %1 = reshape(%0) {to = [2, 3, 1, 4, 7]} : f32[2,3,1,4,7]
                %2 = matmul(%q, %1) {result = f32} : f32[2,3,2,5,7]
                """),
        assertThat(new ExpandEinsum())
            .as("of one operand")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = einsum(%x) {equation = "abc->cab"} : f32[5,2,3]
                """)
            .gives(
                """
                %0 = transpose(%x) {permutation = [2, 0, 1]} : f32[5,2,3]
                """),
        assertThat(new ExpandEinsum())
            .as("a trace")
            .on(
                """
                (%x: f32[3,3])
                %0 = einsum(%x) {equation = "ii->"} : f32[]
                """)
            .doesNotFire(),
        assertThat(new ExpandEinsum())
            .as("nothing is summed")
            .on(
                """
                (%x: f32[2,3], %z: f32[5])
                %0 = einsum(%x, %z) {equation = "ab,c->abc"} : f32[2,3,5]
                """)
            .doesNotFire(),
        assertThat(new ExpandEinsum())
            .as("one operand alone is summed over")
            .on(
                """
                (%x: f32[2,3], %z: f32[5])
                %0 = einsum(%x, %z) {equation = "ab,c->ac"} : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new ExpandEinsum())
            .as("of integers")
            .on(
                """
                (%x: i32[2,3], %z: i32[3,5])
                %0 = einsum(%x, %z) {equation = "ik,kj->ij"} : i32[2,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseLinear())
            .on(
                """
                (%x: f32[2,1,3])
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[2,3]
                %1 = transpose(%0) {permutation = [1,0]} : f32[3,2]
                %2 = matmul(%x, %1) {result = f32} : f32[2,1,2]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[2,3]
                %1 = transpose(%0) {permutation = [1, 0]} : f32[3,2]
                %2 = linear(%x, %1) : f32[2,1,2]
                """),
        assertThat(new RaiseLinear())
            .as("the right operand isn't a weight")
            .on(
                """
                (%x: f32[2,1,3], %z: f32[3,2])
                %0 = matmul(%x, %z) {result = f32} : f32[2,1,2]
                """)
            .doesNotFire(),
        assertThat(new RaiseLinear())
            .as("the weight comes first")
            .on(
                """
                (%x: f32[3,5])
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[2,3]
                %1 = matmul(%0, %x) {result = f32} : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseLinear())
            .as("a weight for each batch")
            .on(
                """
                (%x: f32[2,1,3])
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[2,3,1]
                %1 = matmul(%x, %0) {result = f32} : f32[2,1,1]
                """)
            .doesNotFire(),
        assertThat(new RaiseLinear())
            .as("of integers")
            .on(
                """
                (%x: i8[2,3])
                %0 = constant [1, 2, 3] : i8[3,1]
                %1 = matmul(%x, %0) {result = i32} : i32[2,1]
                """)
            .doesNotFire(),
        assertThat(new FuseWeightTranspose())
            .on(
                """
                (%x: f32[2,3], %w: f32[5,3])
                %0 = transpose(%w) {permutation = [1,0]} : f32[3,5]
                %1 = linear(%x, %0) : f32[2,5]
                """)
            .gives(
                """
                %0 = linear(%x, %w) {transposed} : f32[2,5]
                """),
        assertThat(new FuseWeightTranspose())
            .as("x is transposed")
            .on(
                """
                (%x: f32[3,2], %w: f32[3,5])
                %0 = transpose(%x) {permutation = [1,0]} : f32[2,3]
                %1 = linear(%0, %w) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new FuseWeightTranspose())
            .as("a reshape")
            .on(
                """
                (%x: f32[2,3], %w: f32[5,3])
                %0 = reshape(%w) {to = [3,5]} : f32[3,5]
                %1 = linear(%x, %0) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new MoveReshapeAfterLinear())
            .on(
                """
                (%x: f32[2,5,3], %w: f32[3,7])
                %0 = reshape(%x) {to = [10,3]} : f32[10,3]
                %1 = linear(%0, %w) : f32[10,7]
                """)
            .gives(
                """
                %0 = linear(%x, %w) : f32[2,5,7]
                %1 = reshape(%0) {to = [10, 7]} : f32[10,7]
                """),
        assertThat(new MoveReshapeAfterLinear())
            .as("heads are joined as well")
            .on(
                """
                (%x: f32[2,5,3,2], %w: f32[6,7])
                %0 = reshape(%x) {to = [10,6]} : f32[10,6]
                %1 = linear(%0, %w) : f32[10,7]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 5, 6]} : f32[2,5,6]
                %1 = linear(%0, %w) : f32[2,5,7]
                %2 = reshape(%1) {to = [10, 7]} : f32[10,7]
                """),
        assertThat(new MoveReshapeAfterLinear())
            .as("features of two rows are joined")
            .on(
                """
                (%x: f32[2,5,3], %w: f32[30,7])
                %0 = reshape(%x) {to = [1,30]} : f32[1,30]
                %1 = linear(%0, %w) : f32[1,7]
                """)
            .doesNotFire(),
        assertThat(new MoveReshapeAfterLinear())
            .as("rows of parts of features")
            .on(
                """
                (%x: f32[2,5,4], %w: f32[2,7])
                %0 = reshape(%x) {to = [20,2]} : f32[20,2]
                %1 = linear(%0, %w) : f32[20,7]
                """)
            .doesNotFire(),
        assertThat(new MoveReshapeAfterLinear())
            .as("the weight is reshaped")
            .on(
                """
                (%x: f32[2,3], %w: f32[5,3])
                %0 = reshape(%w) {to = [3,5]} : f32[3,5]
                %1 = linear(%x, %0) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeReshape())
            .on(
                """
                (%x: f32[6,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[6,2]
                %1 = reshape(%0) {to = [2,3,2]} : f32[2,3,2]
                %2 = constant [1.0, 2.0] : f32[1,1,2]
                %3 = add(%2, %1) : f32[2,3,2]
                """)
            .gives(
                """
                %0 = linear(%x, %w) : f32[6,2]
                %1 = constant [1.0, 2.0] : f32[1,1,2]
                %2 = reshape(%1) {to = [2]} : f32[2]
                %3 = add(%0, %2) : f32[6,2]
                %4 = reshape(%3) {to = [2, 3, 2]} : f32[2,3,2]
                """),
        assertThat(new MoveBiasBeforeReshape())
            .as("the features are cut into heads")
            .on(
                """
                (%x: f32[6,3], %w: f32[3,4])
                %0 = linear(%x, %w) : f32[6,4]
                %1 = reshape(%0) {to = [6,2,2]} : f32[6,2,2]
                %2 = constant [1.0, 2.0] : f32[2]
                %3 = add(%1, %2) : f32[6,2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeReshape())
            .as("the sum broadcasts")
            .on(
                """
                (%x: f32[1,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[1,2]
                %1 = reshape(%0) {to = [2]} : f32[2]
                %2 = constant [1.0, 2.0, 3.0, 4.0] : f32[2,2]
                %3 = add(%1, %2) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeReshape())
            .as("the reshaped value is read twice")
            .on(
                """
                (%x: f32[6,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[6,2]
                %1 = reshape(%0) {to = [2,3,2]} : f32[2,3,2]
                %2 = constant [1.0, 2.0] : f32[2]
                %3 = add(%1, %2) : f32[2,3,2]
                %4 = add(%3, %1) : f32[2,3,2]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeResidual())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2], %residual: f32[2,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = add(%residual, %0) : f32[2,2]
                %2 = constant [1.0, 2.0] : f32[2]
                %3 = add(%1, %2) : f32[2,2]
                """)
            .gives(
                """
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant [1.0, 2.0] : f32[2]
                %2 = add(%0, %1) : f32[2,2]
                %3 = add(%2, %residual) : f32[2,2]
                """),
        assertThat(new MoveBiasBeforeResidual())
            .as("the sum with the residual is read twice")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2], %residual: f32[2,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = add(%residual, %0) : f32[2,2]
                %2 = constant [1.0, 2.0] : f32[2]
                %3 = add(%1, %2) : f32[2,2]
                %4 = mul(%3, %1) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeResidual())
            .as("a bias for each row")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2], %residual: f32[2,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = add(%residual, %0) : f32[2,2]
                %2 = constant [1.0, 2.0] : f32[2,1]
                %3 = add(%1, %2) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveBiasBeforeResidual())
            .as("the linear has a bias")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2], %b: f32[2], %residual: f32[2,2])
                %0 = linear(%x, %w, %b) {bias} : f32[2,2]
                %1 = add(%residual, %0) : f32[2,2]
                %2 = constant [1.0, 2.0] : f32[2]
                %3 = add(%1, %2) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new FuseLinearBias())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %w: f32[2,3])
                %0 = linear(%x, %w) {transposed} : f32[2,2]
                %1 = constant [1.0, 2.0] : f32[1,2]
                %2 = add(%1, %0) : f32[2,2]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0] : f32[1,2]
                %1 = reshape(%0) {to = [2]} : f32[2]
                %2 = linear(%x, %w, %1) {transposed, bias} : f32[2,2]
                """),
        assertThat(new FuseLinearBias())
            .as("a bias that a constant repeats for each row")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant [1.0, 2.0, 1.0, 2.0] : f32[2,2]
                %2 = add(%0, %1) : f32[2,2]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0] : f32[2]
                %1 = linear(%x, %w, %0) {bias} : f32[2,2]
                """),
        assertThat(new FuseLinearBias())
            .as("another bias for each row")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant [1.0, 2.0, 1.0, 3.0] : f32[2,2]
                %2 = add(%0, %1) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new FuseLinearBias())
            .as("one number for all features")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant 1.0 : f32[]
                %2 = add(%0, %1) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new FuseLinearBias())
            .as("the linear is read twice")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant [1.0, 2.0] : f32[2]
                %2 = add(%0, %1) : f32[2,2]
                %3 = mul(%0, %2) : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new FuseLinearBias())
            .as("the bias adds a dimension")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = constant [1.0, 2.0] : f32[1,1,2]
                %2 = add(%0, %1) : f32[1,2,2]
                """)
            .doesNotFire(),
        assertThat(new FuseLinearBias())
            .as("a residual")
            .on(
                """
                (%x: f32[2,2], %w: f32[2,2])
                %0 = linear(%x, %w) : f32[2,2]
                %1 = add(%0, %x) : f32[2,2]
                """)
            .doesNotFire());
  }
}
