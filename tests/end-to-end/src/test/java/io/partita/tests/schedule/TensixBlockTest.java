package io.partita.tests.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.driver.NumericVerification;
import io.partita.driver.StandardPasses;
import io.partita.driver.chip.SchedulePass;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.stage.Staged;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.ScheduleParser;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.ElementType;
import io.partita.passes.Pipeline;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests decoder blocks on the grid of an N150, whose cores have private working memories. */
class TensixBlockTest {
  private static final String PROGRAM = "shard(tensor=1),localize";

  private static final SchedulePass PASS =
      new SchedulePass(Optional.of("n150"), OptionalLong.empty());

  private static String feedForward(int tokens, int features, int inner) {
    return """
    pir 1
    module {
      graph @feed_forward(%x: f32[T,F], %gate: f32[F,I], %up: f32[F,I], %down: f32[I,F], %scale: f32[F]) -> ("y": f32[T,F]) {
        %0 = rms_norm(%x, %scale) {axis = 1, epsilon = 1.0E-5, scale} : f32[T,F] "ffn_norm"
        %1 = gated_ffn(%0, %gate, %up, %down) {activation = silu} : f32[T,F] "ffn"
        %2 = add(%x, %1) : f32[T,F] "residual"
        return %2
      }
    }
    """
        .replaceAll("\\bT\\b", "" + tokens)
        .replaceAll("\\bF\\b", "" + features)
        .replaceAll("\\bI\\b", "" + inner);
  }

  private static String attention(int batch, int heads, int tokens, int width) {
    return """
    pir 1
    module {
      graph @attention(%q: f32[B,H,T,W], %k: f32[B,H,T,W], %v: f32[B,H,T,W]) -> ("y": f32[B,T,H,W]) {
        %0 = attention(%q, %k, %v) {scale = 0.25, soft_cap = 0.0, causal, offset = [0], window = 0} : f32[B,H,T,W] "attention"
        %1 = transpose(%0) {permutation = [0, 2, 1, 3]} : f32[B,T,H,W] "heads"
        return %1
      }
    }
    """
        .replaceAll("\\bB\\b", "" + batch)
        .replaceAll("\\bH\\b", "" + heads)
        .replaceAll("\\bT\\b", "" + tokens)
        .replaceAll("\\bW\\b", "" + width);
  }

  private static Staged<?> program(String text) {
    return Pipeline.parse(PROGRAM, StandardPasses.REGISTRY)
        .run(Staged.of(PirParser.parse(text)), (pass, before, after) -> {});
  }

  private static Schedule schedule(String text) {
    return schedule(text, PASS);
  }

  private static Schedule schedule(String text, SchedulePass pass) {
    return pass.run(program(text).at(io.partita.ir.stage.Stage.PROGRAM).orElseThrow());
  }

  private static void computesTheSame(String text) {
    computesTheSame(text, schedule(text));
  }

  private static void computesTheSame(String text, Schedule schedule) {
    ScheduleVerifier.verify(schedule);
    assertThat(new NumericVerification(5).check(PASS, program(text), Staged.of(schedule)))
        .contains("same results");
    Schedule read = ScheduleParser.parse(SchedulePrinter.print(schedule));
    assertThat(SchedulePrinter.print(read)).isEqualTo(SchedulePrinter.print(schedule));
  }

  @Test
  void textIsReadable() {
    Schedule schedule = schedule(feedForward(64, 96, 160));
    GoldenFile.of("tensix-block.golden").assertMatches("n150", SchedulePrinter.print(schedule));
  }

  @Test
  void coresComputeSeveralTiles() {
    String text = feedForward(544, 128, 96);
    Schedule schedule = schedule(text, little(180_000));
    assertThat(schedule.roles().getFirst().kernels())
        .flatExtracting(TiledKernel::axes)
        .anyMatch(axis -> axis.over().equals(Optional.of(CoreGrid.Axis.ROWS)) && axis.count() > 8);
    computesTheSame(text, schedule);
  }

  @Test
  void sumsAreTiledAlongTheDepth() {
    String text =
        """
        pir 1
        module {
          graph @product(%x: f32[2,64,1216], %weight: f32[1216,96]) -> ("y": f32[2,64,96]) {
            %0 = linear(%x, %weight) : f32[2,64,96] "projection"
            return %0
          }
        }
        """;
    Schedule schedule = schedule(text, little(60_000));
    TiledKernel product = schedule.roles().getFirst().kernels().getFirst();
    assertThat(product.axes()).anyMatch(axis -> axis.over().isEmpty() && axis.count() > 1);
    ProductBlocks blocks = blocks(schedule).getFirst();
    assertThat(blocks.keepsSums()).isTrue();
    assertThat(product.scratch().getFirst().name()).isEqualTo("partials");
    assertThat(product.scratch().getFirst().bytes())
        .isEqualTo(blocks.rows().block() * blocks.columns().block() * 32 * 32 * Float.BYTES);
    computesTheSame(text, schedule);
  }

  private static List<ProductBlocks> blocks(Schedule schedule) {
    ChipSchedule chip = schedule.roles().getFirst();
    return chip.kernels().stream()
        .flatMap(loop -> ProductBlocks.of(loop, chip.cores()).stream())
        .toList();
  }

  /**
   * A row of pages has its columns on all cores, and pages on both sides are on both directions.
   */
  @ParameterizedTest
  @CsvSource({"1, 2304, 1, 72", "64, 2304, 1, 72", "288, 256, 9, 8", "2304, 1, 72, 1"})
  void productsAreDealtByTheirShape(int tokens, int inner, int rows, int columns) {
    ProductBlocks gate = blocks(schedule(feedForward(tokens, 64, inner))).getFirst();
    assertThat(gate.rows().cores()).isEqualTo(rows);
    assertThat(gate.columns().cores()).isEqualTo(columns);
    assertThat(gate.sharesLeft()).isEqualTo(columns > 1);
    assertThat(gate.sharesRight()).isEqualTo(rows > 1);
    assertThat(gate.keepsSums()).isFalse();
  }

  private static String norm(int tokens, int features) {
    return """
    pir 1
    module {
      graph @norm(%x: f32[2,T,F], %scale: f32[F]) -> ("y": f32[2,T,F]) {
        %0 = rms_norm(%x, %scale) {axis = 2, epsilon = 1.0E-5, scale} : f32[2,T,F] "norm"
        return %0
      }
    }
    """
        .replaceAll("\\bT\\b", "" + tokens)
        .replaceAll("\\bF\\b", "" + features);
  }

  private static RowBlocks rows(Schedule schedule) {
    ChipSchedule chip = schedule.roles().getFirst();
    return RowBlocks.of(chip.kernels().getFirst(), chip.cores()).orElseThrow();
  }

  /** Rows of pages are dealt to cores in turn; a scale is loaded by one of several. */
  @ParameterizedTest
  @CsvSource({"16, 40, 1, 1, 1", "17, 40, 2, 1, 2", "1000, 96, 63, 1, 63", "2000, 96, 125, 2, 63"})
  void rowsAreDealtToCores(int tokens, int features, int pages, int block, int cores) {
    RowBlocks blocks = rows(schedule(norm(tokens, features)));
    assertThat(blocks.rows()).isEqualTo(new CoreBlocks.Extent(pages, block, cores));
    assertThat(blocks.shared()).isEqualTo(cores > 1 ? List.of(1) : List.of());
  }

  private static <T> T blocksOfFirst(
      String text, BiFunction<TiledKernel, CoreGrid, Optional<T>> kind) {
    ChipSchedule chip = schedule(text).roles().getFirst();
    return kind.apply(chip.kernels().getFirst(), chip.cores()).orElseThrow();
  }

  /** Elements are in tiles of rows and columns, whatever is contiguous. */
  @ParameterizedTest
  @CsvSource({
    "1, 2304, 1, 1, 1, 72, 1, 72",
    "2304, 1, 72, 1, 72, 1, 1, 1",
    "288, 256, 9, 1, 9, 8, 1, 8",
    "40, 70, 2, 1, 2, 3, 1, 3"
  })
  void elementsAreDealtByTheirShape(
      int tokens, int features, int rows, int high, int down, int columns, int wide, int across) {
    String text =
        """
        pir 1
        module {
          graph @elements(%x: f32[T,F], %z: f32[T,F]) -> ("y": f32[T,F]) {
            %0 = sub(%x, %z) : f32[T,F] "difference"
            return %0
          }
        }
        """
            .replaceAll("\\bT\\b", "" + tokens)
            .replaceAll("\\bF\\b", "" + features);
    TileBlocks blocks = blocksOfFirst(text, TileBlocks::of);
    assertThat(blocks.rows()).isEqualTo(new CoreBlocks.Extent(rows, high, down));
    assertThat(blocks.columns()).isEqualTo(new CoreBlocks.Extent(columns, wide, across));
    assertThat(blocks.shared()).isEmpty();
    computesTheSame(text);
  }

  /** Queries of 32 take a core each; those that are left over share keys by powers of two. */
  @ParameterizedTest
  @CsvSource({"2, 3, 20, 6, 1", "1, 2, 200, 14, 4", "1, 8, 64, 16, 2", "1, 40, 32, 40, 1"})
  void queriesAndKeysAreDealtToCores(int batch, int heads, int tokens, int cores, int parts) {
    String text = attention(batch, heads, tokens, 16);
    AttentionBlocks blocks = blocksOfFirst(text, AttentionBlocks::of);
    assertThat(blocks.rows()).isEqualTo(new CoreBlocks.Extent(cores, 1, cores));
    assertThat(blocks.columns()).isEqualTo(new CoreBlocks.Extent(parts, 1, parts));
    // Each core reads its keys and values itself.
    assertThat(schedule(text).roles().getFirst().kernels().getFirst().operands())
        .allMatch(operand -> operand.multicast().isEmpty());
  }

  /** Squares, and pages of sums and factors, are in L1 beside rows, scales and results. */
  @Test
  void rowsLeaveRoomForWhatKernelsKeep() {
    TiledKernel loop = schedule(norm(40, 96)).roles().getFirst().kernels().getFirst();
    long page = 32 * 32 * Float.BYTES;
    assertThat(loop.operands()).extracting(TileOperand::slotBytes).containsOnly(3 * page);
    assertThat(loop.scratch()).extracting(TileScratch::bytes).containsExactly((3 + 8) * page);
    computesTheSame(norm(40, 96));
  }

  /** A row of 128 pages, its scale, its result and what kernels keep of it fit in 16 bits only. */
  @Test
  void longRowsFitInSixteenBits() {
    assertThatThrownBy(() -> schedule(norm(40, 4096)))
        .hasMessageContaining("P4402")
        .hasMessageContaining("x 524288, scale 524288, out 524288, row 557056");
    String text = norm(40, 4096).replace("f32", "bf16");
    TiledKernel loop = schedule(text).roles().getFirst().kernels().getFirst();
    assertThat(loop.operands()).allSatisfy(this::isOfSixteenBits);
    assertThat(loop.scratch())
        .extracting(TileScratch::bytes)
        .containsExactly((128 + 8) * 32 * 32 * (long) Short.BYTES);
    computesTheSame(text);
  }

  /** Destination registers hold 8 pages of 16 bits or 4 of 32. */
  @ParameterizedTest
  @CsvSource({"16, false, 1, 8", "32, false, 1, 4", "32, true, 1, 3", "16, true, 1, 7"})
  void partsOfBlocksFitRegisters(int bits, boolean hasOthers, int rows, int columns) {
    CoreBlocks.Queue queue = new CoreBlocks.Queue(2, true);
    CoreBlocks.Extent wide = new CoreBlocks.Extent(90, 9, 8);
    CoreBlocks.Extent high = new CoreBlocks.Extent(12, 6, 2);
    CoreBlocks.Extent depth = new CoreBlocks.Extent(5, 5, 1);
    ElementType sums = bits == 16 ? ElementType.BF16 : ElementType.F32;
    ProductBlocks gate = new ProductBlocks(high, wide, depth, queue, queue, 1, 1, sums);
    assertThat(gate.part(hasOthers)).isEqualTo(new ProductBlocks.Part(rows, columns));
  }

  /** All tiles are of 16 bits, which kernels of f32 unpack; values need no casts in between. */
  @ParameterizedTest
  @CsvSource({"64, 96, 160", "33, 65, 97"})
  void sixteenBitBlocksAgree(int tokens, int features, int inner) {
    String text = feedForward(tokens, features, inner).replace("f32", "bf16");
    computesTheSame(text);
    List<TiledKernel> loops = schedule(text).roles().getFirst().kernels();
    assertThat(loops).flatExtracting(TiledKernel::operands).allSatisfy(this::isOfSixteenBits);
    assertThat(loops)
        .flatExtracting(TiledKernel::calls)
        .extracting(call -> call.kernel().name())
        .containsExactlyInAnyOrder(
            "rms_norm_f32", "gemm_f32", "gemm_f32", "silu_f32", "mul_f32", "gemm_f32", "add_f32");
  }

  private void isOfSixteenBits(TileOperand operand) {
    assertThat(operand.element()).isEqualTo(ElementType.BF16);
    assertThat(operand.buffer().orElseThrow().pageBytes()).isEqualTo(32 * 32 * Short.BYTES);
    assertThat(operand.slotBytes() % operand.buffer().orElseThrow().pageBytes()).isZero();
  }

  /** Sums of a product in 16 bits keep 32 while its depth is computed in parts. */
  @Test
  void sumsOfSixteenBitsKeepAllBits() {
    String text =
        """
        pir 1
        module {
          graph @product(%x: bf16[64,1216], %weight: bf16[1216,96]) -> ("y": bf16[64,96]) {
            %0 = linear(%x, %weight) : bf16[64,96] "projection"
            return %0
          }
        }
        """;
    Schedule schedule = schedule(text, little(40_000));
    ProductBlocks blocks = blocks(schedule).getFirst();
    assertThat(blocks.keepsSums()).isTrue();
    TiledKernel product = schedule.roles().getFirst().kernels().getFirst();
    assertThat(product.operands()).allSatisfy(this::isOfSixteenBits);
    assertThat(product.scratch().getFirst().bytes())
        .isEqualTo(blocks.rows().block() * blocks.columns().block() * 32 * 32 * Float.BYTES);
    computesTheSame(text, schedule);
  }

  private static String product(int rows, int depth, int columns) {
    return """
    pir 1
    module {
      graph @product(%x: bf16[M,K], %weight: bf16[K,N]) -> ("y": bf16[M,N]) {
        %0 = linear(%x, %weight) : bf16[M,N] "projection"
        return %0
      }
    }
    """
        .replaceAll("\\bM\\b", "" + rows)
        .replaceAll("\\bK\\b", "" + depth)
        .replaceAll("\\bN\\b", "" + columns);
  }

  private static Schedule summedIn(int bits, String text, TargetDescription target, long bytes) {
    return Scheduler.schedule(
        program(text).at(io.partita.ir.stage.Stage.PROGRAM).orElseThrow(),
        TargetChange.withSumBits(target, bits),
        SchedulerOptions.STANDARD.withWorkingBytes(bytes));
  }

  /** Registers hold twice as many sums of 16 bits; elements of 32 bits are summed in 32. */
  @Test
  void registersHoldMoreSumsOfSixteenBits() {
    TargetDescription core = TargetChange.onGrid(TargetLibrary.find("n150"), 1, 1);
    String text = product(32, 64, 640);
    ProductBlocks wide = blocks(summedIn(Float.SIZE, text, core, 1 << 20)).getFirst();
    assertThat(wide.sums()).isEqualTo(ElementType.F32);
    assertThat(wide.part(false)).isEqualTo(new ProductBlocks.Part(1, 4));
    ProductBlocks narrow = blocks(summedIn(Short.SIZE, text, core, 1 << 20)).getFirst();
    assertThat(narrow.sums()).isEqualTo(ElementType.BF16);
    assertThat(narrow.part(false)).isEqualTo(new ProductBlocks.Part(1, 8));
    String other = text.replace("bf16", "f32");
    assertThat(blocks(summedIn(Short.SIZE, other, core, 1 << 20)).getFirst().sums())
        .isEqualTo(ElementType.F32);
  }

  /** Where the depth is computed in parts, L1 keeps sums as registers hold them. */
  @Test
  void keptSumsAreThoseOfRegisters() {
    String text = product(64, 1216, 96);
    Schedule schedule = summedIn(Short.SIZE, text, TargetLibrary.find("n150"), 40_000);
    assertThat(SchedulePrinter.print(schedule)).contains("    cores 9 x 8, sums bf16\n");
    ProductBlocks blocks = blocks(schedule).getFirst();
    assertThat(blocks.keepsSums()).isTrue();
    assertThat(schedule.roles().getFirst().kernels().getFirst().scratch().getFirst().bytes())
        .isEqualTo(blocks.rows().block() * blocks.columns().block() * 32 * 32 * Short.BYTES);
    computesTheSame(text, schedule);
  }

  @Test
  void sixteenBitAttentionAndHeadsAgree() {
    computesTheSame(attention(2, 3, 33, 16).replace("f32", "bf16"));
  }

  /** A model whose inputs are tokens has the type of what it returns. */
  @Test
  void rowsOfTablesHaveSixteenBits() {
    String table =
        IntStream.range(0, 3 * 64).mapToObj(i -> i - 96 + ".0").collect(Collectors.joining(", "));
    String text =
        """
        pir 1
        module {
          graph @rows(%ids: i64[40]) -> ("y": bf16[40,64]) {
            %0 = constant [TABLE] : bf16[192]
            %1 = reshape(%0) {to = [3, 64]} : bf16[3,64]
            %2 = embedding(%1, %ids) : bf16[40,64] "rows"
            %3 = exp(%2) : bf16[40,64] "exp"
            %4 = relu(%3) : bf16[40,64] "relu"
            return %4
          }
        }
        """
            .replace("TABLE", table);
    Schedule schedule = schedule(text);
    assertThat(schedule.roles().getFirst().kernels())
        .flatExtracting(TiledKernel::operands)
        .extracting(TileOperand::element)
        .containsOnly(ElementType.I64, ElementType.BF16);
  }

  /** What is returned in f32 is stored so, also through a view. */
  @Test
  void resultsOf32BitsKeepTheirType() {
    String text =
        """
        pir 1
        module {
          graph @functions(%x: bf16[40,96]) -> ("y": f32[40,96], "z": f32[1,40,96], "half": bf16[40,96]) {
            %0 = abs(%x) : bf16[40,96] "abs"
            %1 = cast(%0) {to = f32} : f32[40,96] "wide"
            %2 = relu(%1) : f32[40,96] "relu"
            %3 = reshape(%2) {to = [1, 40, 96]} : f32[1,40,96] "view"
            %4 = exp(%0) : bf16[40,96] "exp"
            return %1, %3, %4
          }
        }
        """;
    computesTheSame(text);
  }

  private static SchedulePass little(long bytes) {
    return new SchedulePass(Optional.of("n150"), OptionalLong.of(bytes));
  }

  /** Tests full tiles, tiles at the edge, and single ones. */
  @ParameterizedTest
  @CsvSource({"64, 96, 160", "1, 64, 128", "33, 65, 97", "288, 320, 352", "5, 7, 3"})
  void feedForwardBlocksAgree(int tokens, int features, int inner) {
    computesTheSame(feedForward(tokens, features, inner));
  }

  @ParameterizedTest
  @CsvSource({"1, 4, 64, 32", "2, 3, 33, 16", "2, 1, 1, 8"})
  void attentionAgrees(int batch, int heads, int tokens, int width) {
    computesTheSame(attention(batch, heads, tokens, width));
  }

  @Test
  void coresHavePrivateTilesInQueuesOfPages() {
    ChipSchedule chip = schedule(feedForward(288, 320, 352)).roles().getFirst();
    assertThat(chip.cores()).isEqualTo(new CoreGrid(9, 8));
    assertThat(chip.memories()).hasSize(2);
    assertThat(chip.working().isPrivate()).isTrue();
    assertThat(chip.working().available()).isEqualTo(1344 * 1024);
    assertThat(chip.residences()).allMatch(each -> each.offset() % chip.home().alignment() == 0);
    for (TiledKernel loop : chip.kernels()) {
      assertThat(loop.workingBytes()).isLessThanOrEqualTo(chip.working().available());
      assertThat(loop.axes()).anyMatch(axis -> axis.over().isPresent());
      assertThat(loop.stages())
          .extracting(Stage::name)
          .containsExactly("reader", "compute", "writer");
      for (TileOperand operand : loop.operands()) {
        assertThat(operand.buffer().orElseThrow().pageBytes()).isEqualTo(32 * 32 * Float.BYTES);
        assertThat(operand.slotBytes() % operand.buffer().orElseThrow().pageBytes()).isZero();
      }
    }
    TiledKernel product =
        chip.kernels().stream().filter(loop -> loop.name().startsWith("gemm")).findFirst().get();
    assertThat(product.axes())
        .extracting(TileAxis::over)
        .startsWith(Optional.of(CoreGrid.Axis.ROWS), Optional.of(CoreGrid.Axis.COLUMNS));
    assertThat(product.operands())
        .extracting(TileOperand::multicast)
        .containsExactly(
            Optional.of(CoreGrid.Axis.COLUMNS), Optional.of(CoreGrid.Axis.ROWS), Optional.empty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "over columns | over rows | one axis over it",
        "over columns | | a common tile of all cores along COLUMNS",
        "multicast along rows | multicast along columns | a common tile of all cores along COLUMNS",
        "memory l1 private | memory l1 shared | cores with a private l1",
        "load left, load right | load left | load it once",
        "await left, await right | await left | right to be awaited before kernels",
        "stage writer \\{ store out | stage writer \\{ await out | store it once",
        "of 4096 B pages | of 5000 B pages | slots of whole pages",
        "call 0 | call 1 | call 0"
      })
  void errorsAreFound(String pattern, String replacement, String expected) {
    String text = SchedulePrinter.print(schedule(feedForward(64, 96, 160)));
    int product = text.indexOf("loop gemm");
    String head = text.substring(0, product);
    String rest = text.substring(product);
    String to = replacement == null ? "" : replacement;
    String changed =
        pattern.startsWith("memory")
            ? head.replaceFirst(pattern, to) + rest
            : head + rest.replaceFirst(pattern, to);
    assertThat(changed).isNotEqualTo(text);
    assertThatThrownBy(() -> ScheduleVerifier.verify(ScheduleParser.parse(changed)))
        .hasMessageContaining("P441")
        .hasMessageContaining(expected);
  }
}
