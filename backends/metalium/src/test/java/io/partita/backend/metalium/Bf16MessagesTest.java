package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models of f32 whose chips send numbers that are rounded to bf16. */
class Bf16MessagesTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /** A sum of terms of all chips, and a gather of their own elements. */
  private static Program program(int chips, int rows, int columns, String algorithm) {
    String text =
        """
        pir 1
        module {
          mesh(x=CHIPS)
          graph @rounded(%a: f32[ROWS,160{x}], %w: f32[160{x},COLUMNS]) -> ("sum": f32[ROWS,COLUMNS], "all": f32[ROWS,160]) {
            %0 = linear(%a, %w) : f32[ROWS,COLUMNS] partial(sum: x) "terms"
            %1 = sync(%0) {kind = "all_reduce(x)", to = "[*,*]", algorithm = "ALGORITHM", codec = "bf16"} : f32[ROWS,COLUMNS] "sum"
            %2 = sync(%a) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct", codec = "bf16"} : f32[ROWS,160] "all"
            return %1, %2
          }
        }
        """;
    return Localization.of(
        PirParser.parse(
            text.replace("CHIPS", "" + chips)
                .replace("ROWS", "" + rows)
                .replace("COLUMNS", "" + columns)
                .replace("ALGORITHM", algorithm)),
        Localize.CAPACITY);
  }

  static Program sums() {
    return program(2, 1, 40, "ring");
  }

  private static EmittedMetalium emit(Program program) {
    return new MetaliumBackend(TargetLibrary.find("n150:chips=8")).emit(program, Optional.empty());
  }

  @Test
  void kernelsOfRoundedMessagesAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(sums()).files()) {
      if (file.path().matches("kernels/(bf16_|.*typecast_compute).*|emulation.cpp")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("bf16-messages.golden").assertMatches("n150", text.toString());
  }

  /**
   * Terms are integers that bf16 rounds, and each sum is rounded again, as in the reference. Ties
   * are common, and vectors of several pages end within one.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("4, 5, 300, tree(2)")
  void sumsEqualTheReference(int chips, int rows, int columns, String algorithm) {
    Program program = program(chips, rows, columns, algorithm);
    Random random = new Random(chips);
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    program
        .inputs()
        .forEach(
            (name, type) ->
                inputs.put(name, integers(random, type.type(), name.equals("a") ? 500 : 2)));
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(program);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram built = EmulatedProgram.build(folder, emitted.description().whole());
    List<Tensor> given = List.copyOf(inputs.values());
    List<Tensor> found = built.run(given, LIMIT);
    Map<String, Tensor> expected = new ProgramEvaluator(program, Localize.CAPACITY).run(inputs);
    assertThat(found).containsExactly(expected.get("sum"), expected.get("all"));
    assertThat(found.getFirst().doubles()).isNotEqualTo(exact(inputs).doubles());
    EmittedKernelsTest.assertLaunchesAgree(built, given);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"2, 1, 40, ring", "3, 33, 33, direct"})
  void moreSumsEqualTheReference(int chips, int rows, int columns, String algorithm) {
    sumsEqualTheReference(chips, rows, columns, algorithm);
  }

  private static Tensor integers(Random random, TensorType type, int most) {
    double[] values =
        random.ints(type.shape().elements(), -most, most + 1).asDoubleStream().toArray();
    return Tensor.ofDoubles(type, values);
  }

  private static Tensor exact(Map<String, Tensor> inputs) {
    return OpEvaluator.evaluate(new Structured.Linear(false, false), List.copyOf(inputs.values()))
        .getFirst();
  }
}
