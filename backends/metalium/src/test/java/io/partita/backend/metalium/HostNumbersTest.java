package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Masks, positions and angles, which the host computes of integer inputs. */
class HostNumbersTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int KEYS = 37;

  @TempDir Path scratch;

  /**
   * Two sequences, with padding before or after their tokens, as exporters write it; positions that
   * count tokens; and angles of each sequence.
   */
  static Module masked(String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @masked(%q: ELEMENT[2,4,5,16], %k: ELEMENT[2,2,37,16], %v: ELEMENT[2,2,37,16], %table: ELEMENT[40,16],
              %attention_mask: i64[2,37]) -> ("y": ELEMENT[2,4,5,16], "positions": ELEMENT[2,5,16]) {
            %one = constant 1 : i64[] "one"
            %sums = cumulative_sum(%attention_mask) {axis = 1} : i64[2,37] "sums"
            %all = sub(%sums, %one) : i64[2,37] "all"
            %last = slice(%all) {starts = [0, 32], sizes = [2, 5], steps = [1, 1]} : i64[2,5] "last"
            %zero = constant 0 : i64[] "zero"
            %positions = max(%last, %zero) : i64[2,5] "positions"
            %rows = gather(%table, %positions) {axis = 0} : ELEMENT[2,5,16] "rows"
            %f = cast(%positions) {to = f32} : f32[2,5] "f"
            %column = reshape(%f) {to = [2, 5, 1]} : f32[2,5,1] "column"
            %frequencies = constant [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] : f32[1,8] "frequencies"
            %angles = matmul(%column, %frequencies) {result = f32} : f32[2,5,8] "angles"
            %c = cos(%angles) : f32[2,5,8] "c"
            %s = sin(%angles) : f32[2,5,8] "s"
            %cosines = cast(%c) {to = ELEMENT} : ELEMENT[2,5,8] "cosines"
            %sines = cast(%s) {to = ELEMENT} : ELEMENT[2,5,8] "sines"
            %rotated = rotary_embedding(%q, %cosines, %sines) : ELEMENT[2,4,5,16] "rotated"
            %tokens = reshape(%attention_mask) {to = [2, 1, 1, 37]} : i64[2,1,1,37] "tokens"
            %wide = broadcast(%tokens) {to = [2, 1, 5, 37]} : i64[2,1,5,37] "wide"
            %kept = cast(%wide) {to = ELEMENT} : ELEMENT[2,1,5,37] "kept"
            %whole = constant 1.0 : ELEMENT[] "whole"
            %padding = sub(%whole, %kept) : ELEMENT[2,1,5,37] "padding"
            %flags = cast(%padding) {to = bool} : bool[2,1,5,37] "flags"
            %lowest = constant -3.3E38 : ELEMENT[] "lowest"
            %mask = select(%flags, %lowest, %padding) : ELEMENT[2,1,5,37] "mask"
            %y = attention(%rotated, %k, %v, %mask) {scale = 0.25, soft_cap = 0.0, offset = [0], window = 0, mask} : ELEMENT[2,4,5,16] "attention"
            return %y, %rows
          }
        }
        """
            .replace("ELEMENT", element));
  }

  private EmulatedProgram built(Module module) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = EmittedKernelsTest.emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    return EmulatedProgram.build(folder, emitted.description().whole());
  }

  /** Ones for the tokens of a sequence, from the first one to the last one. */
  static LongStream tokens(int first, int end) {
    return LongStream.range(0, KEYS).map(key -> first <= key && key < end ? 1 : 0);
  }

  static List<Tensor> inputs(Module module, LongStream first, LongStream second) {
    Random random = new Random(4);
    List<Tensor> inputs = new ArrayList<>();
    for (Value input : module.graph().inputs().subList(0, 4)) {
      inputs.add(EmittedKernelsTest.gaussian(random, input));
    }
    inputs.add(
        Tensor.ofLongs(
            module.graph().inputs().getLast().type(), LongStream.concat(first, second).toArray()));
    return inputs;
  }

  /** The embedding of a time step: the host computes cosines, and kernels multiply them. */
  @Test
  void productsOfNumbersOfTheHostRoundLikeKernels() {
    String weights =
        new Random(6)
            .doubles(8 * 16, -1, 1)
            .mapToObj(weight -> "" + (float) weight)
            .collect(Collectors.joining(", "));
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @timestep(%t: i64[2]) -> ("y": f32[2,16]) {
                %f = cast(%t) {to = f32} : f32[2] "f"
                %column = reshape(%f) {to = [2, 1]} : f32[2,1] "column"
                %frequencies = constant [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] : f32[1,8] "frequencies"
                %angles = mul(%column, %frequencies) : f32[2,8] "angles"
                %c = cos(%angles) : f32[2,8] "c"
                %weights = constant [WEIGHTS] : f32[8,16] "weights"
                %sums = linear(%c, %weights) : f32[2,16] "sums"
                %y = silu(%sums) : f32[2,16] "silu"
                return %y
              }
            }
            """
                .replace("WEIGHTS", weights));
    Tensor steps = Tensor.ofLongs(module.graph().inputs().getFirst().type(), new long[] {3, 700});
    EmittedKernelsTest.assertLaunchesAgree(built(module), List.of(steps));
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("bf16, 0.999")
  void paddingTakesNoPart(String element, double correlation) {
    Module module = masked(element);
    EmulatedProgram program = built(module);
    List<List<Tensor>> all =
        List.of(
            inputs(module, tokens(0, KEYS), tokens(3, KEYS)),
            inputs(module, tokens(34, KEYS), tokens(0, 2)),
            // Of a sequence without tokens, all keys have the same weight.
            inputs(module, tokens(0, 0), tokens(5, 33)));
    for (List<Tensor> inputs : all) {
      List<Tensor> expected = Evaluator.run(module.graph(), inputs);
      List<Tensor> found = program.run(inputs, LIMIT);
      double[] heads = expected.getFirst().doubles();
      assertThat(Correlation.of(heads, found.getFirst().doubles())).isGreaterThan(correlation);
      assertThat(found.getLast().doubles()).isEqualTo(expected.getLast().doubles());
      EmittedKernelsTest.assertLaunchesAgree(program, inputs);
    }
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource("f32, 0.99999")
  void paddingTakesNoPartInF32(String element, double correlation) {
    paddingTakesNoPart(element, correlation);
  }

  /** Both languages of the host print the same computation. */
  @Test
  void theHostComputesMasksAndAngles() throws IOException {
    assertThat(statements("emulation.cpp", masked("f32")))
        .contains(
            "const Numbers h_sums = running_sums(i_attention_mask, 37, 1, false, false);",
            "const Numbers h_all = numbers(74, [&](size_t i) -> double { return h_sums[i] - 1; });",
            "const Numbers h_last = view(h_all, {2, 5}, {37, 1}, 32);",
            "const Numbers h_wide = view(i_attention_mask, {2, 1, 5, 37}, {37, 0, 0, 1}, 0);",
            "model.write_numbers(t_mask_terms, h_mask_terms);");
    assertThat(statements("model.py", masked("f32")))
        .contains(
            "h_sums = running_sums(i_attention_mask, 37, 1, False, False)",
            "h_all = [h_sums[i] - 1 for i in range(74)]",
            "h_last = view(h_all, [2, 5], [37, 1], 32)",
            "h_wide = view(i_attention_mask, [2, 1, 5, 37], [37, 0, 0, 1], 0)",
            "t_mask_terms = model.tensor(h_mask_terms, 10, 37)");
  }

  private static List<String> statements(String path, Module module) throws IOException {
    for (EmittedFile file : EmittedKernelsTest.emit(module).files()) {
      if (file.path().equals(path)) {
        return Arrays.stream(file.text().split("\n")).map(String::strip).toList();
      }
    }
    throw new AssertionError(path);
  }

  /** Places of ends of texts, at which rows are read, and flags that choose scores. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void placesAndFlagsAgree(String element) throws IOException {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @pooled(%x: ELEMENT[10,40], %s: ELEMENT[2,3,5], %tokens: i64[2,5]) -> ("pooled": ELEMENT[2,40], "first": ELEMENT[2,40], "kept": ELEMENT[2,3,5], "zeros": ELEMENT[2,3,5]) {
                %0 = arg_max(%tokens) {axis = 1} : i64[2] "end"
                %1 = arg_min(%tokens) {axis = 1, select_last} : i64[2] "least"
                %starts = constant [0, 5] : i64[2] "starts"
                %2 = add(%0, %starts) : i64[2] "row"
                %3 = add(%1, %starts) : i64[2] "other row"
                %4 = gather(%x, %2) {axis = 0} : ELEMENT[2,40] "pooled"
                %5 = gather(%x, %3) {axis = 0} : ELEMENT[2,40] "first"
                %6 = reshape(%tokens) {to = [2, 1, 5]} : i64[2,1,5] "keys"
                %7 = cast(%6) {to = bool} : bool[2,1,5] "flags"
                %lowest = constant -1.0E30 : ELEMENT[] "lowest"
                %8 = select(%7, %s, %lowest) : ELEMENT[2,3,5] "kept"
                %zero = constant 0.0 : ELEMENT[] "zero"
                %9 = select(%7, %zero, %s) : ELEMENT[2,3,5] "zeros"
                return %4, %5, %8, %9
              }
            }
            """
                .replace("ELEMENT", element));
    EmulatedProgram program = built(module);
    List<Tensor> inputs =
        new ArrayList<>(EmittedKernelsTest.gaussians(new Random(4), module).subList(0, 2));
    inputs.add(Tensor.longs(Shape.of(2, 5), 3, 0, 7, 7, 0, 9, 9, 1, 0, 2));
    List<Tensor> expected = Evaluator.run(module.graph(), inputs);
    List<Tensor> found = program.run(inputs, LIMIT);
    for (int output = 0; output < 4; output++) {
      // A product of a negative number and 0 is -0.
      double[] numbers = expected.get(output).doubles();
      assertThat(found.get(output).doubles()).containsExactly(numbers, within(Double.MIN_VALUE));
    }
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
    assertThat(statements("model.py", module))
        .contains("h_end = places_of_best(i_tokens, 5, 1, True, False)");
  }

  /** Flags leave queries without keys zeros, but the kernel gives them a mean. */
  @Test
  void flagsOfTheHostAreReported() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @flags(%q: f32[1,1,2,8], %k: f32[1,1,3,8], %v: f32[1,1,3,8], %m: i64[1,1,1,3]) -> ("y": f32[1,1,2,8]) {
                %0 = cast(%m) {to = bool} : bool[1,1,1,3] "flags"
                %1 = attention(%q, %k, %v, %0) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[1,1,2,8] "attention"
                return %1
              }
            }
            """);
    assertThatThrownBy(() -> EmittedKernelsTest.emit(module))
        .hasMessageContaining("error P5201")
        .hasMessageContaining("bool[1,1,1,3]");
  }
}
