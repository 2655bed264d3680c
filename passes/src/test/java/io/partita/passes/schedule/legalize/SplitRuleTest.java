package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class SplitRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new SplitFfn())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %gate: f32[3,5], %up: f32[3,5], %bias: f32[5], %down: f32[5,3])
                %0 = gated_ffn(%x, %gate, %up, %bias, %down) {activation = silu, up_bias} : f32[2,3]
                """)
            .gives(
                """
                %0 = linear(%x, %gate) : f32[2,5]
                %1 = silu(%0) : f32[2,5]
                %2 = linear(%x, %up, %bias) {bias} : f32[2,5]
                %3 = mul(%1, %2) : f32[2,5]
                %4 = linear(%3, %down) : f32[2,3]
                """),
        assertThat(new SplitFfn())
            .as("without a gate")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %up: f32[3,5], %bias: f32[5], %down: f32[5,3])
                %0 = ffn(%x, %up, %bias, %down) {activation = relu, up_bias} : f32[2,3]
                """)
            .gives(
                """
                %0 = linear(%x, %up, %bias) {bias} : f32[2,5]
                %1 = relu(%0) : f32[2,5]
                %2 = linear(%1, %down) : f32[2,3]
                """),
        assertThat(new SplitFfn())
            .as("a linear")
            .on(
                """
                (%x: f32[2,3], %w: f32[3,5])
                %0 = linear(%x, %w) : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new ExpandActivation())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3])
                %0 = gelu_tanh(%x) : f32[2,3]
                """)
            .gives(
                """
                %0 = mul(%x, %x) : f32[2,3]
                %1 = constant 0.071354814 : f32[]
                %2 = mul(%0, %1) : f32[2,3]
                %3 = constant 1.5957692 : f32[]
                %4 = add(%2, %3) : f32[2,3]
                %5 = mul(%4, %x) : f32[2,3]
                %6 = sigmoid(%5) : f32[2,3]
                %7 = mul(%6, %x) : f32[2,3]
                """),
        assertThat(new ExpandActivation())
            .as("a sigmoid that is scaled")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3])
                %0 = quick_gelu(%x) : f32[2,3]
                """)
            .gives(
                """
                %0 = constant 1.702 : f32[]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = sigmoid(%1) : f32[2,3]
                %3 = mul(%2, %x) : f32[2,3]
                """),
        assertThat(new ExpandActivation())
            .as("a function that has a kernel")
            .on(
                """
                (%x: f32[2,3])
                %0 = gelu(%x) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new ExpandArithmetic())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3])
                %0 = neg(%x) : f32[2,3]
                """)
            .gives(
                """
                %0 = constant -1.0 : f32[]
                %1 = mul(%x, %0) : f32[2,3]
                """),
        assertThat(new ExpandArithmetic())
            .as("a quotient and powers")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3])
                %c = constant [3.0] : f32[1]
                %0 = div(%x, %c) : f32[2,3]
                %two = constant 2.0 : f32[]
                %1 = pow(%0, %two) : f32[2,3]
                %three = constant 3.0 : f32[]
                %2 = pow(%1, %three) : f32[2,3]
                %half = constant 0.5 : f32[]
                %3 = pow(%2, %half) : f32[2,3]
                """)
            .gives(
                """
                %0 = constant 0.33333334 : f32[]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = mul(%1, %1) : f32[2,3]
                %3 = mul(%2, %2) : f32[2,3]
                %4 = mul(%3, %2) : f32[2,3]
                %5 = sqrt(%4) : f32[2,3]
                """),
        assertThat(new ExpandArithmetic())
            .as("quotients of others")
            .on(
                """
                (%x: f32[2,3], %z: f32[2,3])
                %c = constant 3.0 : f32[]
                %0 = div(%x, %z) : f32[2,3]
                %1 = div(%c, %0) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new ReduceByProduct())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3,4])
                %0 = reduce_mean(%x) {axes = [1]} : f32[2,4]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [6, 4]} : f32[6,4]
                %1 = constant [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0] : f32[2,6]
                %2 = linear(%1, %0) : f32[2,4]
                %3 = constant 0.33333334 : f32[]
                %4 = mul(%2, %3) : f32[2,4]
                """),
        assertThat(new ReduceByProduct())
            .as("sums of rows and columns, of which the first dimension remains")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,2,3])
                %0 = reduce_sum(%x) {axes = [0, 2], keep_dims} : f32[1,2,1]
                """)
            .gives(
                """
                %0 = constant [1.0, 1.0, 1.0] : f32[3,1]
                %1 = linear(%x, %0) : f32[2,2,1]
                %2 = reshape(%1) {to = [4, 1]} : f32[4,1]
                %3 = constant [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0] : f32[2,4]
                %4 = linear(%3, %2) : f32[2,1]
                %5 = reshape(%4) {to = [1, 2, 1]} : f32[1,2,1]
                """),
        assertThat(new ReduceByProduct())
            .as("a mean of few rows, which has a kernel")
            .on(
                """
                (%x: f32[1,14,3])
                %0 = reduce_mean(%x) {axes = [1]} : f32[1,3]
                """)
            .doesNotFire(),
        assertThat(new ReduceByProduct())
            .as("a squared norm, by which an approximation is verified")
            .on(
                """
                (%x: f32[1,2,1,3])
                %0 = mul(%x, %x) : f32[1,2,1,3]
                %1 = reduce_sum(%0) {axes = [1, 3], keep_dims} : f32[1,1,1,1]
                """)
            .doesNotFire(),
        assertThat(new ReduceByProduct())
            .as("a maximum")
            .on(
                """
                (%x: f32[2,3])
                %0 = reduce_max(%x) {axes = [1]} : f32[2]
                """)
            .doesNotFire(),
        assertThat(new SplitProduct())
            .as("matrices that count for some batches")
            .on(
                """
                (%x: f32[2,1,3,5], %z: f32[2,5,7])
                %0 = matmul(%x, %z) {result = f32} : f32[2,2,3,7]
                """)
            .doesNotFire(),
        assertThat(new SplitProduct())
            .as("of each batch")
            .within(1e-5)
            .on(
                """
                (%x: f32[1,2,3,5], %z: f32[2,5,7])
                %0 = matmul(%x, %z) {result = f32} : f32[1,2,3,7]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 3, 5]} : f32[2,3,5]
                %1 = slice(%0) {starts = [0, 0, 0], sizes = [1, 3, 5], steps = [1, 1, 1]} : f32[1,3,5]
                %2 = reshape(%1) {to = [3, 5]} : f32[3,5]
                %3 = slice(%z) {starts = [0, 0, 0], sizes = [1, 5, 7], steps = [1, 1, 1]} : f32[1,5,7]
                %4 = reshape(%3) {to = [5, 7]} : f32[5,7]
                %5 = linear(%2, %4) : f32[3,7]
                %6 = slice(%0) {starts = [1, 0, 0], sizes = [1, 3, 5], steps = [1, 1, 1]} : f32[1,3,5]
                %7 = reshape(%6) {to = [3, 5]} : f32[3,5]
                %8 = slice(%z) {starts = [1, 0, 0], sizes = [1, 5, 7], steps = [1, 1, 1]} : f32[1,5,7]
                %9 = reshape(%8) {to = [5, 7]} : f32[5,7]
                %10 = linear(%7, %9) : f32[3,7]
                %11 = concat(%5, %10) {axis = 0} : f32[6,7]
                %12 = reshape(%11) {to = [1, 2, 3, 7]} : f32[1,2,3,7]
                """),
        assertThat(new SplitProduct())
            .as("angles of positions")
            .on(
                """
                (%x: f32[2,3,1], %z: f32[2,1,7])
                %0 = matmul(%x, %z) {result = f32} : f32[2,3,7]
                """)
            .doesNotFire(),
        assertThat(new ProjectPatches())
            .within(1e-5)
            .on(
                """
                (%image: f32[2,1,4,6], %weight: f32[5,1,2,3], %bias: f32[5])
                %0 = patch_embedding(%image, %weight, %bias) {bias} : f32[2,4,5]
                """)
            .gives(
                """
                %0 = reshape(%image) {to = [2, 1, 2, 2, 2, 3]} : f32[2,1,2,2,2,3]
                %1 = transpose(%0) {permutation = [0, 2, 4, 1, 3, 5]} : f32[2,2,2,1,2,3]
                %2 = reshape(%1) {to = [2, 4, 6]} : f32[2,4,6]
                %3 = reshape(%weight) {to = [5, 6]} : f32[5,6]
                %4 = linear(%2, %3, %bias) {transposed, bias} : f32[2,4,5]
                """),
        assertThat(new ProjectPatches())
            .as("a convolution of patches")
            .on(
                """
                (%image: f32[2,1,4,6], %weight: f32[5,1,2,3])
                %0 = convolution(%image, %weight) {kernel = [2,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1, result = f32} : f32[2,5,2,2]
                """)
            .doesNotFire(),
        assertThat(new SplitEinsum())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3,5], %z: f32[2,7,5,3])
                %0 = einsum(%x, %z) {equation = "bik,bjkl->bji"} : f32[2,7,3]
                """)
            .gives(
                """
                %0 = reduce_sum(%z) {axes = [3]} : f32[2,7,5]
                %1 = transpose(%x) {permutation = [0, 1, 2]} : f32[2,3,5]
                %2 = transpose(%0) {permutation = [0, 2, 1]} : f32[2,5,7]
                %3 = reshape(%1) {to = [2, 3, 5]} : f32[2,3,5]
                %4 = reshape(%2) {to = [2, 5, 7]} : f32[2,5,7]
                %5 = matmul(%3, %4) {result = f32} : f32[2,3,7]
                %6 = reshape(%5) {to = [2, 3, 7]} : f32[2,3,7]
                %7 = transpose(%6) {permutation = [0, 2, 1]} : f32[2,7,3]
                """),
        assertThat(new SplitEinsum())
            .as("of one operand")
            .on(
                """
                (%x: i32[2,3,5])
                %0 = einsum(%x) {equation = "abc->ca"} : i32[5,2]
                """)
            .gives(
                """
                %0 = reduce_sum(%x) {axes = [1]} : i32[2,5]
                %1 = transpose(%0) {permutation = [1, 0]} : i32[5,2]
                """),
        assertThat(new SplitEinsum())
            .as("a trace")
            .on(
                """
                (%x: f32[3,3])
                %0 = einsum(%x) {equation = "ii->"} : f32[]
                """)
            .doesNotFire(),
        assertThat(new SplitEinsum())
            .as("an outer product of integers")
            .on(
                """
                (%x: i64[2,3], %z: i64[2,5])
                %0 = einsum(%x, %z) {equation = "ab,ac->abc"} : i64[2,3,5]
                """)
            .gives(
                """
                %0 = transpose(%x) {permutation = [0, 1]} : i64[2,3]
                %1 = transpose(%z) {permutation = [0, 1]} : i64[2,5]
                %2 = reshape(%0) {to = [2, 3, 1]} : i64[2,3,1]
                %3 = reshape(%1) {to = [2, 1, 5]} : i64[2,1,5]
                %4 = mul(%2, %3) : i64[2,3,5]
                %5 = reshape(%4) {to = [2, 3, 5]} : i64[2,3,5]
                %6 = transpose(%5) {permutation = [0, 1, 2]} : i64[2,3,5]
                """),
        assertThat(new SplitEinsum())
            .as("of three operands")
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3], %z: f32[3,5], %w: f32[5,2])
                %0 = einsum(%x, %z, %w) {equation = "ij,jk,kl->il"} : f32[2,2]
                """)
            .gives(
                """
                %0 = transpose(%x) {permutation = [0, 1]} : f32[2,3]
                %1 = transpose(%z) {permutation = [0, 1]} : f32[3,5]
                %2 = reshape(%0) {to = [1, 2, 3]} : f32[1,2,3]
                %3 = reshape(%1) {to = [1, 3, 5]} : f32[1,3,5]
                %4 = matmul(%2, %3) {result = f32} : f32[1,2,5]
                %5 = reshape(%4) {to = [2, 5]} : f32[2,5]
                %6 = transpose(%5) {permutation = [0, 1]} : f32[2,5]
                %7 = transpose(%6) {permutation = [0, 1]} : f32[2,5]
                %8 = transpose(%w) {permutation = [0, 1]} : f32[5,2]
                %9 = reshape(%7) {to = [1, 2, 5]} : f32[1,2,5]
                %10 = reshape(%8) {to = [1, 5, 2]} : f32[1,5,2]
                %11 = matmul(%9, %10) {result = f32} : f32[1,2,2]
                %12 = reshape(%11) {to = [2, 2]} : f32[2,2]
                %13 = transpose(%12) {permutation = [0, 1]} : f32[2,2]
                """),
        assertThat(new WidenAttention(58, false))
            .as("6 scores of 4 bytes and weights of one don't fit half of 58")
            .within(0.05)
            .on(
                """
                (%q: i8[2,3,1,4], %k: i8[2,3,6,4], %v: i8[2,3,6,4], %mask: f32[6])
                %0 = attention(%q, %k, %v, %mask) {scale = 0.001, soft_cap = 0.0, causal, offset = [5], window = 0, mask, integer, value_scale = 0.01} : f32[2,3,1,4]
                """)
            .gives(
                """
                %0 = cast(%q) {to = f32} : f32[2,3,1,4]
                %1 = cast(%k) {to = f32} : f32[2,3,6,4]
                %2 = cast(%v) {to = f32} : f32[2,3,6,4]
                %3 = attention(%0, %1, %2, %mask) {scale = 0.001, soft_cap = 0.0, causal, offset = [5], window = 0, mask} : f32[2,3,1,4]
                %4 = constant 0.01 : f32[]
                %5 = mul(%3, %4) : f32[2,3,1,4]
                """),
        assertThat(new WidenAttention(60, false))
            .as("scores and weights that fit")
            .on(
                """
                (%q: i8[2,3,1,4], %k: i8[2,3,6,4], %v: i8[2,3,6,4])
                %0 = attention(%q, %k, %v) {scale = 0.001, soft_cap = 0.0, offset = [0], window = 0, integer, value_scale = 0.01} : f32[2,3,1,4]
                """)
            .doesNotFire(),
        assertThat(new WidenAttention(156, true))
            .as("keys and values of 8 bytes, which fit half of 156 with them")
            .on(
                """
                (%q: i8[2,3,1,4], %k: i8[2,3,6,4], %v: i8[2,3,6,4])
                %0 = attention(%q, %k, %v) {scale = 0.001, soft_cap = 0.0, offset = [0], window = 0, integer, value_scale = 0.01} : f32[2,3,1,4]
                """)
            .doesNotFire(),
        assertThat(new WidenAttention(154, true))
            .as("keys and values that don't fit half of 154, in pages")
            .within(0.05)
            .on(
                """
                (%q: i8[2,3,1,4], %k: i8[2,3,6,4], %v: i8[2,3,6,4], %mask: f32[6])
                %0 = attention(%q, %k, %v, %mask) {scale = 0.001, soft_cap = 0.0, causal, offset = [5], window = 0, mask, integer, value_scale = 0.01} : f32[2,3,1,4]
                """)
            .gives(
                """
                %0 = cast(%q) {to = f32} : f32[2,3,1,4]
                %1 = cast(%k) {to = f32} : f32[2,3,6,4]
                %2 = cast(%v) {to = f32} : f32[2,3,6,4]
                %3 = attention(%0, %1, %2, %mask) {scale = 0.001, soft_cap = 0.0, causal, offset = [5], window = 0, mask} : f32[2,3,1,4]
                %4 = constant 0.01 : f32[]
                %5 = mul(%3, %4) : f32[2,3,1,4]
                """),
        assertThat(new SplitBatches())
            .as("attention by lengths of keys")
            .indices(5)
            .within(1e-5)
            .on(
                """
                (%q: f32[2,3,1,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4], %mask: f32[7], %length: i64[2])
                %0 = attention(%q, %k, %v, %mask, %length) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask, key_length} : f32[2,3,1,4]
                """)
            .gives(
                """
                %0 = slice(%q) {starts = [0, 0, 0, 0], sizes = [1, 3, 1, 4], steps = [1, 1, 1, 1]} : f32[1,3,1,4]
                %1 = slice(%k) {starts = [0, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %2 = slice(%v) {starts = [0, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %3 = slice(%length) {starts = [0], sizes = [1], steps = [1]} : i64[1]
                %4 = attention(%0, %1, %2, %mask, %3) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask, key_length} : f32[1,3,1,4]
                %5 = slice(%q) {starts = [1, 0, 0, 0], sizes = [1, 3, 1, 4], steps = [1, 1, 1, 1]} : f32[1,3,1,4]
                %6 = slice(%k) {starts = [1, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %7 = slice(%v) {starts = [1, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %8 = slice(%length) {starts = [1], sizes = [1], steps = [1]} : i64[1]
                %9 = attention(%5, %6, %7, %mask, %8) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask, key_length} : f32[1,3,1,4]
                %10 = concat(%4, %9) {axis = 0} : f32[2,3,1,4]
                """),
        assertThat(new SplitBatches())
            .as("updates of caches")
            .indices(5)
            .on(
                """
                (%cache: f32[2,3,7,4], %new: f32[2,3,1,4], %start: i64[2])
                %0 = cache_update(%cache, %new, %start) {axis = 2} : f32[2,3,7,4]
                """)
            .gives(
                """
                %0 = slice(%cache) {starts = [0, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %1 = slice(%new) {starts = [0, 0, 0, 0], sizes = [1, 3, 1, 4], steps = [1, 1, 1, 1]} : f32[1,3,1,4]
                %2 = slice(%start) {starts = [0], sizes = [1], steps = [1]} : i64[1]
                %3 = cache_update(%0, %1, %2) {axis = 2} : f32[1,3,7,4]
                %4 = slice(%cache) {starts = [1, 0, 0, 0], sizes = [1, 3, 7, 4], steps = [1, 1, 1, 1]} : f32[1,3,7,4]
                %5 = slice(%new) {starts = [1, 0, 0, 0], sizes = [1, 3, 1, 4], steps = [1, 1, 1, 1]} : f32[1,3,1,4]
                %6 = slice(%start) {starts = [1], sizes = [1], steps = [1]} : i64[1]
                %7 = cache_update(%4, %5, %6) {axis = 2} : f32[1,3,7,4]
                %8 = concat(%3, %7) {axis = 0} : f32[2,3,7,4]
                """),
        assertThat(new SplitBatches())
            .as("a batch of 1")
            .on(
                """
                (%cache: f32[1,3,7,4], %new: f32[1,3,1,4], %start: i64[1])
                %0 = cache_update(%cache, %new, %start) {axis = 2} : f32[1,3,7,4]
                """)
            .doesNotFire(),
        assertThat(new SplitBatches())
            .as("attention to all keys")
            .on(
                """
                (%q: f32[2,3,1,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = attention(%q, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,1,4]
                """)
            .doesNotFire(),
        assertThat(new SplitConvolution())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,4,3,5,4], %w: f32[6,2,2,2,3], %b: f32[6])
                %0 = convolution(%x, %w, %b) {kernel = [2,2,3], strides = [1,2,1], dilations = [1,1,1], low = [0,1,0], high = [0,0,1], groups = 2, bias, result = f32} : f32[2,6,2,3,3]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 0, 0, 0, 0], sizes = [2, 4, 2, 5, 4], steps = [1, 1, 1, 1, 1]} : f32[2,4,2,5,4]
                %1 = reshape(%0) {to = [2, 2, 2, 2, 20]} : f32[2,2,2,2,20]
                %2 = slice(%x) {starts = [0, 0, 1, 0, 0], sizes = [2, 4, 2, 5, 4], steps = [1, 1, 1, 1, 1]} : f32[2,4,2,5,4]
                %3 = reshape(%2) {to = [2, 2, 2, 2, 20]} : f32[2,2,2,2,20]
                %4 = concat(%1, %3) {axis = 2} : f32[2,2,4,2,20]
                %5 = transpose(%4) {permutation = [0, 3, 1, 2, 4]} : f32[2,2,2,4,20]
                %6 = reshape(%5) {to = [4, 8, 5, 4]} : f32[4,8,5,4]
                %7 = reshape(%w) {to = [6, 2, 2, 6]} : f32[6,2,2,6]
                %8 = transpose(%7) {permutation = [0, 2, 1, 3]} : f32[6,2,2,6]
                %9 = reshape(%8) {to = [6, 4, 2, 3]} : f32[6,4,2,3]
                %10 = convolution(%6, %9, %b) {kernel = [2, 3], strides = [2, 1], dilations = [1, 1], low = [1, 0], high = [0, 1], groups = 2, bias, result = f32} : f32[4,6,3,3]
                %11 = reshape(%10) {to = [2, 2, 6, 9]} : f32[2,2,6,9]
                %12 = transpose(%11) {permutation = [0, 2, 1, 3]} : f32[2,6,2,9]
                %13 = reshape(%12) {to = [2, 6, 2, 3, 3]} : f32[2,6,2,3,3]
                """),
        assertThat(new SplitConvolution())
            .as("two spatial dimensions")
            .on(
                """
                (%x: f32[2,4,5,4], %w: f32[6,2,2,3])
                %0 = convolution(%x, %w) {kernel = [2,3], strides = [1,2], dilations = [1,1], low = [0,1], high = [0,0], groups = 2, result = f32} : f32[2,6,4,2]
                """)
            .doesNotFire(),
        assertThat(new SplitConvolution())
            .as("nothing comes out")
            .on(
                """
                (%x: f32[0,4,3,5,4], %w: f32[6,2,2,2,3])
                %0 = convolution(%x, %w) {kernel = [2,2,3], strides = [1,2,1], dilations = [1,1,1], low = [0,1,0], high = [0,0,1], groups = 2, result = f32} : f32[0,6,2,3,3]
                """)
            .doesNotFire(),
        assertThat(new SplitPool())
            .within(1e-6)
            .on(
                """
                (%x: f32[2,3,3,5,4])
                %0 = mean_pool(%x) {kernel = [2,2,3], strides = [1,2,1], dilations = [1,1,1], low = [0,1,0], high = [0,0,1]} : f32[2,3,2,3,3]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 9, 5, 4]} : f32[2,9,5,4]
                %1 = mean_pool(%0) {kernel = [2, 3], strides = [2, 1], dilations = [1, 1], low = [1, 0], high = [0, 1]} : f32[2,9,3,3]
                %2 = reshape(%1) {to = [2, 3, 3, 9]} : f32[2,3,3,9]
                %3 = mean_pool(%2) {kernel = [2, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]} : f32[2,3,2,9]
                %4 = reshape(%3) {to = [2, 3, 2, 3, 3]} : f32[2,3,2,3,3]
                """),
        assertThat(new SplitPool())
            .as("largest")
            .on(
                """
                (%x: i8[2,3,3,5,4])
                %0 = max_pool(%x) {kernel = [2,2,3], strides = [1,2,1], dilations = [1,1,1], low = [0,1,0], high = [0,0,1]} : i8[2,3,2,3,3]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 9, 5, 4]} : i8[2,9,5,4]
                %1 = max_pool(%0) {kernel = [2, 3], strides = [2, 1], dilations = [1, 1], low = [1, 0], high = [0, 1]} : i8[2,9,3,3]
                %2 = reshape(%1) {to = [2, 3, 3, 9]} : i8[2,3,3,9]
                %3 = max_pool(%2) {kernel = [2, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]} : i8[2,3,2,9]
                %4 = reshape(%3) {to = [2, 3, 2, 3, 3]} : i8[2,3,2,3,3]
                """),
        assertThat(new SplitPool())
            .as("with places")
            .on(
                """
                (%x: f32[2,3,3,5,4])
                %0, %1 = max_pool(%x) {kernel = [2,2,3], strides = [1,2,1], dilations = [1,1,1], low = [0,1,0], high = [0,0,1], indices} : f32[2,3,2,3,3], i64[2,3,2,3,3]
                return %0, %1
                """)
            .doesNotFire(),
        assertThat(new SplitPool())
            .as("two spatial dimensions")
            .on(
                """
                (%x: f32[2,3,5,4])
                %0 = max_pool(%x) {kernel = [2,3], strides = [1,2], dilations = [1,1], low = [0,1], high = [0,0]} : f32[2,3,4,2]
                """)
            .doesNotFire(),
        assertThat(new StuffZeros())
            .within(1e-5)
            .on(
                """
                (%x: f32[2,4,3,5], %w: f32[4,3,2,3], %b: f32[6])
                %0 = transposed_convolution(%x, %w, %b) {kernel = [2,3], strides = [2,3], dilations = [1,2], low = [0,1], high = [1,0], groups = 2, bias} : f32[2,6,5,16]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [8, 3, 1, 5]} : f32[8,3,1,5]
                %1 = constant 0.0 : f32[]
                %2 = pad(%0, %1) {mode = constant, low = [0, 0, 0, 0], high = [0, 0, 1, 0]} : f32[8,3,2,5]
                %3 = reshape(%2) {to = [2, 4, 6, 5]} : f32[2,4,6,5]
                %4 = reshape(%3) {to = [48, 5, 1, 1]} : f32[48,5,1,1]
                %5 = constant 0.0 : f32[]
                %6 = pad(%4, %5) {mode = constant, low = [0, 0, 0, 0], high = [0, 0, 2, 0]} : f32[48,5,3,1]
                %7 = reshape(%6) {to = [2, 4, 6, 15]} : f32[2,4,6,15]
                %8 = constant 0.0 : f32[]
                %9 = pad(%7, %8) {mode = constant, low = [0, 0, 1, 3], high = [0, 0, -1, 2]} : f32[2,4,6,20]
                %10 = slice(%w) {starts = [0, 0, 1, 0], sizes = [4, 3, 2, 3], steps = [1, 1, -1, 1]} : f32[4,3,2,3]
                %11 = slice(%10) {starts = [0, 0, 0, 2], sizes = [4, 3, 2, 3], steps = [1, 1, 1, -1]} : f32[4,3,2,3]
                %12 = reshape(%11) {to = [2, 2, 3, 6]} : f32[2,2,3,6]
                %13 = transpose(%12) {permutation = [0, 2, 1, 3]} : f32[2,3,2,6]
                %14 = reshape(%13) {to = [6, 2, 2, 3]} : f32[6,2,2,3]
                %15 = convolution(%9, %14, %b) {kernel = [2, 3], strides = [1, 1], dilations = [1, 2], low = [0, 0], high = [0, 0], groups = 2, bias, result = f32} : f32[2,6,5,16]
                """),
        assertThat(new StuffZeros())
            .as("a convolution")
            .on(
                """
                (%x: f32[2,4,5,4], %w: f32[6,2,2,3])
                %0 = convolution(%x, %w) {kernel = [2,3], strides = [1,2], dilations = [1,1], low = [0,1], high = [0,0], groups = 2, result = f32} : f32[2,6,4,2]
                """)
            .doesNotFire(),
        assertThat(new StuffZeros())
            .as("nothing goes in")
            .on(
                """
                (%x: f32[2,0,3,5], %w: f32[0,3,2,3])
                %0 = transposed_convolution(%x, %w) {kernel = [2,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1} : f32[2,3,6,15]
                """)
            .doesNotFire());
  }
}
