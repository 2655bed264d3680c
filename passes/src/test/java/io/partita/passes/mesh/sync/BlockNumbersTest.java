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
      pir 1
      module {
        mesh(x=2)
        graph @rounded(%x: f32[2,2]) -> ("y": f32[2,2]) {
          %0 = relu(%x) : f32[2,2] "first"
          %1 = matmul(%0, %0) {result = f32} : f32[2,2] "scores" @block0.attention
          %2 = round(%1) : f32[2,2] "rounding"
          %3 = softmax(%2) {axis = 1} : f32[2,2] "softmax" @block0.attention
          %4 = neg(%3) : f32[2,2] "down" @block0.down
          %5 = softmax(%4) {axis = 1} : f32[2,2] "other" @block1.attention
          %6 = neg(%5) : f32[2,2] "last"
          return %6
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
