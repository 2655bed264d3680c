package io.partita.passes.graph.simplify;

import static io.partita.passes.rewrite.RuleAssert.assertThat;

import io.partita.passes.rewrite.RuleCase;
import io.partita.passes.rewrite.RuleTest;
import java.util.List;

public final class SimplifyRuleTest implements RuleTest {
  @Override
  public List<RuleCase> cases() {
    return List.of(
        assertThat(new FoldConstants(false))
            .on(
                """
                (%x: f32[3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = mul(%0, %0) : f32[3]
                %2 = add(%x, %1) : f32[3]
                """)
            .gives(
                """
                %0 = constant [1.0, 4.0, 9.0] : f32[3]
                %1 = add(%x, %0) : f32[3]
                """),
        assertThat(new FoldConstants(false))
            .as("one operand isn't constant")
            .on(
                """
                (%x: f32[3])
                %0 = constant [1.0, 2.0, 3.0] : f32[3]
                %1 = add(%0, %x) : f32[3]
                """)
            .doesNotFire(),
        assertThat(new FoldConstants(false))
            .as("the result would be large")
            .on(
                """
                (%x: f32[257,257])
                %0 = constant [1.0] : f32[1]
                %1 = broadcast(%0) {to = [257,257]} : f32[257,257]
                %2 = add(%x, %1) : f32[257,257]
                """)
            .doesNotFire(),
        assertThat(new FoldConstants(false))
            .as("a symbol stands in an attribute only")
            .on(
                """
                (%x: i64[seq])
                %0 = extent() {size = [seq]} : i64[]
                %1 = add(%x, %0) : i64[seq]
                """)
            .doesNotFire(),
        assertThat(new FoldConstants(false))
            .as("a quantized matrix, whose integers a product may read")
            .on(
                """
                ()
                %0 = constant [1, 2] : i8[1,2]
                %1 = constant 0.5 : f32[]
                %2 = constant 0 : i8[]
                %3 = dequantize(%0, %1, %2) {axis = 0, block = 0, to = f32} : f32[1,2]
                """)
            .doesNotFire(),
        assertThat(new FoldConstants(true))
            .as("a quantized matrix that no product reads as integers")
            .on(
                """
                ()
                %0 = constant [1, 2] : i8[1,2]
                %1 = constant 0.5 : f32[]
                %2 = constant 0 : i8[]
                %3 = dequantize(%0, %1, %2) {axis = 0, block = 0, to = f32} : f32[1,2]
                """)
            .gives(
                """
                %0 = constant [0.5, 1.0] : f32[1,2]
                """),
        assertThat(new FoldConstants(false))
            .as("a reshard of a constant")
            .on(
                """
                pir 1
                module {
                  mesh(x=2)
                  graph @main(%x: f32[4{x}]) -> ("y": f32[4{x}]) {
                    %0 = constant [1.0, 2.0, 3.0, 4.0] : f32[4]
                    %1 = reshard(%0) {to = "[*{x}]"} : f32[4{x}]
                    %2 = add(%x, %1) : f32[4{x}]
                    return %2
                  }
                }
                """)
            .doesNotFire(),
        assertThat(new RemoveNoEffect())
            .on(
                """
                (%x: f32[2,3])
                %0 = constant 1.0 : f32[]
                %1 = mul(%x, %0) : f32[2,3]
                %2 = constant [0.0, 0.0, 0.0] : f32[3]
                %3 = sub(%1, %2) : f32[2,3]
                %4 = reshape(%3) {to = [2,3]} : f32[2,3]
                %5 = transpose(%4) {permutation = [0,1]} : f32[2,3]
                %6 = slice(%5) {starts = [0,0], sizes = [2,3], steps = [1,1]} : f32[2,3]
                %7 = concat(%6) {axis = 1} : f32[2,3]
                %8 = cast(%7) {to = f32} : f32[2,3]
                %9 = exp(%8) : f32[2,3]
                """)
            .gives(
                """
                %0 = exp(%x) : f32[2,3]
                """),
        assertThat(new RemoveNoEffect())
            .as("one is subtracted, two is multiplied")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant 1.0 : f32[]
                %1 = sub(%x, %0) : f32[2,3]
                %2 = constant 2.0 : f32[]
                %3 = mul(%1, %2) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new RemoveNoEffect())
            .as("a factor of 1 that broadcasts")
            .on(
                """
                (%x: f32[3])
                %0 = constant [1.0, 1.0, 1.0] : f32[1,3]
                %1 = mul(%x, %0) : f32[1,3]
                """)
            .doesNotFire(),
        assertThat(new RemoveNoEffect())
            .as("a slice backwards, a transpose of equal extents, 1/x, 0-x")
            .on(
                """
                (%x: f32[3,3])
                %0 = slice(%x) {starts = [2,0], sizes = [3,3], steps = [-1,1]} : f32[3,3]
                %1 = transpose(%0) {permutation = [1,0]} : f32[3,3]
                %2 = constant 1.0 : f32[]
                %3 = div(%2, %1) : f32[3,3]
                %4 = constant 0.0 : f32[]
                %5 = sub(%4, %3) : f32[3,3]
                """)
            .doesNotFire(),
        assertThat(new AddZero())
            .on(
                """
                (%x: i32[2,3])
                %0 = constant [0, 0, 0] : i32[3]
                %1 = add(%0, %x) : i32[2,3]
                %2 = add(%1, %0) : i32[2,3]
                %3 = neg(%2) : i32[2,3]
                """)
            .gives(
                """
                %0 = neg(%x) : i32[2,3]
                """),
        assertThat(new AddZero())
            .as("-0 + 0 is 0")
            .on(
                """
                (%x: f32[2,3])
                %0 = constant 0.0 : f32[]
                %1 = add(%x, %0) : f32[2,3]
                """)
            .doesNotFire(),
        assertThat(new AddZero())
            .as("not only zeros, and zeros that broadcast")
            .on(
                """
                (%x: i32[3])
                %0 = constant [0, 0, 1] : i32[3]
                %1 = add(%x, %0) : i32[3]
                %2 = constant [0, 0, 0, 0, 0, 0] : i32[2,3]
                %3 = add(%1, %2) : i32[2,3]
                """)
            .doesNotFire(),
        assertThat(new MergeReshapes())
            .on(
                """
                (%x: f32[2,3,5])
                %0 = reshape(%x) {to = [6,5]} : f32[6,5]
                %1 = reshape(%0) {to = [5,6]} : f32[5,6]
                """)
            .gives(
                """
                %0 = reshape(%x) {to = [5, 6]} : f32[5,6]
                """),
        assertThat(new MergeReshapes())
            .as("a transpose between them")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = reshape(%x) {to = [6,5]} : f32[6,5]
                %1 = transpose(%0) {permutation = [1,0]} : f32[5,6]
                %2 = reshape(%1) {to = [30]} : f32[30]
                """)
            .doesNotFire(),
        assertThat(new MergeTransposes())
            .on(
                """
                (%x: f32[2,3,5])
                %0 = transpose(%x) {permutation = [1,2,0]} : f32[3,5,2]
                %1 = transpose(%0) {permutation = [0,2,1]} : f32[3,2,5]
                """)
            .gives(
                """
                %0 = transpose(%x) {permutation = [1, 0, 2]} : f32[3,2,5]
                """),
        assertThat(new MergeTransposes())
            .as("a function between them")
            .on(
                """
                (%x: f32[2,3,5])
                %0 = transpose(%x) {permutation = [1,2,0]} : f32[3,5,2]
                %1 = exp(%0) : f32[3,5,2]
                %2 = transpose(%1) {permutation = [0,2,1]} : f32[3,2,5]
                """)
            .doesNotFire());
  }
}
