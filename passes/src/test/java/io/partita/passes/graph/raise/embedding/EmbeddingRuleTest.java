package io.partita.passes.graph.raise.embedding;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class EmbeddingRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new RaiseEmbedding())
            .indices(3)
            .on(
                """
                (%ids: i64[2,5])
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[3,2]
                %1 = gather(%0, %ids) {axis = 0} : f32[2,5,2]
                """)
            .gives(
                """
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[3,2]
                %1 = embedding(%0, %ids) : f32[2,5,2]
                """),
        assertThat(new RaiseEmbedding())
            .as("of columns")
            .on(
                """
                (%ids: i64[2,5])
                %0 = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : f32[3,2]
                %1 = gather(%0, %ids) {axis = 1} : f32[3,2,5]
                """)
            .doesNotFire(),
        assertThat(new RaiseEmbedding())
            .as("the table isn't a weight")
            .on(
                """
                (%table: f32[3,2], %ids: i64[2,5])
                %0 = gather(%table, %ids) {axis = 0} : f32[2,5,2]
                """)
            .doesNotFire(),
        assertThat(new RaiseEmbedding())
            .as("of integers")
            .on(
                """
                (%ids: i64[2,5])
                %0 = constant [1, 2, 3, 4, 5, 6] : i64[3,2]
                %1 = gather(%0, %ids) {axis = 0} : i64[2,5,2]
                """)
            .doesNotFire(),
        assertThat(new RaisePatchEmbedding())
            .within(1e-5)
            .on(
                """
                (%image: f32[2,1,4,6], %weight: f32[5,1,2,3])
                %0 = convolution(%image, %weight) {kernel = [2,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1, result = f32} : f32[2,5,2,2]
                %1 = transpose(%0) {permutation = [0,2,3,1]} : f32[2,2,2,5]
                %2 = reshape(%1) {to = [2,4,5]} : f32[2,4,5]
                """)
            .gives(
                """
                %0 = patch_embedding(%image, %weight) : f32[2,4,5]
                %1 = reshape(%0) {to = [2, 4, 5]} : f32[2,4,5]
                """),
        assertThat(new RaisePatchEmbedding())
            .as("windows overlap")
            .on(
                """
                (%image: f32[2,1,5,6], %weight: f32[5,1,3,3])
                %0 = convolution(%image, %weight) {kernel = [3,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1, result = f32} : f32[2,5,2,2]
                %1 = transpose(%0) {permutation = [0,2,3,1]} : f32[2,2,2,5]
                %2 = reshape(%1) {to = [2,4,5]} : f32[2,4,5]
                """)
            .doesNotFire(),
        assertThat(new RaisePatchEmbedding())
            .as("a border isn't covered")
            .on(
                """
                (%image: f32[2,1,5,6], %weight: f32[5,1,2,3])
                %0 = convolution(%image, %weight) {kernel = [2,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1, result = f32} : f32[2,5,2,2]
                %1 = transpose(%0) {permutation = [0,2,3,1]} : f32[2,2,2,5]
                %2 = reshape(%1) {to = [2,4,5]} : f32[2,4,5]
                """)
            .doesNotFire(),
        assertThat(new RaisePatchEmbedding())
            .as("of integers")
            .on(
                """
                (%image: i8[2,1,4,6], %weight: i8[5,1,2,3])
                %0 = convolution(%image, %weight) {kernel = [2,3], strides = [2,3], dilations = [1,1], low = [0,0], high = [0,0], groups = 1, result = i32} : i32[2,5,2,2]
                %1 = transpose(%0) {permutation = [0,2,3,1]} : i32[2,2,2,5]
                %2 = reshape(%1) {to = [2,4,5]} : i32[2,4,5]
                """)
            .doesNotFire());
  }
}
