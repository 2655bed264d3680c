package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that chips round to integers of 4 bits, pack into bytes and gather. */
class PackedCodesTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /**
   * Each chip rounds its values to 15 codes, of which a byte has two, and decodes those of all.
   *
   * @param rows for each chip, with a number of values such that rows and bytes don't end alike
   */
  private static Program program(int chips, int rows, int columns, String element) {
    int count = rows * columns;
    int bytes = (count + 1) / 2;
    int even = 2 * bytes;
    String pad =
        even == count
            ? "%p = reshape(%c) {to = [N, COUNT]} : u8[N{x},EVEN] \"p\""
            : "%z = constant 0 : u8[]\n    %p = pad(%c, %z) {mode = constant, low = [0, 0], high = [0, 1]} : u8[N{x},EVEN] \"p\"";
    String text =
        """
        pir 1
        module {
          mesh(x=N)
          graph @codes(%a: E[N{x},ROWS,COLUMNS]) -> ("y": E[N,ROWS,COLUMNS]) {
            %four = constant 4.0 : E[]
            %most = constant 7.0 : E[]
            %least = constant -7.0 : E[]
            %quarter = constant 0.25 : E[]
            %mask = constant 15 : u8[]
            %bits = constant 4 : u8[]
            %0 = mul(%a, %four) : E[N{x},ROWS,COLUMNS] "scaled"
            %1 = round(%0) : E[N{x},ROWS,COLUMNS] "rounded"
            %2 = min(%1, %most) : E[N{x},ROWS,COLUMNS] "min"
            %3 = max(%2, %least) : E[N{x},ROWS,COLUMNS] "max"
            %4 = add(%3, %most) : E[N{x},ROWS,COLUMNS] "natural"
            %5 = cast(%4) {to = u8} : u8[N{x},ROWS,COLUMNS] "codes"
            %6 = reshape(%5) {to = [N, COUNT]} : u8[N{x},COUNT] "line"
            %c = bit_and(%6, %mask) : u8[N{x},COUNT] "masked"
            PAD
            %7 = slice(%p) {starts = [0, 0], sizes = [N, BYTES], steps = [1, 1]} : u8[N{x},BYTES] "low"
            %8 = slice(%p) {starts = [0, BYTES], sizes = [N, BYTES], steps = [1, 1]} : u8[N{x},BYTES] "high"
            %9 = shift_left(%8, %bits) : u8[N{x},BYTES] "shifted"
            %10 = bit_or(%7, %9) : u8[N{x},BYTES] "packed"
            %11 = sync(%10) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : u8[N,BYTES] "gathered"
            %12 = bit_and(%11, %mask) : u8[N,BYTES] "first"
            %13 = shift_right(%11, %bits) : u8[N,BYTES] "second"
            %14 = concat(%12, %13) {axis = 1} : u8[N,EVEN] "unpacked"
            %15 = slice(%14) {starts = [0, 0], sizes = [N, COUNT], steps = [1, 1]} : u8[N,COUNT] "all"
            %16 = reshape(%15) {to = [N, ROWS, COLUMNS]} : u8[N,ROWS,COLUMNS] "rows"
            %17 = cast(%16) {to = E} : E[N,ROWS,COLUMNS] "numbers"
            %18 = sub(%17, %most) : E[N,ROWS,COLUMNS] "signed"
            %19 = mul(%18, %quarter) : E[N,ROWS,COLUMNS] "y"
            return %19
          }
        }
        """;
    Map<String, Integer> extents =
        Map.of("N", chips, "ROWS", rows, "COLUMNS", columns, "COUNT", count, "BYTES", bytes);
    text = text.replace("PAD", pad).replaceAll("\\bEVEN\\b", "" + even);
    for (Map.Entry<String, Integer> extent : extents.entrySet()) {
      text = text.replaceAll("\\b" + extent.getKey() + "\\b", "" + extent.getValue());
    }
    text = text.replaceAll("\\bE\\b", element);
    return Localization.of(PirParser.parse(text), Localize.CAPACITY);
  }

  private static EmittedMetalium emit(Program program) {
    return new MetaliumBackend(TargetLibrary.find("n150:chips=8")).emit(program, Optional.empty());
  }

  static Program codes(String element) {
    return program(2, 1, 33, element);
  }

  @Test
  void kernelsOfCodesAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(codes("f32")).files()) {
      if (file.path().matches("kernels/byte_.*|kernels/.*min_row.*|emulation.cpp")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("packed-codes.golden").assertMatches("n150", text.toString());
  }

  /**
   * Inputs are multiples of 1/16, so that some are between two codes, and others beyond the last
   * one. All arithmetic is exact, so results are equal.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("4, 5, 31, bf16")
  void gatheredCodesEqualTheReference(int chips, int rows, int columns, String element) {
    Program program = program(chips, rows, columns, element);
    TensorType type = program.inputs().get("a").type();
    double[] values =
        new Random(chips)
            .ints(type.shape().elements(), -40, 41)
            .mapToDouble(sixteenths -> sixteenths / 16.0)
            .toArray();
    Tensor a = Tensor.ofDoubles(type, values);
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(program);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram built = EmulatedProgram.build(folder, emitted.description().whole());
    EmittedKernelsTest.assertLaunchesAgree(built, List.of(a));
    Tensor found = built.run(List.of(a), LIMIT).getFirst();
    double[] expected = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      // Codes have one zero.
      expected[i] = Math.clamp(Math.rint(4 * values[i]), -7, 7) / 4 + 0.0;
    }
    assertThat(found.doubles()).isEqualTo(expected);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"2, 1, 33, f32", "4, 2, 1100, f32"})
  void moreGatheredCodesEqualTheReference(int chips, int rows, int columns, String element) {
    gatheredCodesEqualTheReference(chips, rows, columns, element);
  }

  /** A cast of numbers that may be others than codes would have to round and to wrap. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "%1 = min(%a, %most) : f32[2{x},64] \"min\"",
        "%1 = round(%a) : f32[2{x},64] \"round\"",
      })
  void otherBytesAreReported(String node) {
    String text =
        """
        pir 1
        module {
          mesh(x=2)
          graph @bytes(%a: f32[2{x},64]) -> ("y": f32[2,64]) {
            %most = constant 7.0 : f32[]
            NODE
            %2 = cast(%1) {to = u8} : u8[2{x},64] "cast"
            %3 = sync(%2) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : u8[2,64] "gathered"
            %4 = cast(%3) {to = f32} : f32[2,64] "y"
            return %4
          }
        }
        """
            .replace("NODE", node);
    assertThatThrownBy(() -> emit(Localization.of(PirParser.parse(text), Localize.CAPACITY)))
        .hasMessageContaining("error P5201")
        .hasMessageContaining("cast of f32[1,64]");
  }
}
