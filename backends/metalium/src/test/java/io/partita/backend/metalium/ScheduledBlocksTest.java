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
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.ElementType;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  /** What a schedule counts as L1 of a loop is what the circular buffers of its kernels take. */
  @ParameterizedTest
  @CsvSource({"F32, MODEL", "BF16, MODEL", "F32, BF8_B", "BF16, BF8_B"})
  void buffersTakeTheBytesOfTheirLoop(ElementType element, WeightFormat weights) {
    String text =
        """
        pir 1
        module {
          graph @product(%x: f32[70,96], %z: f32[70,130], %scale: f32[130]) -> ("y": f32[70,130], "sum": f32[70,130], "norm": f32[70,130]) {
            %w = constant WEIGHT : f32[96,130]
            %0 = linear(%x, %w) : f32[70,130] "product"
            %1 = sub(%z, %0) : f32[70,130] "difference"
            %2 = sub(%z, %1) : f32[70,130] "rest"
            %3 = rms_norm(%2, %scale) {axis = 1, epsilon = 1.0E-5, scale} : f32[70,130] "norm"
            return %1, %2, %3
          }
        }
        """;
    ChipSchedule role =
        Scheduler.schedule(
                Localization.of(
                    PirParser.parse(
                        text.replace("f32", element.text())
                            .replace("WEIGHT", SeveralChipsTest.gaussian(8, 96 * 130))),
                    1),
                TargetLibrary.find("n150"),
                SchedulerOptions.STANDARD.withWeights(weights.packing()))
            .roles()
            .getFirst();
    StepMeaning meaning = role.meaning().orElseThrow();
    Graph graph = meaning.graphs().getFirst();
    TileFormat format = TileFormat.of(element);
    MatrixPool pool = new MatrixPool(format, weights.tiles(format));
    HostNumbers numbers = new HostNumbers(pool);
    Matrices matrices = new Matrices(pool, numbers, 0, element);
    List<Work> steps =
        new ModelSteps(matrices, new Indices(numbers, ""), new ScheduledBlocks(role, graph))
            .of(graph, meaning.results(), Set.of());
    assertThat(steps).hasSize(3);
    assertThat(role.kernels()).hasSize(3);
    for (int i = 0; i < steps.size(); i++) {
      Step step = (Step) steps.get(i);
      long bytes = CircularBuffers.of(step).stream().mapToLong(CircularBuffers.Buffer::bytes).sum();
      if (step.kind() == Step.Kind.RMS_NORM) {
        assertThat(bytes)
            .isBetween(
                role.kernels().get(i).workingBytes() / 2, role.kernels().get(i).workingBytes());
      } else {
        assertThat(bytes).as(step.origin().name()).isEqualTo(role.kernels().get(i).workingBytes());
      }
    }
  }

  @Test
  void coresThatQueriesLeaveFreeShareKeys() {
    AttentionBlocks blocks = this.blocks.attention(node("square").result(), 4, 40, 4096);
    assertThat(blocks.rows()).isEqualTo(new CoreBlocks.Extent(8, 1, 8));
    assertThat(blocks.columns()).isEqualTo(new CoreBlocks.Extent(8, 1, 8));
  }
}
