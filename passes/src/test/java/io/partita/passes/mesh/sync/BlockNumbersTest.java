package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.text.PirParser;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class BlockNumbersTest {
  /** Two attentions whose values are rounded between the products. */
  private static final String ROUNDED =
      """
      module {
        mesh(x=2)
        graph @rounded(%x "x" : f32[2,2] [*,*]) -> (%6 "y") {
          %0 = relu(%x) "first" : f32[2,2]
          %1 = matmul(%0, %0) {element = f32} "scores" @block0.attention : f32[2,2]
          %2 = round(%1) "rounding" : f32[2,2]
          %3 = softmax(%2) {axis = 1} "softmax" @block0.attention : f32[2,2]
          %4 = neg(%3) "down" @block0.down : f32[2,2]
          %5 = softmax(%4) {axis = 1} "other" @block1.attention : f32[2,2]
          %6 = neg(%5) "last" : f32[2,2]
        }
      }
      """;

  @Test
  void nodesOfUnraisedAttentionsBeginBlocks() {
    var graph = PirParser.parse(ROUNDED, "rounded", MemorySegment.NULL).graph();
    BlockNumbers numbers = BlockNumbers.of(graph);
    assertThat(numbers.count()).isEqualTo(2);
    assertThat(graph.nodes().stream().map(numbers::of))
        .containsExactly(BlockNumbers.NONE, 0, 0, 0, 0, 1, 1);
  }

  @Test
  void syncsOfUnraisedAttentionsAreNotDropped() {
    var module = PirParser.parse(ROUNDED, "rounded", MemorySegment.NULL);
    assertThatThrownBy(() -> new DropSyncs(BlockSelection.parse("1").orElseThrow()).run(module))
        .hasMessageContaining("P4222")
        .hasMessageContaining("found:     an attention of a quantised or integer network")
        .hasMessageContaining("exclude the block");
  }
}
