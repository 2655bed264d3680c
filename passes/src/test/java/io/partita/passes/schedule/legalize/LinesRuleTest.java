package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class LinesRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new SplitLines(new LongLines(64)))
            .as("a softmax")
            .within(1e-6)
            .on(
                """
                (%x: f32[3,17])
                %0 = softmax(%x) {axis = 1} : f32[3,17]
                """)
            .gives(
                """
                %0 = reduce_max(%x) {axes = [1], keep_dims} : f32[3,1]
                %1 = sub(%x, %0) : f32[3,17]
                %2 = exp(%1) : f32[3,17]
                %3 = reduce_sum(%2) {axes = [1], keep_dims} : f32[3,1]
                %4 = div(%2, %3) : f32[3,17]
                """),
        assertThat(new SplitLines(new LongLines(64)))
            .as("the logarithm of one")
            .within(1e-5)
            .on(
                """
                (%x: f32[17,3])
                %0 = log_softmax(%x) {axis = 0} : f32[17,3]
                """)
            .gives(
                """
                %0 = reduce_max(%x) {axes = [0], keep_dims} : f32[1,3]
                %1 = sub(%x, %0) : f32[17,3]
                %2 = exp(%1) : f32[17,3]
                %3 = reduce_sum(%2) {axes = [0], keep_dims} : f32[1,3]
                %4 = log(%3) : f32[1,3]
                %5 = sub(%1, %4) : f32[17,3]
                """),
        assertThat(new SplitLines(new LongLines(64)))
            .as("a norm")
            .within(1e-5)
            .on(
                """
                (%x: f32[3,17], %s: f32[17], %b: f32[17])
                %0 = layer_norm(%x, %s, %b) {axis = 1, epsilon = 1.0E-5, scale, bias} : f32[3,17]
                """)
            .gives(
                """
                %0 = reduce_mean(%x) {axes = [1], keep_dims} : f32[3,1]
                %1 = sub(%x, %0) : f32[3,17]
                %2 = mul(%1, %1) : f32[3,17]
                %3 = reduce_mean(%2) {axes = [1], keep_dims} : f32[3,1]
                %4 = constant 1.0E-5 : f32[]
                %5 = add(%3, %4) : f32[3,1]
                %6 = sqrt(%5) : f32[3,1]
                %7 = div(%1, %6) : f32[3,17]
                %8 = mul(%7, %s) : f32[3,17]
                %9 = add(%8, %b) : f32[3,17]
                """),
        assertThat(new SplitLines(new LongLines(64)))
            .as("a line that fits")
            .on(
                """
                (%x: f32[17,3])
                %0 = softmax(%x) {axis = 1} : f32[17,3]
                """)
            .doesNotFire(),
        assertThat(new SplitLines(new LongLines(64)))
            .as("no lines")
            .on(
                """
                (%x: f32[0,17])
                %0 = softmax(%x) {axis = 1} : f32[0,17]
                """)
            .doesNotFire(),
        assertThat(new SplitLines(new LongLines(64)))
            .as("a function of each element")
            .on(
                """
                (%x: f32[3,17])
                %0 = exp(%x) : f32[3,17]
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(64)))
            .within(1e-5)
            .on(
                """
                (%x: f32[3,17])
                %0 = reduce_sum(%x) {axes = [1]} : f32[3]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0, 0], sizes = [3, 8], steps = [1, 1]} : f32[3,8]
                %1 = slice(%x) {starts = [0, 8], sizes = [3, 8], steps = [1, 1]} : f32[3,8]
                %2 = slice(%x) {starts = [0, 16], sizes = [3, 1], steps = [1, 1]} : f32[3,1]
                %3 = reduce_sum(%0) {axes = [1], keep_dims} : f32[3,1]
                %4 = reduce_sum(%1) {axes = [1], keep_dims} : f32[3,1]
                %5 = reduce_sum(%2) {axes = [1], keep_dims} : f32[3,1]
                %6 = concat(%3, %4, %5) {axis = 1} : f32[3,3]
                %7 = reduce_sum(%6) {axes = [1], keep_dims} : f32[3,1]
                %8 = reshape(%7) {to = [3]} : f32[3]
                """),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("a mean of integers")
            .on(
                """
                (%x: i16[33])
                %0 = reduce_mean(%x) {axes = [0], keep_dims} : i16[1]
                """)
            .gives(
                """
                %0 = cast(%x) {to = i64} : i64[33]
                %1 = constant 33 : i64[]
                %2 = slice(%0) {starts = [0], sizes = [4], steps = [1]} : i64[4]
                %3 = slice(%0) {starts = [4], sizes = [4], steps = [1]} : i64[4]
                %4 = slice(%0) {starts = [8], sizes = [4], steps = [1]} : i64[4]
                %5 = slice(%0) {starts = [12], sizes = [4], steps = [1]} : i64[4]
                %6 = slice(%0) {starts = [16], sizes = [4], steps = [1]} : i64[4]
                %7 = slice(%0) {starts = [20], sizes = [4], steps = [1]} : i64[4]
                %8 = slice(%0) {starts = [24], sizes = [4], steps = [1]} : i64[4]
                %9 = slice(%0) {starts = [28], sizes = [4], steps = [1]} : i64[4]
                %10 = slice(%0) {starts = [32], sizes = [1], steps = [1]} : i64[1]
                %11 = reduce_sum(%2) {axes = [0], keep_dims} : i64[1]
                %12 = reduce_sum(%3) {axes = [0], keep_dims} : i64[1]
                %13 = reduce_sum(%4) {axes = [0], keep_dims} : i64[1]
                %14 = reduce_sum(%5) {axes = [0], keep_dims} : i64[1]
                %15 = reduce_sum(%6) {axes = [0], keep_dims} : i64[1]
                %16 = reduce_sum(%7) {axes = [0], keep_dims} : i64[1]
                %17 = reduce_sum(%8) {axes = [0], keep_dims} : i64[1]
                %18 = reduce_sum(%9) {axes = [0], keep_dims} : i64[1]
                %19 = reduce_sum(%10) {axes = [0], keep_dims} : i64[1]
                %20 = concat(%11, %12, %13, %14, %15, %16, %17, %18, %19) {axis = 0} : i64[9]
                %21 = slice(%20) {starts = [0], sizes = [4], steps = [1]} : i64[4]
                %22 = slice(%20) {starts = [4], sizes = [4], steps = [1]} : i64[4]
                %23 = slice(%20) {starts = [8], sizes = [1], steps = [1]} : i64[1]
                %24 = reduce_sum(%21) {axes = [0], keep_dims} : i64[1]
                %25 = reduce_sum(%22) {axes = [0], keep_dims} : i64[1]
                %26 = reduce_sum(%23) {axes = [0], keep_dims} : i64[1]
                %27 = concat(%24, %25, %26) {axis = 0} : i64[3]
                %28 = reduce_sum(%27) {axes = [0], keep_dims} : i64[1]
                %29 = div(%28, %1) : i64[1]
                %30 = cast(%29) {to = i16} : i16[1]
                """),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("the place of the smallest")
            .on(
                """
                (%x: i8[65])
                %0 = arg_min(%x) {axis = 0, select_last} : i64[]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0], sizes = [32], steps = [1]} : i8[32]
                %1 = slice(%x) {starts = [32], sizes = [32], steps = [1]} : i8[32]
                %2 = slice(%x) {starts = [64], sizes = [1], steps = [1]} : i8[1]
                %3 = reduce_min(%0) {axes = [0], keep_dims} : i8[1]
                %4 = arg_min(%0) {axis = 0, keep_dims, select_last} : i64[1]
                %5 = reduce_min(%1) {axes = [0], keep_dims} : i8[1]
                %6 = arg_min(%1) {axis = 0, keep_dims, select_last} : i64[1]
                %7 = constant 32 : i64[]
                %8 = add(%6, %7) : i64[1]
                %9 = reduce_min(%2) {axes = [0], keep_dims} : i8[1]
                %10 = arg_min(%2) {axis = 0, keep_dims, select_last} : i64[1]
                %11 = constant 64 : i64[]
                %12 = add(%10, %11) : i64[1]
                %13 = concat(%3, %5, %9) {axis = 0} : i8[3]
                %14 = arg_min(%13) {axis = 0, keep_dims, select_last} : i64[1]
                %15 = concat(%4, %8, %12) {axis = 0} : i64[3]
                %16 = gather_elements(%15, %14) {axis = 0} : i64[1]
                %17 = reshape(%16) {to = []} : i64[]
                """),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("the largest")
            .on(
                """
                (%x: i32[17])
                %0, %1 = top_k(%x) {k = [3], axis = 0, largest} : i32[3], i64[3]
                return %0, %1
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0], sizes = [8], steps = [1]} : i32[8]
                %1 = slice(%x) {starts = [8], sizes = [8], steps = [1]} : i32[8]
                %2 = slice(%x) {starts = [16], sizes = [1], steps = [1]} : i32[1]
                %3, %4 = top_k(%0) {k = [3], axis = 0, largest} : i32[3], i64[3]
                %5, %6 = top_k(%1) {k = [3], axis = 0, largest} : i32[3], i64[3]
                %7 = constant 8 : i64[]
                %8 = add(%6, %7) : i64[3]
                %9, %10 = top_k(%2) {k = [1], axis = 0, largest} : i32[1], i64[1]
                %11 = constant 16 : i64[]
                %12 = add(%10, %11) : i64[1]
                %13 = concat(%3, %5, %9) {axis = 0} : i32[7]
                %14, %15 = top_k(%13) {k = [3], axis = 0, largest} : i32[3], i64[3]
                %16 = concat(%4, %8, %12) {axis = 0} : i64[7]
                %17 = gather_elements(%16, %15) {axis = 0} : i64[3]
                return %14, %17
                """),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("a cumulative sum from behind")
            .on(
                """
                (%x: i32[9])
                %0 = cumulative_sum(%x) {axis = 0, exclusive, reverse} : i32[9]
                """)
            .gives(
                """
                %0 = slice(%x) {starts = [0], sizes = [4], steps = [1]} : i32[4]
                %1 = slice(%x) {starts = [4], sizes = [4], steps = [1]} : i32[4]
                %2 = slice(%x) {starts = [8], sizes = [1], steps = [1]} : i32[1]
                %3 = cumulative_sum(%2) {axis = 0, exclusive, reverse} : i32[1]
                %4 = reduce_sum(%2) {axes = [0], keep_dims} : i32[1]
                %5 = cumulative_sum(%1) {axis = 0, exclusive, reverse} : i32[4]
                %6 = add(%5, %4) : i32[4]
                %7 = reduce_sum(%1) {axes = [0], keep_dims} : i32[1]
                %8 = add(%4, %7) : i32[1]
                %9 = cumulative_sum(%0) {axis = 0, exclusive, reverse} : i32[4]
                %10 = add(%9, %8) : i32[4]
                %11 = concat(%10, %6, %3) {axis = 0} : i32[9]
                """),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("a line that fits")
            .on(
                """
                (%x: f32[17,3])
                %0 = reduce_sum(%x) {axes = [1]} : f32[17]
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("over no axis")
            .on(
                """
                (%x: f32[17,3])
                %0 = reduce_sum(%x) {axes = []} : f32[17,3]
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("more of the largest than parts have")
            .on(
                """
                (%x: i32[17])
                %0, %1 = top_k(%x) {k = [9], axis = 0, largest} : i32[9], i64[9]
                return %0, %1
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(64)))
            .as("no lines")
            .on(
                """
                (%x: f32[0,17])
                %0 = reduce_sum(%x) {axes = [1]} : f32[0]
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(16)))
            .as("parts of one element would be as many")
            .on(
                """
                (%x: i32[3,7])
                %0 = reduce_sum(%x) {axes = [0]} : i32[7]
                """)
            .doesNotFire(),
        assertThat(new SplitReduction(new LongLines(16)))
            .as("places among parts of one element")
            .on(
                """
                (%x: i32[3,7])
                %0 = arg_max(%x) {axis = 0} : i64[7]
                """)
            .doesNotFire(),
        assertThat(new SplitTable(new LongLines(64)))
            .indices(17)
            .on(
                """
                (%x: f32[2,17], %i: i64[3])
                %0 = gather(%x, %i) {axis = 1} : f32[2,3]
                """)
            .gives(
                """
                %0 = constant 0 : i64[]
                %1 = less(%i, %0) : bool[3]
                %2 = constant 17 : i64[]
                %3 = add(%i, %2) : i64[3]
                %4 = select(%1, %3, %i) : i64[3]
                %5 = constant 0 : i64[]
                %6 = sub(%4, %5) : i64[3]
                %7 = constant 0 : i64[]
                %8 = max(%6, %7) : i64[3]
                %9 = constant 7 : i64[]
                %10 = min(%8, %9) : i64[3]
                %11 = slice(%x) {starts = [0, 0], sizes = [2, 8], steps = [1, 1]} : f32[2,8]
                %12 = gather(%11, %10) {axis = 1} : f32[2,3]
                %13 = constant 8 : i64[]
                %14 = sub(%4, %13) : i64[3]
                %15 = constant 0 : i64[]
                %16 = max(%14, %15) : i64[3]
                %17 = constant 7 : i64[]
                %18 = min(%16, %17) : i64[3]
                %19 = slice(%x) {starts = [0, 8], sizes = [2, 8], steps = [1, 1]} : f32[2,8]
                %20 = gather(%19, %18) {axis = 1} : f32[2,3]
                %21 = constant 8 : i64[]
                %22 = greater_or_equal(%4, %21) : bool[3]
                %23 = select(%22, %20, %12) : f32[2,3]
                %24 = constant 16 : i64[]
                %25 = sub(%4, %24) : i64[3]
                %26 = constant 0 : i64[]
                %27 = max(%25, %26) : i64[3]
                %28 = constant 0 : i64[]
                %29 = min(%27, %28) : i64[3]
                %30 = slice(%x) {starts = [0, 16], sizes = [2, 1], steps = [1, 1]} : f32[2,1]
                %31 = gather(%30, %29) {axis = 1} : f32[2,3]
                %32 = constant 16 : i64[]
                %33 = greater_or_equal(%4, %32) : bool[3]
                %34 = select(%33, %31, %23) : f32[2,3]
                """),
        assertThat(new SplitTable(new LongLines(64)))
            .as("an index for each element")
            .indices(17)
            .on(
                """
                (%x: f32[17], %i: i64[3])
                %0 = gather_elements(%x, %i) {axis = 0} : f32[3]
                """)
            .gives(
                """
                %0 = constant 0 : i64[]
                %1 = less(%i, %0) : bool[3]
                %2 = constant 17 : i64[]
                %3 = add(%i, %2) : i64[3]
                %4 = select(%1, %3, %i) : i64[3]
                %5 = constant 0 : i64[]
                %6 = sub(%4, %5) : i64[3]
                %7 = constant 0 : i64[]
                %8 = max(%6, %7) : i64[3]
                %9 = constant 7 : i64[]
                %10 = min(%8, %9) : i64[3]
                %11 = slice(%x) {starts = [0], sizes = [8], steps = [1]} : f32[8]
                %12 = gather_elements(%11, %10) {axis = 0} : f32[3]
                %13 = constant 8 : i64[]
                %14 = sub(%4, %13) : i64[3]
                %15 = constant 0 : i64[]
                %16 = max(%14, %15) : i64[3]
                %17 = constant 7 : i64[]
                %18 = min(%16, %17) : i64[3]
                %19 = slice(%x) {starts = [8], sizes = [8], steps = [1]} : f32[8]
                %20 = gather_elements(%19, %18) {axis = 0} : f32[3]
                %21 = constant 8 : i64[]
                %22 = greater_or_equal(%4, %21) : bool[3]
                %23 = select(%22, %20, %12) : f32[3]
                %24 = constant 16 : i64[]
                %25 = sub(%4, %24) : i64[3]
                %26 = constant 0 : i64[]
                %27 = max(%25, %26) : i64[3]
                %28 = constant 0 : i64[]
                %29 = min(%27, %28) : i64[3]
                %30 = slice(%x) {starts = [16], sizes = [1], steps = [1]} : f32[1]
                %31 = gather_elements(%30, %29) {axis = 0} : f32[3]
                %32 = constant 16 : i64[]
                %33 = greater_or_equal(%4, %32) : bool[3]
                %34 = select(%33, %31, %23) : f32[3]
                """),
        assertThat(new SplitTable(new LongLines(64)))
            .as("a single index")
            .on(
                """
                (%x: f32[2,17], %i: i64[1])
                %0 = gather(%x, %i) {axis = 1} : f32[2,1]
                """)
            .doesNotFire(),
        assertThat(new SplitTable(new LongLines(64)))
            .as("rows of a constant")
            .on(
                """
                (%i: i64[3])
                %0 = constant [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0] : f32[17]
                %1 = gather(%0, %i) {axis = 0} : f32[3]
                """)
            .doesNotFire(),
        assertThat(new SplitTable(new LongLines(64)))
            .as("a line that fits")
            .on(
                """
                (%x: f32[2,3], %i: i64[3])
                %0 = gather(%x, %i) {axis = 1} : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new SplitTable(new LongLines(64)))
            .as("nothing is read")
            .on(
                """
                (%x: f32[2,17], %i: i64[0,2])
                %0 = gather(%x, %i) {axis = 1} : f32[2,0,2]
                """)
            .doesNotFire());
  }
}
