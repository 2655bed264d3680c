package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class MovementRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new CanonicalizeAxes())
            .on(
                """
                (%x: f32[2,3,20])
                %0 = reshape(%x) {to = [6,20]} : f32[6,20]
                %1 = reshape(%0) {to = [2,3,4,5]} : f32[2,3,4,5]
                %2 = transpose(%1) {permutation = [0,2,1,3]} : f32[2,4,3,5]
                %3 = transpose(%2) {permutation = [0,2,1,3]} : f32[2,3,4,5]
                %4 = transpose(%3) {permutation = [0,2,3,1]} : f32[2,4,5,3]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 3, 4, 5]} : f32[2,3,4,5]
                %1 = transpose(%0) {permutation = [0, 2, 3, 1]} : f32[2,4,5,3]
                """),
        assertThat(new CanonicalizeAxes())
            .as("a reshape and a transpose can't be fewer")
            .on(
                """
                (%x: f32[2,3,20])
                %0 = reshape(%x) {to = [2,3,4,5]} : f32[2,3,4,5]
                %1 = transpose(%0) {permutation = [0,2,1,3]} : f32[2,4,3,5]
                """)
            .doesNotFire(),
        assertThat(new MoveReshapeAfterUnary())
            .on(
                """
                (%x: f32[2,15])
                %0 = reshape(%x) {to = [2,3,5]} : f32[2,3,5]
                %1 = exp(%0) : f32[2,3,5]
                %2 = cast(%1) {to = f16} : f16[2,3,5]
                """)
            .gives(
                """
                %0 = exp(%x) : f32[2,15]
                %1 = cast(%0) {to = f16} : f16[2,15]
                %2 = reshape(%1) {to = [2, 3, 5]} : f16[2,3,5]
                """),
        assertThat(new MoveReshapeAfterUnary())
            .as("the reshaped value is read twice")
            .on(
                """
                (%x: f32[2,15])
                %0 = reshape(%x) {to = [2,3,5]} : f32[2,3,5]
                %1 = exp(%0) : f32[2,3,5]
                %2 = add(%0, %1) : f32[2,3,5]
                """)
            .doesNotFire(),
        assertThat(new MoveReshapeAfterUnary())
            .as("a function of two values")
            .on(
                """
                (%x: f32[2,15], %z: f32[5])
                %0 = reshape(%x) {to = [2,3,5]} : f32[2,3,5]
                %1 = add(%0, %z) : f32[2,3,5]
                """)
            .doesNotFire(),
        assertThat(new MoveScaleAfterMovement())
            .on(
                """
                (%x: f32[2,15])
                %0 = constant [2.0, 2.0, 2.0] : f32[3]
                %1 = reshape(%x) {to = [2,5,3]} : f32[2,5,3]
                %2 = div(%1, %0) : f32[2,5,3]
                %3 = transpose(%2) {permutation = [1,0,2]} : f32[5,2,3]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [2, 5, 3]} : f32[2,5,3]
                %1 = transpose(%0) {permutation = [1, 0, 2]} : f32[5,2,3]
                %2 = constant 2.0 : f32[]
                %3 = div(%1, %2) : f32[5,2,3]
                """),
        assertThat(new MoveScaleAfterMovement())
            .as("a factor for each feature")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = transpose(%1) {permutation = [1,0]} : f32[3,2]
                """)
            .doesNotFire(),
        assertThat(new MoveScaleAfterMovement())
            .as("the scaled value is read twice")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant 2.0 : f32[]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = transpose(%1) {permutation = [1,0]} : f32[3,2]
                %3 = matmul(%1, %2) {result = f32} : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveScaleAfterMovement())
            .as("the number is divided")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant 2.0 : f32[]
                %1 = div(%0, %x) : f32[2,3]
                %2 = transpose(%1) {permutation = [1,0]} : f32[3,2]
                """)
            .doesNotFire(),
        assertThat(new MoveScaleAfterMovement())
            .as("the factor broadcasts")
            .on(
                """
                (%x: f32[2,1])
                %0 = constant [2.0, 2.0, 2.0] : f32[3]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = transpose(%1) {permutation = [1,0]} : f32[3,2]
                """)
            .doesNotFire(),
        assertThat(new RemoveEmptyParts())
            .on(
                """
                (%x: f32[2,3], %z: f32[2,0])
                %0 = concat(%x, %z, %x) {axis = 1} : f32[2,6]
                """)
            .gives(
                """
                %0 = concat(%x, %x) {axis = 1} : f32[2,6]
                """),
        assertThat(new RemoveEmptyParts())
            .as("all are empty")
            .on(
                """
                (%x: f32[2,0], %z: f32[2,0])
                %0 = concat(%x, %z) {axis = 1} : f32[2,0]
                """)
            .doesNotFire(),
        assertThat(new RemoveEmptyParts())
            .as("empty along another axis")
            .on(
                """
                (%x: f32[0,3], %z: f32[0,5])
                %0 = concat(%x, %z) {axis = 1} : f32[0,8]
                """)
            .doesNotFire(),
        assertThat(new SliceOfConcat())
            .on(
                """
                (%x: f32[2,3], %z: f32[2,5])
                %0 = concat(%x, %z) {axis = 1} : f32[2,8]
                %1 = slice(%0) {starts = [0,4], sizes = [2,2], steps = [1,2]} : f32[2,2]
                """)
            .gives(
                """
                %0 = slice(%z) {starts = [0, 1], sizes = [2, 2], steps = [1, 2]} : f32[2,2]
                """),
        assertThat(new SliceOfConcat())
            .as("backwards")
            .on(
                """
                (%x: f32[2,3], %z: f32[2,5])
                %0 = concat(%x, %z) {axis = 1} : f32[2,8]
                %1 = slice(%0) {starts = [1,2], sizes = [2,3], steps = [-1,-1]} : f32[2,3]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [1, 2], sizes = [2, 3], steps = [-1, -1]} : f32[2,3]
                """),
        assertThat(new SliceOfConcat())
            .as("of both parts")
            .on(
                """
                (%x: f32[2,3], %z: f32[2,5])
                %0 = concat(%x, %z) {axis = 1} : f32[2,8]
                %1 = slice(%0) {starts = [0,2], sizes = [2,2], steps = [1,1]} : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new SliceOfConcat())
            .as("where the parts meet isn't known")
            .on(
                """
                (%x: f32[2,past], %z: f32[2,5])
                %0 = concat(%x, %z) {axis = 1} : f32[2,past+5]
                %1 = slice(%0) {starts = [0,2], sizes = [2,2], steps = [1,1]} : f32[2,2]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeTranspose())
            .on(
                """
                (%x: f32[2,3,5])
                %0 = transpose(%x) {permutation = [1,2,0]} : f32[3,5,2]
                %1 = slice(%0) {starts = [1,4,0], sizes = [2,3,1], steps = [1,-2,1]} : f32[2,3,1]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 1, 4], sizes = [1, 2, 3], steps = [1, 1, -2]} : f32[1,2,3]
                %1 = transpose(%0) {permutation = [1, 2, 0]} : f32[2,3,1]
                """),
        assertThat(new MoveSliceBeforeTranspose())
            .as("of a reshape")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = reshape(%x) {to = [3,5,2]} : f32[3,5,2]
                %1 = slice(%0) {starts = [1,4,0], sizes = [2,3,1], steps = [1,-2,1]} : f32[2,3,1]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeReshape())
            .on(
                """
                (%x: f32[2,1,5])
                %0 = reshape(%x) {to = [1,2,5,1]} : f32[1,2,5,1]
                %1 = slice(%0) {starts = [0,1,4,0], sizes = [1,1,3,1], steps = [1,1,-2,1]} : f32[1,1,3,1]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [1, 0, 4], sizes = [1, 1, 3], steps = [1, 1, -2]} : f32[1,1,3]
                %1 = reshape(%0) {to = [1, 1, 3, 1]} : f32[1,1,3,1]
                """),
        assertThat(new MoveSliceBeforeReshape())
            .as("the reshape merges axes")
            .on(
                """
                (%x: f32[2,1,5])
                %0 = reshape(%x) {to = [10]} : f32[10]
                %1 = slice(%0) {starts = [1], sizes = [3], steps = [2]} : f32[3]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeReshape())
            .as("the extents are exchanged")
            .on(
                """
                (%x: f32[2,5])
                %0 = reshape(%x) {to = [5,2]} : f32[5,2]
                %1 = slice(%0) {starts = [1,0], sizes = [2,1], steps = [1,1]} : f32[2,1]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeReshape())
            .as("nothing is left of an extent of 1")
            .on(
                """
                (%x: f32[2,5])
                %0 = reshape(%x) {to = [1,2,5]} : f32[1,2,5]
                %1 = slice(%0) {starts = [0,0,0], sizes = [0,2,5], steps = [1,1,1]} : f32[0,2,5]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .on(
                """
                (%x: f32[2,3,5])
                %0 = constant -1 : i64[]
                %1 = gather(%x, %0) {axis = 1} : f32[2,5]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 2, 0], sizes = [2, 1, 5], steps = [1, 1, 1]} : f32[2,1,5]
                %1 = reshape(%0) {to = [2, 5]} : f32[2,5]
                """),
        assertThat(new SliceInsteadOfGather())
            .as("by a tuple")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = constant [1] : i64[1,1]
                %1 = gather_nd(%x, %0) {batch_dims = 0} : f32[1,3,5]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [1, 0, 0], sizes = [1, 3, 5], steps = [1, 1, 1]} : f32[1,3,5]
                %1 = reshape(%0) {to = [1, 3, 5]} : f32[1,3,5]
                """),
        assertThat(new SliceInsteadOfGather())
            .as("two indices")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = constant [1, 2] : i64[2]
                %1 = gather(%x, %0) {axis = 1} : f32[2,2,5]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .as("the index isn't known")
            .on(
                """
                (%x: f32[2,3,5], %i: i64[])
                %0 = gather(%x, %i) {axis = 1} : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .as("from the end of an open extent")
            .on(
                """
                (%x: f32[2,seq,5])
                %0 = constant -1 : i64[]
                %1 = gather(%x, %0) {axis = 1} : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .as("a table that is a weight")
            .on(
                """
                (%x: f32[2])
                %0 = constant [1.0, 2.0, 3.0, 4.0] : f32[2,2]
                %1 = constant 1 : i64[]
                %2 = gather(%0, %1) {axis = 0} : f32[2]
                %3 = add(%x, %2) : f32[2]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .as("an index out of bounds, which only evaluating diagnoses")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = constant 3 : i64[]
                %1 = gather(%x, %0) {axis = 1} : f32[2,5]
                """)
            .doesNotFire(),
        assertThat(new SliceInsteadOfGather())
            .as("a tuple within each batch")
            .on(
                """
                (%x: f32[1,3,5])
                %0 = constant [1] : i64[1,1]
                %1 = gather_nd(%x, %0) {batch_dims = 1} : f32[1,5]
                """)
            .doesNotFire(),
        assertThat(new KeepReducedDimensions())
            .on(
                """
                (%x: f32[2,3,4])
                %0 = reduce_mean(%x) {axes = [1]} : f32[2,4]
                %1 = reshape(%0) {to = [2,1,4]} : f32[2,1,4]
                """)
            .gives(
                """
                %0 = reduce_mean(%x) {axes = [1], keep_dims} : f32[2,1,4]
                """),
        assertThat(new KeepReducedDimensions())
            .as("a dimension of 1 in another place")
            .on(
                """
                (%x: f32[2,3,4])
                %0 = reduce_sum(%x) {axes = [1]} : f32[2,4]
                %1 = reshape(%0) {to = [2,4,1]} : f32[2,4,1]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeConcat())
            .on(
                """
                (%x: f32[2,3,9], %z: f32[2,4,9])
                %0 = neg(%x) : f32[2,3,9]
                %1 = neg(%z) : f32[2,4,9]
                %2 = concat(%0, %1) {axis = 1} : f32[2,7,9]
                %3 = slice(%2) {starts = [0,0,3], sizes = [2,7,3], steps = [1,1,1]} : f32[2,7,3]
                """)
            .gives(
                """
                %0 = neg(%x) : f32[2,3,9]
                %1 = neg(%z) : f32[2,4,9]
                %2 = slice(%0) {starts = [0, 0, 3], sizes = [2, 3, 3], steps = [1, 1, 1]} : f32[2,3,3]
                %3 = slice(%1) {starts = [0, 0, 3], sizes = [2, 4, 3], steps = [1, 1, 1]} : f32[2,4,3]
                %4 = concat(%2, %3) {axis = 1} : f32[2,7,3]
                """),
        assertThat(new MoveSliceBeforeConcat())
            .as("keys and values in one cache")
            .on(
                """
                (%x: f32[2,3,9], %z: f32[2,4,9])
                %0 = neg(%z) : f32[2,4,9]
                %1 = concat(%x, %0) {axis = 1} : f32[2,7,9]
                %2 = slice(%1) {starts = [0,0,3], sizes = [2,7,3], steps = [1,1,1]} : f32[2,7,3]
                """)
            .doesNotFire(),
        assertThat(new MoveSliceBeforeConcat())
            .as("a part of the joined dimension")
            .on(
                """
                (%x: f32[2,3,9], %z: f32[2,4,9])
                %0 = neg(%x) : f32[2,3,9]
                %1 = neg(%z) : f32[2,4,9]
                %2 = concat(%0, %1) {axis = 1} : f32[2,7,9]
                %3 = slice(%2) {starts = [0,1,3], sizes = [2,6,3], steps = [1,1,1]} : f32[2,6,3]
                """)
            .doesNotFire(),
        assertThat(new MoveTransposeAfterScatter())
            .as("the exporter's index_copy along the third axis")
            .indices(7)
            .on(
                """
                (%x: f32[1,2,7,5], %i: i64[3,1], %u: f32[3,1,2,5])
                %0 = reshape(%x) {to = [2,1,7,5]} : f32[2,1,7,5]
                %1 = transpose(%0) {permutation = [2,1,0,3]} : f32[7,1,2,5]
                %2 = scatter_nd(%1, %i, %u) {reduction = replace} : f32[7,1,2,5]
                """)
            .gives(
                """
                %0 = transpose(%u) {permutation = [2, 1, 0, 3]} : f32[2,1,3,5]
                %1 = reshape(%0) {to = [1, 2, 3, 5]} : f32[1,2,3,5]
                %2 = reshape(%i) {to = [1, 1, 3, 1]} : i64[1,1,3,1]
                %3 = broadcast(%2) {to = [1, 2, 3, 5]} : i64[1,2,3,5]
                %4 = scatter_elements(%x, %3, %1) {axis = 2, reduction = replace} : f32[1,2,7,5]
                %5 = reshape(%4) {to = [2, 1, 7, 5]} : f32[2,1,7,5]
                %6 = transpose(%5) {permutation = [2, 1, 0, 3]} : f32[7,1,2,5]
                """),
        assertThat(new MoveTransposeAfterScatter())
            .as("the first axis isn't a whole axis of the data")
            .on(
                """
                (%x: f32[5,6], %i: i64[2,1], %u: f32[2,10])
                %0 = reshape(%x) {to = [5,3,2]} : f32[5,3,2]
                %1 = transpose(%0) {permutation = [1,0,2]} : f32[3,5,2]
                %2 = reshape(%1) {to = [3,10]} : f32[3,10]
                %3 = scatter_nd(%2, %i, %u) {reduction = replace} : f32[3,10]
                """)
            .doesNotFire(),
        assertThat(new MoveTransposeAfterScatter())
            .as("tuples of two indices")
            .on(
                """
                (%x: f32[2,7,5], %i: i64[3,2], %u: f32[3,5])
                %0 = transpose(%x) {permutation = [1,0,2]} : f32[7,2,5]
                %1 = scatter_nd(%0, %i, %u) {reduction = replace} : f32[7,2,5]
                """)
            .doesNotFire(),
        assertThat(new UpdateInsteadOfScatter())
            .as("one place")
            .indices(7)
            .on(
                """
                (%x: f32[2,3,7,4], %i: i64[1], %u: f32[2,3,1,4])
                %0 = reshape(%i) {to = [1,1,1,1]} : i64[1,1,1,1]
                %1 = broadcast(%0) {to = [2,3,1,4]} : i64[2,3,1,4]
                %2 = scatter_elements(%x, %1, %u) {axis = 2, reduction = replace} : f32[2,3,7,4]
                """)
            .gives(
                """
                %0 = constant 0 : i64[]
                %1 = less(%i, %0) : bool[1]
                %2 = constant 7 : i64[]
                %3 = add(%i, %2) : i64[1]
                %4 = select(%1, %3, %i) : i64[1]
                %5 = broadcast(%4) {to = [2]} : i64[2]
                %6 = cache_update(%x, %u, %5) {axis = 2} : f32[2,3,7,4]
                """),
        assertThat(new UpdateInsteadOfScatter())
            .as("a place for each element of the batch, in another type")
            .withoutNumbers()
            .on(
                """
                (%x: f32[2,3,7,4], %i: i32[2,1,1,1], %u: f32[2,3,1,4])
                %0 = broadcast(%i) {to = [2,3,1,4]} : i32[2,3,1,4]
                %1 = scatter_elements(%x, %0, %u) {axis = 2, reduction = replace} : f32[2,3,7,4]
                """)
            .gives(
                """
                %0 = cast(%i) {to = i64} : i64[2,1,1,1]
                %1 = reshape(%0) {to = [2]} : i64[2]
                %2 = constant 0 : i64[]
                %3 = less(%1, %2) : bool[2]
                %4 = constant 7 : i64[]
                %5 = add(%1, %4) : i64[2]
                %6 = select(%3, %5, %1) : i64[2]
                %7 = cache_update(%x, %u, %6) {axis = 2} : f32[2,3,7,4]
                """),
        assertThat(new UpdateInsteadOfScatter())
            .as("a place for each head")
            .on(
                """
                (%x: f32[2,3,7,4], %i: i64[1,3,1,1], %u: f32[2,3,1,4])
                %0 = broadcast(%i) {to = [2,3,1,4]} : i64[2,3,1,4]
                %1 = scatter_elements(%x, %0, %u) {axis = 2, reduction = replace} : f32[2,3,7,4]
                """)
            .doesNotFire(),
        assertThat(new UpdateInsteadOfScatter())
            .as("several places")
            .on(
                """
                (%x: f32[2,3,7,4], %i: i64[1,1,2,1], %u: f32[2,3,2,4])
                %0 = broadcast(%i) {to = [2,3,2,4]} : i64[2,3,2,4]
                %1 = scatter_elements(%x, %0, %u) {axis = 2, reduction = replace} : f32[2,3,7,4]
                """)
            .doesNotFire(),
        assertThat(new UpdateInsteadOfScatter())
            .as("updates of a part of the heads")
            .on(
                """
                (%x: f32[2,3,7,4], %i: i64[1,1,1,1], %u: f32[2,1,1,4])
                %0 = broadcast(%i) {to = [2,1,1,4]} : i64[2,1,1,4]
                %1 = scatter_elements(%x, %0, %u) {axis = 2, reduction = replace} : f32[2,3,7,4]
                """)
            .doesNotFire());
  }
}
