package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.text.PirParser;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import org.junit.jupiter.api.Test;

/** Blocks that a schedule has for products, whichever function of its step is the last one here. */
class ScheduledBlocksTest {
  private static final Schedule SCHEDULE =
      Scheduler.schedule(
          Localization.of(
              PirParser.parse(
                  """
                  pir 1
                  module {
                    graph @product(%x: f32[70,96], %w: f32[96,130], %v: f32[130,40]) -> ("y": f32[70,40], "z": f32[70,96]) {
                      %0 = linear(%x, %w) : f32[70,130] "first"
                      %1 = relu(%0) : f32[70,130] "relu"
                      %2 = abs(%1) : f32[70,130] "abs"
                      %3 = linear(%2, %v) : f32[70,40] "second"
                      %4 = exp(%3) : f32[70,40] "exp"
                      %5 = mul(%x, %x) : f32[70,96] "square"
                      return %4, %5
                    }
                  }
                  """),
              1),
          TargetLibrary.find("n150"),
          SchedulerOptions.STANDARD);

  private final ChipSchedule role = SCHEDULE.roles().getFirst();
  private final Graph graph = role.meaning().orElseThrow().graphs().getFirst();
  private final ScheduledBlocks blocks = new ScheduledBlocks(role, graph);

  private Node node(String name) {
    return graph.nodes().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void productsHaveTheBlocksOfTheirLoop() {
    ProductBlocks first = blocks.product(node("abs"), node("first"));
    assertThat(first.rows().pages()).isEqualTo(3);
    assertThat(first.columns().pages()).isEqualTo(5);
    assertThat(blocks.product(node("exp"), node("second")).columns().pages()).isEqualTo(2);
  }

  /** The loop also computes functions that the backend computes in steps of their own. */
  @Test
  void productsHaveTheBlocksOfALoopThatComputesMore() {
    ProductBlocks whole = blocks.product(node("abs"), node("first"));
    assertThat(blocks.product(node("first"), node("first"))).isEqualTo(whole);
    assertThat(blocks.product(node("relu"), node("first"))).isEqualTo(whole);
  }

  @Test
  void whatNoLoopComputesIsReported() {
    assertThatThrownBy(() -> blocks.rows(node("abs")))
        .hasMessageContaining("P5201")
        .hasMessageContaining("node \"abs\"");
  }

  @Test
  void functionsOfElementsHaveTheBlocksOfTheirLoop() {
    Matrix tiles = new Matrix("z", "allocate", TileFormat.F32, 70, 96);
    TileBlocks ofLoop =
        role.kernels().stream()
            .filter(loop -> loop.name().startsWith("mul_f32"))
            .flatMap(loop -> TileBlocks.of(loop, role.cores()).stream())
            .findFirst()
            .orElseThrow();
    assertThat(blocks.tiles(node("square").result(), tiles)).isEqualTo(ofLoop);
    assertThat(ofLoop.operands()).isEqualTo(1);
    assertThat(blocks.tiles(tiles).operands()).isEqualTo(2);
  }

  /** A loop of other tiles, or of none: pages are dealt one by one. */
  @Test
  void tilesThatNoLoopHasAreDealtToAllCores() {
    Matrix other = new Matrix("z", "allocate", TileFormat.F32, 96, 700);
    TileBlocks expected = TileBlocks.of(3, 22, role.cores());
    assertThat(blocks.tiles(node("square").result(), other)).isEqualTo(expected);
    assertThat(blocks.tiles(node("relu").result(), other)).isEqualTo(expected);
    assertThat(blocks.wholeRows(node("square").result(), other).columns())
        .isEqualTo(new CoreBlocks.Extent(22, 22, 1));
  }

  @Test
  void coresThatQueriesLeaveFreeShareKeys() {
    AttentionBlocks blocks = this.blocks.attention(node("square").result(), 4, 40, 4096);
    assertThat(blocks.rows()).isEqualTo(new CoreBlocks.Extent(8, 1, 8));
    assertThat(blocks.columns()).isEqualTo(new CoreBlocks.Extent(8, 1, 8));
  }
}
