package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Window;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.ElementType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Convolutions of bytes gather windows in the working memory, unless there is little of it. */
class ConvolutionLoopsTest extends EvaluatedLoops {
  private Value convolution(GraphBuilder graph) {
    Window window =
        new Window(
            List.of(3L, 3L), List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L));
    return graph.add(
        new Convolution(window, 1, false, ElementType.I32),
        weight(graph, ElementType.I8, 1, 32, 6, 5),
        weight(graph, ElementType.I8, 4, 32, 3, 3));
  }

  private List<String> scratch(long l1) {
    List<TiledKernel> loops = kernels(this::convolution, l1);
    assertThat(loops).hasSize(1);
    return loops.getFirst().scratch().stream().map(TileScratch::name).toList();
  }

  @Test
  void windowsAreGatheredWhereThereIsRoom() {
    assertThat(scratch(ROOM)).containsExactly("windows");
  }

  /** Windows of 288 bytes take 9,216 B. */
  @Test
  void littleMemoryHoldsAConvolutionWithoutWindows() {
    assertThat(scratch(8000)).isEmpty();
  }
}
