package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class RowsRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new RepeatBorders())
            .as("reflected")
            .on(
                """
                (%x: f32[2,5])
                %0 = pad(%x) {mode = reflect, low = [0,2], high = [0,-1]} : f32[2,6]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 0], sizes = [2, 4], steps = [1, 1]} : f32[2,4]
                %1 = slice(%0) {starts = [0, 2], sizes = [2, 3], steps = [1, -1]} : f32[2,3]
                %2 = slice(%0) {starts = [0, 1], sizes = [2, 3], steps = [1, 1]} : f32[2,3]
                %3 = concat(%1, %2) {axis = 1} : f32[2,6]
                """),
        assertThat(new RepeatBorders())
            .as("the last element")
            .on(
                """
                (%x: i8[2,3])
                %0 = pad(%x) {mode = edge, low = [1,0], high = [0,3]} : i8[3,6]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 0], sizes = [1, 3], steps = [1, 1]} : i8[1,3]
                %1 = broadcast(%0) {to = [2, 3]} : i8[2,3]
                %2 = slice(%x) {starts = [1, 0], sizes = [1, 3], steps = [1, 1]} : i8[1,3]
                %3 = concat(%1, %2) {axis = 0} : i8[3,3]
                %4 = slice(%3) {starts = [0, 2], sizes = [3, 1], steps = [1, 1]} : i8[3,1]
                %5 = broadcast(%4) {to = [3, 3]} : i8[3,3]
                %6 = concat(%3, %5) {axis = 1} : i8[3,6]
                """),
        assertThat(new RepeatBorders())
            .as("from the other end, further than it's long")
            .on(
                """
                (%x: f32[2,3])
                %0 = pad(%x) {mode = wrap, low = [0,4], high = [0,1]} : f32[2,8]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 2], sizes = [2, 1], steps = [1, 1]} : f32[2,1]
                %1 = slice(%x) {starts = [0, 0], sizes = [2, 1], steps = [1, 1]} : f32[2,1]
                %2 = concat(%0, %x, %x, %1) {axis = 1} : f32[2,8]
                """),
        assertThat(new RepeatBorders())
            .as("a constant")
            .on(
                """
                (%x: f32[2,3], %fill: f32[])
                %0 = pad(%x, %fill) {mode = constant, low = [0,4], high = [0,1]} : f32[2,8]
                """)
            .doesNotFire(),
        assertThat(new RepeatBorders())
            .as("no border to repeat")
            .on(
                """
                (%x: f32[0,3])
                %0 = pad(%x) {mode = edge, low = [0,4], high = [0,1]} : f32[0,8]
                """)
            .doesNotFire(),
        assertThat(new FoldEmpty())
            .on(
                """
                (%x: f32[2,0])
                %0 = reduce_sum(%x) {axes = [1]} : f32[2]
                """)
            .gives(
                """
                %0 = constant [0.0, 0.0] : f32[2]
                """),
        assertThat(new FoldEmpty())
            .as("something is there")
            .on(
                """
                (%x: f32[2,1])
                %0 = reduce_sum(%x) {axes = [1]} : f32[2]
                """)
            .doesNotFire(),
        assertThat(new FoldEmpty())
            .as("another operand isn't known")
            .on(
                """
                (%x: f32[2,0], %z: f32[2,3])
                %0 = concat(%x, %z) {axis = 1} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new FoldEmpty())
            .as("an empty result")
            .on(
                """
                (%x: f32[2,0])
                %0 = exp(%x) : f32[2,0]
                """)
            .doesNotFire(),
        assertThat(new SimplifyEmpty())
            .on(
                """
                (%x: f32[2,0], %w: f32[0,3], %b: f32[3])
                %0 = linear(%x, %w, %b) {bias} : f32[2,3]
                """)
            .gives(
                """
                %0 = broadcast(%b) {to = [2, 3]} : f32[2,3]
                """),
        assertThat(new SimplifyEmpty())
            .as("attention to no keys")
            .on(
                """
                (%q: f32[2,3,1,4], %k: f32[2,3,0,4], %v: f32[2,3,0,4])
                %0 = attention(%q, %k, %v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[2,3,1,4]
                """)
            .gives(
                """
                %0 = constant 0.0 : f32[]
                %1 = broadcast(%0) {to = [2, 3, 1, 4]} : f32[2,3,1,4]
                """),
        assertThat(new SimplifyEmpty())
            .as("nothing to write")
            .on(
                """
                (%x: f32[2,3], %i: i64[0,1], %u: f32[0,3])
                %0 = scatter_nd(%x, %i, %u) {reduction = add} : f32[2,3]
                """)
            .gives(
                """
                return %x
                """),
        assertThat(new SimplifyEmpty())
            .as("padding of nothing")
            .on(
                """
                (%x: f32[0,3], %fill: f32[])
                %0 = pad(%x, %fill) {mode = constant, low = [2,0], high = [0,0]} : f32[2,3]
                """)
            .gives(
                """
                %0 = broadcast(%fill) {to = [2, 3]} : f32[2,3]
                """),
        assertThat(new SimplifyEmpty())
            .as("something to sum")
            .on(
                """
                (%x: f32[2,1], %w: f32[1,3], %b: f32[3])
                %0 = linear(%x, %w, %b) {bias} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new SimplifyEmpty())
            .as("an empty result")
            .on(
                """
                (%x: f32[0,2], %w: f32[2,3])
                %0 = linear(%x, %w) : f32[0,3]
                """)
            .doesNotFire(),
        assertThat(new SimplifyEmpty())
            .as("a part of nothing")
            .on(
                """
                (%x: f32[2,0], %z: f32[2,3])
                %0 = concat(%x, %z) {axis = 1} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new GatherRows())
            .indices(2)
            .on(
                """
                (%x: f32[2,3,2,5], %i: i64[2,4,2])
                %0 = gather_nd(%x, %i) {batch_dims = 1} : f32[2,4,5]
                """)
            .gives(
                """
                %0 = slice(%i) {starts = [0, 0, 0], sizes = [2, 4, 1], steps = [1, 1, 1]} : i64[2,4,1]
                %1 = reshape(%0) {to = [2, 4]} : i64[2,4]
                %2 = constant 0 : i64[]
                %3 = less(%1, %2) : bool[2,4]
                %4 = constant 3 : i64[]
                %5 = add(%1, %4) : i64[2,4]
                %6 = select(%3, %5, %1) : i64[2,4]
                %7 = constant 2 : i64[]
                %8 = mul(%6, %7) : i64[2,4]
                %9 = slice(%i) {starts = [0, 0, 1], sizes = [2, 4, 1], steps = [1, 1, 1]} : i64[2,4,1]
                %10 = reshape(%9) {to = [2, 4]} : i64[2,4]
                %11 = constant 0 : i64[]
                %12 = less(%10, %11) : bool[2,4]
                %13 = constant 2 : i64[]
                %14 = add(%10, %13) : i64[2,4]
                %15 = select(%12, %14, %10) : i64[2,4]
                %16 = constant 1 : i64[]
                %17 = mul(%15, %16) : i64[2,4]
                %18 = add(%8, %17) : i64[2,4]
                %19 = constant [0, 6] : i64[2,1]
                %20 = add(%18, %19) : i64[2,4]
                %21 = reshape(%x) {to = [12, 5]} : f32[12,5]
                %22 = gather(%21, %20) {axis = 0} : f32[2,4,5]
                """),
        assertThat(new GatherRows())
            .as("tuples without indices")
            .on(
                """
                (%x: f32[2,3], %i: i64[4,0])
                %0 = gather_nd(%x, %i) {batch_dims = 0} : f32[4,2,3]
                """)
            .doesNotFire(),
        assertThat(new GatherRows())
            .as("a gather of rows")
            .on(
                """
                (%x: f32[2,3], %i: i64[4])
                %0 = gather(%x, %i) {axis = 0} : f32[4,3]
                """)
            .doesNotFire(),
        assertThat(new ScatterRows())
            .indices(2)
            .within(1e-5)
            .on(
                """
                (%x: f32[2,3,5], %i: i64[4,2], %u: f32[4,5])
                %0 = scatter_nd(%x, %i, %u) {reduction = add} : f32[2,3,5]
                """)
            .gives(
                """
                %0 = slice(%i) {starts = [0, 0], sizes = [4, 1], steps = [1, 1]} : i64[4,1]
                %1 = reshape(%0) {to = [4]} : i64[4]
                %2 = constant 0 : i64[]
                %3 = less(%1, %2) : bool[4]
                %4 = constant 2 : i64[]
                %5 = add(%1, %4) : i64[4]
                %6 = select(%3, %5, %1) : i64[4]
                %7 = constant 3 : i64[]
                %8 = mul(%6, %7) : i64[4]
                %9 = slice(%i) {starts = [0, 1], sizes = [4, 1], steps = [1, 1]} : i64[4,1]
                %10 = reshape(%9) {to = [4]} : i64[4]
                %11 = constant 0 : i64[]
                %12 = less(%10, %11) : bool[4]
                %13 = constant 3 : i64[]
                %14 = add(%10, %13) : i64[4]
                %15 = select(%12, %14, %10) : i64[4]
                %16 = constant 1 : i64[]
                %17 = mul(%15, %16) : i64[4]
                %18 = add(%8, %17) : i64[4]
                %19 = reshape(%x) {to = [6, 5]} : f32[6,5]
                %20 = reshape(%18) {to = [4, 1]} : i64[4,1]
                %21 = scatter_nd(%19, %20, %u) {reduction = add} : f32[6,5]
                %22 = reshape(%21) {to = [2, 3, 5]} : f32[2,3,5]
                """),
        assertThat(new ScatterRows())
            .as("nothing to write")
            .on(
                """
                (%x: f32[2,3], %i: i64[0,1], %u: f32[0,3])
                %0 = scatter_nd(%x, %i, %u) {reduction = add} : f32[2,3]
                """)
            .gives(
                """
                return %x
                """),
        assertThat(new ScatterRows())
            .as("rows of a matrix")
            .on(
                """
                (%x: f32[2,3], %i: i64[4,1], %u: f32[4,3])
                %0 = scatter_nd(%x, %i, %u) {reduction = add} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new AlignElements())
            .indices(3)
            .on(
                """
                (%x: f32[5,3], %i: i64[2,4])
                %0 = gather_elements(%x, %i) {axis = 1} : f32[2,4]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 0], sizes = [2, 3], steps = [1, 1]} : f32[2,3]
                %1 = gather_elements(%0, %i) {axis = 1} : f32[2,4]
                """),
        assertThat(new AlignElements())
            .as("writing")
            .on(
                """
                (%x: f32[5,3], %u: f32[2,1])
                %0 = constant [1, 2] : i32[2,1]
                %1 = scatter_elements(%x, %0, %u) {axis = 1, reduction = replace} : f32[5,3]
                """)
            .gives(
                """
                %0 = constant [1, 2] : i32[2,1]
                %1 = slice(%x) {starts = [0, 0], sizes = [2, 3], steps = [1, 1]} : f32[2,3]
                %2 = slice(%x) {starts = [2, 0], sizes = [3, 3], steps = [1, 1]} : f32[3,3]
                %3 = cast(%0) {to = i64} : i64[2,1]
                %4 = scatter_elements(%1, %3, %u) {axis = 1, reduction = replace} : f32[2,3]
                %5 = concat(%4, %2) {axis = 0} : f32[5,3]
                """),
        assertThat(new AlignElements())
            .as("indices of i64 with all other extents")
            .on(
                """
                (%x: f32[5,3], %i: i64[5,4])
                %0 = gather_elements(%x, %i) {axis = 1} : f32[5,4]
                """)
            .doesNotFire(),
        assertThat(new AlignElements())
            .as("nothing to read")
            .on(
                """
                (%x: f32[5,3], %i: i64[0,4])
                %0 = gather_elements(%x, %i) {axis = 1} : f32[0,4]
                """)
            .doesNotFire(),
        assertThat(new AlignElements())
            .as("a gather of rows")
            .on(
                """
                (%x: f32[5,3], %i: i32[4])
                %0 = gather(%x, %i) {axis = 1} : f32[5,4]
                """)
            .doesNotFire());
  }
}
