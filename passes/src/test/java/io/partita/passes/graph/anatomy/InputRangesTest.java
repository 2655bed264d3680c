package io.partita.passes.graph.anatomy;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Module;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests ranges of inputs that follow from their users. */
class InputRangesTest {
  private static final String HEADER =
      """
      pir 1
      module {
        graph @main(%t: f32[5,2], %i: i64[3], %n: i32[3], %c: f32[1,8,2], %p: i64[1])\
       -> ("y": f32[3,2]) {
          %one = constant 1 : i64[]
      """;

  private static List<InputRange> of(String body) {
    return InputRanges.record(PirParser.parse(HEADER + body + "return %y } }")).ranges();
  }

  @Test
  void indicesMayCountFromTheEnd() {
    assertThat(of("%y = gather(%t, %i) {axis = 0} : f32[3,2]"))
        .containsExactly(new InputRange("i", -5, 4));
    assertThat(of("%y = embedding(%t, %i) : f32[3,2]")).containsExactly(new InputRange("i", -5, 4));
  }

  @Test
  void operationsThatKeepAllElementsAreFollowed() {
    assertThat(
            of(
                """
                %0 = cast(%n) {to = i64} : i64[3]
                %1 = reshape(%0) {to = [3,1]} : i64[3,1]
                %2 = add(%1, %one) : i64[3,1]
                %3 = gather(%t, %2) {axis = 0} : f32[3,1,2]
                %y = reshape(%3) {to = [3,2]} : f32[3,2]
                """))
        .containsExactly(new InputRange("n", -6, 3));
  }

  @Test
  void partiallyReadInputsHaveNoRange() {
    assertThat(
            of(
                """
                %0 = slice(%i) {starts = [0], sizes = [2], steps = [1]} : i64[2]
                %1 = gather(%t, %0) {axis = 0} : f32[2,2]
                %y = slice(%t) {starts = [0,0], sizes = [3,2], steps = [1,1]} : f32[3,2]
                """))
        .isEmpty();
  }

  @Test
  void positionsLeaveRoomForAllTokens() {
    String update =
        """
        %%0 = slice(%%t) {starts = [0,0], sizes = [3,2], steps = [1,1]} : f32[3,2]
        %%1 = reshape(%%0) {to = [1,3,2]} : f32[1,3,2]
        %%2 = cache_update(%%c, %%1, %%p) {axis = 1%s} : f32[1,8,2]
        %%3 = slice(%%2) {starts = [0,0,0], sizes = [1,3,2], steps = [1,1,1]} : f32[1,3,2]
        %%y = reshape(%%3) {to = [3,2]} : f32[3,2]
        """;
    assertThat(of(update.formatted(""))).containsExactly(new InputRange("p", 0, 5));
    assertThat(of(update.formatted(", circular"))).isEmpty();
  }

  @Test
  void positionsMayCountFromTheEnd() {
    String update =
        """
        %%zero = constant 0 : i64[]
        %%capacity = constant %d : i64[]
        %%0 = less(%%p, %%zero) : bool[1]
        %%1 = add(%%p, %%capacity) : i64[1]
        %%2 = select(%%0, %%1, %%p) : i64[1]
        %%3 = slice(%%t) {starts = [0,0], sizes = [1,2], steps = [1,1]} : f32[1,2]
        %%4 = reshape(%%3) {to = [1,1,2]} : f32[1,1,2]
        %%5 = cache_update(%%c, %%4, %%2) {axis = 1} : f32[1,8,2]
        %%6 = slice(%%5) {starts = [0,0,0], sizes = [1,3,2], steps = [1,1,1]} : f32[1,3,2]
        %%y = reshape(%%6) {to = [3,2]} : f32[3,2]
        """;
    assertThat(of(update.formatted(8))).containsExactly(new InputRange("p", -8, 7));
    assertThat(of(update.formatted(9))).isEmpty();
  }

  @Test
  void indicesOfScatteredElementsAndSlicesLieInTheirData() {
    assertThat(
            of(
                """
                %0 = reshape(%i) {to = [3,1]} : i64[3,1]
                %1 = broadcast(%0) {to = [3,2]} : i64[3,2]
                %2 = slice(%t) {starts = [0,0], sizes = [3,2], steps = [1,1]} : f32[3,2]
                %3 = scatter_elements(%t, %1, %2) {axis = 0, reduction = replace} : f32[5,2]
                %y = slice(%3) {starts = [0,0], sizes = [3,2], steps = [1,1]} : f32[3,2]
                """))
        .containsExactly(new InputRange("i", -5, 4));
    assertThat(
            of(
                """
                %0 = reshape(%p) {to = [1,1]} : i64[1,1]
                %1 = slice(%t) {starts = [0,0], sizes = [1,2], steps = [1,1]} : f32[1,2]
                %2 = scatter_nd(%t, %0, %1) {reduction = replace} : f32[5,2]
                %3 = reshape(%i) {to = [3,1]} : i64[3,1]
                %y = gather_nd(%2, %3) {batch_dims = 0} : f32[3,2]
                """))
        .containsExactly(new InputRange("i", -5, 4), new InputRange("p", -5, 4));
  }

  @Test
  void usersNarrowRanges() {
    assertThat(
            of(
                """
                %0 = add(%i, %one) : i64[3]
                %1 = gather(%t, %0) {axis = 0} : f32[3,2]
                %2 = gather(%t, %i) {axis = 0} : f32[3,2]
                %y = add(%1, %2) : f32[3,2]
                """))
        .containsExactly(new InputRange("i", -5, 3));
  }

  @Test
  void rangesArePrinted() {
    Module module =
        InputRanges.record(
            PirParser.parse(HEADER + "%y = gather(%t, %i) {axis = 0} : f32[3,2] return %y } }"));
    assertThat(PirPrinter.print(module)).contains("  range \"i\" = [-5, 4]\n");
    assertThat(PirParser.parse(PirPrinter.print(module))).isEqualTo(module);
  }
}
