package io.partita.tests.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.BlockFloat;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.Shape;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Weights of linear layers that the schedule of an N150 stores in blocks with a common exponent.
 */
class PackedWeightsTest {
  private static final int INNER = 72;

  @TempDir Path folder;

  /**
   * A weight, a transposed one, and one that something else reads too.
   *
   * @param rounding changes the weights of linear layers
   */
  private static String layers(int tokens, int features, UnaryOperator<float[][]> rounding) {
    float[][] up = matrix(1, features, INNER);
    float[][] down = matrix(2, INNER, features);
    float[][] both = matrix(3, features, features);
    return """
    pir 1
    module {
      graph @layers(%x: f32[T,F], %p: f32[F,F]) -> ("y": f32[T,F], "z": f32[F,F]) {
        %u = constant UP : f32[F,72]
        %d = constant DOWN : f32[F,72]
        %b = constant BOTH : f32[F,F]
        %0 = linear(%x, %u) : f32[T,72] "up"
        %1 = silu(%0) : f32[T,72] "silu"
        %2 = linear(%1, %d) {transposed} : f32[T,F] "down"
        %3 = linear(%2, %b) : f32[T,F] "square"
        %4 = add(%p, %b) : f32[F,F] "sum"
        return %3, %4
      }
    }
    """
        .replace("UP", text(rounding.apply(up)))
        .replace("DOWN", text(turned(rounding.apply(down))))
        .replace("BOTH", text(rounding.apply(both)))
        .replaceAll("\\bT\\b", "" + tokens)
        .replaceAll("\\bF\\b", "" + features);
  }

  private static float[][] matrix(int seed, int rows, int columns) {
    SplittableRandom random = new SplittableRandom(seed);
    float[][] matrix = new float[rows][columns];
    for (float[] row : matrix) {
      for (int i = 0; i < columns; i++) {
        row[i] = (float) (random.nextDouble(-1, 1) * Math.exp(2 * random.nextGaussian()));
      }
    }
    return matrix;
  }

  private static float[][] turned(float[][] matrix) {
    float[][] turned = new float[matrix[0].length][matrix.length];
    for (int i = 0; i < matrix.length; i++) {
      for (int j = 0; j < matrix[0].length; j++) {
        turned[j][i] = matrix[i][j];
      }
    }
    return turned;
  }

  private static float[][] rounded(float[][] matrix) {
    return Arrays.stream(matrix)
        .map(float[]::clone)
        .peek(BlockFloat::round)
        .toArray(float[][]::new);
  }

  private static String text(float[][] matrix) {
    return Arrays.stream(matrix)
        .flatMap(row -> IntStream.range(0, row.length).mapToObj(i -> "" + row[i]))
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private static Program program(int tokens, int features) {
    return Localization.of(PirParser.parse(layers(tokens, features, UnaryOperator.identity())), 1);
  }

  private static Schedule schedule(Program program, Packing packing) {
    return Scheduler.schedule(
        program, TargetLibrary.find("n150"), SchedulerOptions.STANDARD.withWeights(packing));
  }

  private static List<TileOperand> packed(Schedule schedule) {
    return schedule.roles().getFirst().kernels().stream()
        .map(TiledKernel::operands)
        .flatMap(List::stream)
        .filter(operand -> operand.packing() == Packing.BF8_B)
        .toList();
  }

  /** Full and partial pages and blocks; the reference has the rounded weights. */
  @ParameterizedTest
  @CsvSource({"64, 96", "1, 64", "33, 40", "288, 320", "5, 7", "3, 1"})
  void kernelsComputeWithTheRoundedWeights(int tokens, int features) {
    Schedule schedule = schedule(program(tokens, features), Packing.BF8_B);
    ScheduleVerifier.verify(schedule);
    assertThat(packed(schedule)).hasSize(3);
    double[] data = new SplittableRandom(7).doubles((long) tokens * features, -1, 1).toArray();
    float[] x = new float[data.length];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) data[i];
    }
    Tensor input = Tensor.floats(Shape.of(tokens, features), x);
    Tensor added = Tensor.floats(Shape.of(features, features), new float[features * features]);
    Tensor found = new ScheduleEvaluator(schedule).run(Map.of("x", input, "p", added)).get("y");
    Tensor expected =
        Evaluator.run(
                PirParser.parse(layers(tokens, features, PackedWeightsTest::rounded)).graph(),
                List.of(input, added))
            .getFirst();
    double most = Arrays.stream(expected.doubles()).map(Math::abs).max().orElseThrow();
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5 * most));
    }
  }

  private static <T extends Number> Offset<T> within(T distance) {
    return Offset.offset(distance);
  }

  /** A page of 32 x 32 elements has 1,024 bytes of elements and 64 of exponents. */
  @Test
  void memoriesAndQueuesHaveTheBytesOfBlocks() {
    Program program = program(64, 96);
    ChipSchedule plain = schedule(program, Packing.PLAIN).roles().getFirst();
    Schedule schedule = schedule(program, Packing.BF8_B);
    assertThat(packed(schedule))
        .allSatisfy(
            operand -> {
              assertThat(operand.buffer().orElseThrow().pageBytes()).isEqualTo(1088);
              assertThat(operand.slotBytes() % 1088).isZero();
            });
    ChipSchedule blocks = schedule.roles().getFirst();
    // Rows of 72 elements are 5 blocks of 17 bytes, those of 96 are 6. The weight that is added too
    // is stored both ways.
    long saved = 96 * (72 * 4 - 5 * 17) + 72 * (96 * 4 - 6 * 17) - 96 * 6 * 17;
    assertThat(plain.home().used() - blocks.home().used()).isCloseTo(saved, within(256L));
    assertThat(blocks.working().used()).isLessThan(plain.working().used());
  }

  @Test
  void loadsTakeLessTime() {
    Program program = program(1, 320);
    double plain = seconds(schedule(program, Packing.PLAIN));
    assertThat(seconds(schedule(program, Packing.BF8_B))).isLessThan(plain);
  }

  private static double seconds(Schedule schedule) {
    return SchedulePrediction.of(schedule, TargetLibrary.find("n150")).seconds();
  }

  @Test
  void textHasThePacking() {
    Path file = folder.resolve("schedule.pir");
    Schedule schedule = schedule(program(64, 96), Packing.BF8_B);
    ScheduleFile.write(schedule, file);
    String text = SchedulePrinter.print(schedule);
    assertThat(text).contains("load right: f32 bf8_b [");
    assertThat(SchedulePrinter.print(ScheduleFile.read(file))).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "load left: f32 | load left: f32 bf8_b | rows that begin with a block",
        "store out: f32 | store out: f32 bf8_b | only where kernels unpack them",
        "in buffer 1 of 1088 B pages | in buffer 1 of 1000 B pages | slots of whole pages"
      })
  void wrongPackingsAreFound(String pattern, String replacement, String expected)
      throws IOException {
    Path file = folder.resolve("schedule.pir");
    ScheduleFile.write(schedule(program(64, 40), Packing.BF8_B), file);
    String text = Files.readString(file);
    String changed = text.replace(pattern, replacement);
    assertThat(changed).isNotEqualTo(text);
    Files.writeString(file, changed);
    assertThatThrownBy(() -> ScheduleVerifier.verify(ScheduleFile.read(file)))
        .hasMessageContaining(expected);
  }
}
