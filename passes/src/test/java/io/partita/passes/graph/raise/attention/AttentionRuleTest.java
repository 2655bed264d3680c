package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class AttentionRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new ExchangeTransposedProduct())
            .on(
                """
                (%k: f32[2,3,7,4], %q: f32[3,4,5])
                %0 = matmul(%k, %q) {result = f32} : f32[2,3,7,5]
                %1 = transpose(%0) {permutation = [0,3,1,2]} : f32[2,5,3,7]
                """)
            .gives(
                """
                %0 = transpose(%q) {permutation = [0, 2, 1]} : f32[3,5,4]
                %1 = transpose(%k) {permutation = [0, 1, 3, 2]} : f32[2,3,4,7]
                %2 = matmul(%0, %1) {result = f32} : f32[2,3,5,7]
                %3 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[2,5,3,7]
                """),
        assertThat(new ExchangeTransposedProduct())
            .as("the rows come first")
            .on(
                """
                (%k: f32[2,3,7,4], %q: f32[2,3,4,5])
                %0 = matmul(%k, %q) {result = f32} : f32[2,3,7,5]
                %1 = transpose(%0) {permutation = [0,2,1,3]} : f32[2,7,3,5]
                """)
            .doesNotFire(),
        assertThat(new ExchangeTransposedProduct())
            .as("the product is read elsewhere")
            .on(
                """
                (%k: f32[7,4], %q: f32[4,5])
                %0 = matmul(%k, %q) {result = f32} : f32[7,5]
                %1 = transpose(%0) {permutation = [1,0]} : f32[5,7]
                %2 = exp(%0) : f32[7,5]
                %3 = matmul(%1, %2) {result = f32} : f32[5,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseIntegerAttention())
            .as("dequantized bytes, of which keys are moved and have a zero point")
            .within(0.02)
            .on(
                quantized(
                    "i8[2,3,7,4]",
                    "0",
                    """
                    %4 = constant 0.03 : f32[]
                    %5 = constant 5 : i8[]
                    %6 = dequantize(%k, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,3,7,4]
                    %7 = transpose(%6) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                    """))
            .gives(
                """
                %0 = transpose(%k) {permutation = [0, 1, 3, 2]} : i8[2,3,4,7]
                %1 = transpose(%0) {permutation = [0, 1, 3, 2]} : i8[2,3,7,4]
                %2 = attention(%q, %1, %v) {scale = 2.999999865889551E-4, soft_cap = 0.0, offset = [0], window = 0, integer, value_scale = 0.009999999776482582} : f32[2,3,5,6]
                %3 = reshape(%2) {to = [2, 3, 5, 6]} : f32[2,3,5,6]
                """),
        assertThat(new RaiseIntegerAttention())
            .as("keys that are scaled after they were dequantized")
            .within(0.02)
            .on(quantized("i8[2,3,7,4]", "0", scaledKeys("0.5")))
            .gives(
                """
                %0 = transpose(%k) {permutation = [0, 1, 3, 2]} : i8[2,3,4,7]
                %1 = transpose(%0) {permutation = [0, 1, 3, 2]} : i8[2,3,7,4]
                %2 = attention(%q, %1, %v) {scale = 1.4999999329447754E-4, soft_cap = 0.0, offset = [0], window = 0, integer, value_scale = 0.009999999776482582} : f32[2,3,5,6]
                %3 = reshape(%2) {to = [2, 3, 5, 6]} : f32[2,3,5,6]
                """),
        assertThat(new RaiseIntegerAttention())
            .as("keys times a negative number")
            .on(quantized("i8[2,3,7,4]", "0", scaledKeys("-0.5")))
            .doesNotFire(),
        assertThat(new RaiseIntegerAttention())
            .as("values with a zero point")
            .on(
                quantized(
                    "i8[2,3,7,4]",
                    "1",
                    """
                    %4 = constant 0.03 : f32[]
                    %5 = constant 5 : i8[]
                    %6 = dequantize(%k, %4, %5) {axis = 0, block = 0, to = f32} : f32[2,3,7,4]
                    %7 = transpose(%6) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                    """))
            .doesNotFire(),
        assertThat(new RaiseIntegerAttention())
            .as("keys of floats")
            .on(
                quantized(
                    "f32[2,3,7,4]",
                    "0",
                    """
                    %7 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                    """))
            .doesNotFire(),
        assertThat(new SelectInsteadOfProducts())
            .on(masked("%m", "-1.0E38"))
            .gives(
                """
                %0 = constant -1.0E38 : f32[]
                %1 = select(%m, %x, %0) : f32[2,3,5]
                """),
        assertThat(new SelectInsteadOfProducts())
            .as("another mask for what is hidden")
            .on(masked("%n", "-1.0E38"))
            .doesNotFire(),
        assertThat(new SelectInsteadOfProducts())
            .as("an infinite number, whose product with 0 isn't 0")
            .on(masked("%m", "-inf"))
            .doesNotFire(),
        assertThat(new RaiseAttention())
            .within(1e-5)
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,6])
                %0 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                %1 = matmul(%q, %0) {result = f32} : f32[2,3,5,7]
                %2 = constant 2.0 : f32[]
                %3 = div(%1, %2) : f32[2,3,5,7]
                %4 = softmax(%3) {axis = 3} : f32[2,3,5,7]
                %5 = matmul(%4, %v) {result = f32} : f32[2,3,5,6]
                """)
            .gives(
                """
                %0 = transpose(%k) {permutation = [0, 1, 3, 2]} : f32[2,3,4,7]
                %1 = transpose(%0) {permutation = [0, 1, 3, 2]} : f32[2,3,7,4]
                %2 = attention(%q, %1, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,6]
                %3 = reshape(%2) {to = [2, 3, 5, 6]} : f32[2,3,5,6]
                """),
        assertThat(new RaiseAttention())
            .as("a softmax over queries")
            .on(
                """
                (%q: f32[2,3,7,4], %k: f32[2,3,7,4], %v: f32[2,3,7,6])
                %0 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                %1 = matmul(%q, %0) {result = f32} : f32[2,3,7,7]
                %2 = softmax(%1) {axis = 2} : f32[2,3,7,7]
                %3 = matmul(%2, %v) {result = f32} : f32[2,3,7,6]
                """)
            .doesNotFire(),
        assertThat(new RaiseAttention())
            .as("logarithms of probabilities")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,6])
                %0 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                %1 = matmul(%q, %0) {result = f32} : f32[2,3,5,7]
                %2 = log_softmax(%1) {axis = 3} : f32[2,3,5,7]
                %3 = matmul(%2, %v) {result = f32} : f32[2,3,5,6]
                """)
            .doesNotFire(),
        assertThat(new RaiseAttention())
            .as("a function of the scores")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,6])
                %0 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,7]
                %1 = matmul(%q, %0) {result = f32} : f32[2,3,5,7]
                %2 = exp(%1) : f32[2,3,5,7]
                %3 = softmax(%2) {axis = 3} : f32[2,3,5,7]
                %4 = matmul(%3, %v) {result = f32} : f32[2,3,5,6]
                """)
            .doesNotFire(),
        assertThat(new RaiseAttention())
            .as("the probabilities come second")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,5,4], %v: f32[2,3,5,5])
                %0 = transpose(%k) {permutation = [0,1,3,2]} : f32[2,3,4,5]
                %1 = matmul(%q, %0) {result = f32} : f32[2,3,5,5]
                %2 = softmax(%1) {axis = 3} : f32[2,3,5,5]
                %3 = matmul(%v, %2) {result = f32} : f32[2,3,5,5]
                """)
            .doesNotFire(),
        assertThat(new SeparateBatchFromHeads())
            .within(1e-5)
            .on(
                """
                (%q: f32[1,6,5,4], %k: f32[2,3,7,4], %v: f32[1,6,7,4])
                %0 = reshape(%k) {to = [1,6,7,4]} : f32[1,6,7,4]
                %1 = attention(%q, %0, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,6,5,4]
                """)
            .gives(
                """
                %0 = reshape(%k) {to = [1, 6, 7, 4]} : f32[1,6,7,4]
                %1 = reshape(%q) {to = [2, 3, 5, 4]} : f32[2,3,5,4]
                %2 = reshape(%0) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %3 = reshape(%v) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %4 = attention(%1, %2, %3) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                %5 = reshape(%4) {to = [1, 6, 5, 4]} : f32[1,6,5,4]
                """),
        assertThat(new SeparateBatchFromHeads())
            .as("batch and heads aren't joined just before")
            .on(
                """
                (%q: f32[1,6,5,4], %k: f32[1,6,28], %v: f32[1,6,7,4])
                %0 = reshape(%k) {to = [1,6,7,4]} : f32[1,6,7,4]
                %1 = attention(%q, %0, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,6,5,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateBatchFromHeads())
            .as("fewer kv heads")
            .on(
                """
                (%q: f32[1,12,5,4], %k: f32[2,3,7,4], %v: f32[1,6,7,4])
                %0 = reshape(%k) {to = [1,6,7,4]} : f32[1,6,7,4]
                %1 = attention(%q, %0, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,12,5,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateBatchFromHeads())
            .as("the number of keys is one for all batches")
            .on(
                """
                (%q: f32[1,6,5,4], %k: f32[2,3,7,4], %v: f32[1,6,7,4], %length: i64[1])
                %0 = reshape(%k) {to = [1,6,7,4]} : f32[1,6,7,4]
                %1 = attention(%q, %0, %v, %length) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, key_length} : f32[1,6,5,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateBatchFromHeads())
            .as("it has batches already")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[3,2,7,4], %v: f32[2,3,7,4])
                %0 = reshape(%k) {to = [2,3,7,4]} : f32[2,3,7,4]
                %1 = attention(%q, %0, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new AbsorbScale())
            .within(1e-5)
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = constant 2.0 : f32[]
                %1 = div(%q, %0) : f32[2,3,5,4]
                %2 = constant [0.5] : f32[1]
                %3 = mul(%2, %k) : f32[2,3,7,4]
                %4 = attention(%1, %3, %v) {scale = 1.0, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .gives(
                """
                %0 = attention(%q, %k, %v) {scale = 0.25, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """),
        assertThat(new AbsorbScale())
            .as("values are scaled")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = constant 2.0 : f32[]
                %1 = div(%v, %0) : f32[2,3,7,4]
                %2 = attention(%q, %k, %1) {scale = 1.0, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new AbsorbScale())
            .as("a factor for each feature")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = constant [1.0, 2.0, 3.0, 4.0] : f32[4]
                %1 = mul(%q, %0) : f32[2,3,5,4]
                %2 = attention(%1, %k, %v) {scale = 1.0, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new AbsorbScale())
            .as("the number is divided")
            .on(
                """
                (%q: f32[2,3,5,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = constant 2.0 : f32[]
                %1 = div(%0, %q) : f32[2,3,5,4]
                %2 = attention(%1, %k, %v) {scale = 1.0, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new AbsorbScale())
            .as("the factor broadcasts")
            .on(
                """
                (%q: f32[2,3,5,1], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = constant [2.0, 2.0, 2.0, 2.0] : f32[4]
                %1 = mul(%q, %0) : f32[2,3,5,4]
                %2 = attention(%1, %k, %v) {scale = 1.0, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,5,4]
                """)
            .doesNotFire(),
        assertThat(new RemoveRepeatedKeyValueHeads())
            .within(1e-5)
            .on(
                """
                (%q: f32[2,6,5,4], %k: f32[2,3,1,7,4], %v: f32[2,3,1,7,4])
                %0 = broadcast(%k) {to = [2,3,2,7,4]} : f32[2,3,2,7,4]
                %1 = reshape(%0) {to = [2,6,7,4]} : f32[2,6,7,4]
                %2 = broadcast(%v) {to = [2,3,2,7,4]} : f32[2,3,2,7,4]
                %3 = reshape(%2) {to = [2,6,7,4]} : f32[2,6,7,4]
                %4 = attention(%q, %1, %3) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """)
            .gives(
                """
                %0 = reshape(%k) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %1 = reshape(%v) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %2 = attention(%q, %0, %1) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """),
        assertThat(new RemoveRepeatedKeyValueHeads())
            .as("each dimension of repeat_interleave's tile has a dimension for its repetitions")
            .within(1e-5)
            .on(
                """
                (%q: f32[2,6,5,4], %k: f32[2,3,1,1,7,4], %v: f32[6,1,7,4])
                %0 = broadcast(%k) {to = [2,3,2,1,7,4]} : f32[2,3,2,1,7,4]
                %1 = reshape(%0) {to = [2,6,7,4]} : f32[2,6,7,4]
                %2 = broadcast(%v) {to = [6,2,7,4]} : f32[6,2,7,4]
                %3 = reshape(%2) {to = [2,6,7,4]} : f32[2,6,7,4]
                %4 = attention(%q, %1, %3) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """)
            .gives(
                """
                %0 = reshape(%k) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %1 = reshape(%v) {to = [2, 3, 7, 4]} : f32[2,3,7,4]
                %2 = attention(%q, %0, %1) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """),
        assertThat(new RemoveRepeatedKeyValueHeads())
            .as("all heads are repeated in turn")
            .on(
                """
                (%q: f32[2,6,5,4], %k: f32[2,1,3,7,4], %v: f32[2,1,3,7,4])
                %0 = broadcast(%k) {to = [2,2,3,7,4]} : f32[2,2,3,7,4]
                %1 = reshape(%0) {to = [2,6,7,4]} : f32[2,6,7,4]
                %2 = broadcast(%v) {to = [2,2,3,7,4]} : f32[2,2,3,7,4]
                %3 = reshape(%2) {to = [2,6,7,4]} : f32[2,6,7,4]
                %4 = attention(%q, %1, %3) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """)
            .doesNotFire(),
        assertThat(new RemoveRepeatedKeyValueHeads())
            .as("keys alone are repeated")
            .on(
                """
                (%q: f32[2,6,5,4], %k: f32[2,3,1,7,4], %v: f32[2,6,7,4])
                %0 = broadcast(%k) {to = [2,3,2,7,4]} : f32[2,3,2,7,4]
                %1 = reshape(%0) {to = [2,6,7,4]} : f32[2,6,7,4]
                %2 = attention(%q, %1, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """)
            .doesNotFire(),
        assertThat(new RemoveRepeatedKeyValueHeads())
            .as("the batch is repeated")
            .on(
                """
                (%q: f32[2,6,5,4], %k: f32[1,6,7,4], %v: f32[1,6,7,4])
                %0 = broadcast(%k) {to = [2,6,7,4]} : f32[2,6,7,4]
                %1 = broadcast(%v) {to = [2,6,7,4]} : f32[2,6,7,4]
                %2 = attention(%q, %0, %1) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,5,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateGroupedQueries())
            .within(1e-5)
            .on(
                """
                (%q: f32[2,6,1,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = reshape(%q) {to = [2,3,2,4]} : f32[2,3,2,4]
                %1 = attention(%0, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,2,4]
                """)
            .gives(
                """
                %0 = attention(%q, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,6,1,4]
                %1 = reshape(%0) {to = [2, 3, 2, 4]} : f32[2,3,2,4]
                """),
        assertThat(new SeparateGroupedQueries())
            .as("a mask for each query")
            .on(
                """
                (%q: f32[2,6,1,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4], %mask: f32[2,7])
                %0 = reshape(%q) {to = [2,3,2,4]} : f32[2,3,2,4]
                %1 = attention(%0, %k, %v, %mask) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,3,2,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateGroupedQueries())
            .as("later queries see more")
            .on(
                """
                (%q: f32[2,6,1,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = reshape(%q) {to = [2,3,2,4]} : f32[2,3,2,4]
                %1 = attention(%0, %k, %v) {scale = 0.5, soft_cap = 0.0, causal, offset = [5], window = 0} : f32[2,3,2,4]
                """)
            .doesNotFire(),
        assertThat(new SeparateGroupedQueries())
            .as("several queries")
            .on(
                """
                (%q: f32[2,6,3,4], %k: f32[2,3,7,4], %v: f32[2,3,7,4])
                %0 = reshape(%q) {to = [2,3,6,4]} : f32[2,3,6,4]
                %1 = attention(%0, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,6,4]
                """)
            .doesNotFire(),
        assertThat(new RecognizeCausalMask())
            .within(1e-5)
            .on(
                """
                (%q: f32[2,1,3,4], %k: f32[2,1,3,4], %v: f32[2,1,3,4])
                %0 = constant [true, false, false, true, true, false, true, true, true] : bool[3,3]
                %1 = attention(%q, %k, %v, %0) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,1,3,4]
                """)
            .gives(
                """
                %0 = attention(%q, %k, %v) {scale = 0.5, soft_cap = 0.0, causal, offset = [0], window = 0} : f32[2,1,3,4]
                """),
        assertThat(new RecognizeCausalMask())
            .as("a mask that hides nothing")
            .within(1e-5)
            .on(
                """
                (%q: f32[2,1,2,4], %k: f32[2,1,3,4], %v: f32[2,1,3,4])
                %0 = constant [true, true, true] : bool[1,3]
                %1 = attention(%q, %k, %v, %0) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,1,2,4]
                """)
            .gives(
                """
                %0 = attention(%q, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,1,2,4]
                """),
        assertThat(new RecognizeCausalMask())
            .as("later keys are seen")
            .on(
                """
                (%q: f32[2,1,3,4], %k: f32[2,1,3,4], %v: f32[2,1,3,4])
                %0 = constant [true, false, true, true, true, false, true, true, true] : bool[3,3]
                %1 = attention(%q, %k, %v, %0) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,1,3,4]
                """)
            .doesNotFire(),
        assertThat(new RecognizeCausalMask())
            .as("a penalty that hides nothing")
            .on(
                """
                (%q: f32[2,1,2,4], %k: f32[2,1,2,4], %v: f32[2,1,2,4])
                %0 = constant [0.0, -10.0, 0.0, 0.0] : f32[2,2]
                %1 = attention(%q, %k, %v, %0) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,1,2,4]
                """)
            .doesNotFire(),
        assertThat(new RecognizeCausalMask())
            .as("a mask that isn't known")
            .on(
                """
                (%q: f32[2,1,2,4], %k: f32[2,1,2,4], %v: f32[2,1,2,4], %mask: bool[2,2])
                %0 = attention(%q, %k, %v, %mask) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[2,1,2,4]
                """)
            .doesNotFire());
  }

  private static String scaledKeys(String factor) {
    return """
    %%4 = constant 0.03 : f32[]
    %%5 = constant 5 : i8[]
    %%6 = dequantize(%%k, %%4, %%5) {axis = 0, block = 0, to = f32} : f32[2,3,7,4]
    %%t = transpose(%%6) {permutation = [0,1,3,2]} : f32[2,3,4,7]
    %%f = constant %s : f32[]
    %%7 = mul(%%t, %%f) : f32[2,3,4,7]
    """
        .formatted(factor);
  }

  /** An attention of quantized values. */
  private static String quantized(String keys, String zero, String transposed) {
    return """
    (%q: i8[2,3,5,4], %k: KEYS, %v: i8[2,3,7,6])
    %0 = constant 0.02 : f32[]
    %1 = constant 0 : i8[]
    %2 = dequantize(%q, %0, %1) {axis = 0, block = 0, to = f32} : f32[2,3,5,4]
    TRANSPOSED
    %8 = matmul(%2, %7) {result = f32} : f32[2,3,5,7]
    %9 = constant 2.0 : f32[]
    %10 = div(%8, %9) : f32[2,3,5,7]
    %11 = softmax(%10) {axis = 3} : f32[2,3,5,7]
    %12 = constant 0.003921569 : f32[]
    %13 = constant -128 : i8[]
    %14 = quantize(%11, %12, %13) {axis = 0, block = 0, to = i8} : i8[2,3,5,7]
    %15 = dequantize(%14, %12, %13) {axis = 0, block = 0, to = f32} : f32[2,3,5,7]
    %16 = constant 0.01 : f32[]
    %17 = constant ZERO : i8[]
    %18 = dequantize(%v, %16, %17) {axis = 0, block = 0, to = f32} : f32[2,3,7,6]
    %19 = matmul(%15, %18) {result = f32} : f32[2,3,5,6]
    """
        .replace("KEYS", keys)
        .replace("ZERO", zero)
        .replace("TRANSPOSED\n", transposed);
  }

  /** Scores where {@code %m}, and {@code number} where not {@code other}. */
  private static String masked(String other, String number) {
    return """
    (%x: f32[2,3,5], %m: bool[2,1,5], %n: bool[2,1,5])
    %0 = cast(%m) {to = f32} : f32[2,1,5]
    %1 = mul(%x, %0) : f32[2,3,5]
    %2 = not(OTHER) : bool[2,1,5]
    %3 = cast(%2) {to = f32} : f32[2,1,5]
    %4 = constant NUMBER : f32[]
    %5 = mul(%4, %3) : f32[2,1,5]
    %6 = add(%1, %5) : f32[2,3,5]
    """
        .replace("OTHER", other)
        .replace("NUMBER", number);
  }
}
