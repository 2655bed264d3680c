package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two groups of emulated chips speculate on attention. */
class SpeculatingChipsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int FEATURES = 48;

  @TempDir Path scratch;

  private static final int BLOCKS = 2;

  private static final String BLOCK =
      """
          %scale# = constant SCALE : E[48]
          %query# = constant WIDE : E[48,48]
          %key# = constant NARROW : E[48,24]
          %value# = constant NARROW : E[48,24]
          %out# = constant WIDE : E[48,48]
          %n# = rms_norm(%X, %scale#) {axis = 2, epsilon = 1.0E-5, scale} : E[1,1,48] "norm#"
          %q# = linear(%n#, %query#) : E[1,1,48] "query#"
          %qh# = reshape(%q#) {to = [1, 4, 1, 12]} : E[1,4,1,12] "query_heads#"
          %k# = linear(%n#, %key#) : E[1,1,24] "key#"
          %kh# = reshape(%k#) {to = [1, 2, 1, 12]} : E[1,2,1,12] "key_heads#"
          %v# = linear(%n#, %value#) : E[1,1,24] "value#"
          %vh# = reshape(%v#) {to = [1, 2, 1, 12]} : E[1,2,1,12] "value_heads#"
          %kc# = cache_update(%keys#, %kh#, %position) {axis = 2} : E[1,2,CAPACITY,12] "keys#"
          %vc# = cache_update(%values#, %vh#, %position) {axis = 2} : E[1,2,CAPACITY,12] "values#"
          %a# = attention(%qh#, %kc#, %vc#, %length) {scale = 0.6, soft_cap = 0.0, offset = [0], window = 0, key_length} : E[1,4,1,12] "attention#"
          %j# = reshape(%a#) {to = [1, 1, 48]} : E[1,1,48] "joined#"
          %o# = linear(%j#, %out#) : E[1,1,48] "output#"
          %r# = add(%X, %o#) : E[1,1,48] "residual#"
      """;

  /** Two blocks with 4 heads of 12 features, two of which share keys. */
  private static Module decoder(int capacity, String element) {
    Random random = new Random(3);
    StringBuilder states = new StringBuilder();
    StringBuilder inputs = new StringBuilder();
    StringBuilder outputs = new StringBuilder();
    StringBuilder nodes = new StringBuilder();
    StringBuilder results = new StringBuilder();
    String x = "x";
    for (int block = 0; block < BLOCKS; block++) {
      for (String state : List.of("keys" + block, "values" + block)) {
        states.append("  state \"%s\" -> \"new_%s\"\n".formatted(state, state));
        inputs.append(", %%%s: E[1,2,CAPACITY,12]".formatted(state));
        outputs.append("\"new_%s\": E[1,2,CAPACITY,12], ".formatted(state));
      }
      String text = BLOCK.replace("SCALE", "[" + "1.0, ".repeat(FEATURES - 1) + "1.0]");
      while (text.contains("WIDE")) {
        text = text.replaceFirst("WIDE", gaussian(random, FEATURES * FEATURES));
      }
      while (text.contains("NARROW")) {
        text = text.replaceFirst("NARROW", gaussian(random, FEATURES * FEATURES / 2));
      }
      nodes.append(text.replace("%X", "%" + x).replace("#", "" + block));
      results.append("%kc#, %vc#, ".replace("#", "" + block));
      x = "r" + block;
    }
    return PirParser.parse(
        """
        pir 1
        module {
        STATES  range "position" = [0, LAST]
          graph @decoder(%x: E[1,1,48], %position: i64[1]INPUTS) -> (OUTPUTS"y": E[1,1,48]) {
            %one = constant 1 : i64[] "one"
            %length = add(%position, %one) : i64[1] "length"
        NODES    return RESULTS%FINAL
          }
        }
        """
            .replace("FINAL", x)
            .replace("STATES", states)
            .replace("INPUTS", inputs)
            .replace("OUTPUTS", outputs)
            .replace("NODES", nodes)
            .replace("RESULTS", results)
            .replace("CAPACITY", "" + capacity)
            .replace("LAST", "" + (capacity - 1))
            .replaceAll("\\bE\\[", element + "["));
  }

  private static String gaussian(Random random, int count) {
    List<String> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(Float.toString((float) random.nextGaussian() / 5));
    }
    return values.toString();
  }

  private static Program program(int chips, Speculation options, Module module) {
    SpeculateGroups pass = new SpeculateGroups(options, OptionalLong.of(chips));
    return Localization.of(pass.run(module), Localize.CAPACITY);
  }

  /**
   * The decoder in f32, on chips that speculate.
   *
   * @param tokens how many its caches take
   */
  static Program program(int chips, double lambda, int chunk, int tokens) {
    return program(chips, new Speculation(lambda, chunk), tokens);
  }

  static Program program(int chips, Speculation options, int tokens) {
    return program(chips, options, decoder(tokens, "f32"));
  }

  static EmittedMetalium emit(Program program) {
    return new MetaliumBackend(TargetLibrary.find("n150:chips=" + program.devices().size()))
        .emit(program, Optional.empty());
  }

  /** Four chips in two groups. */
  static Program decoder(String element) {
    return decoder(element, Guess.COMPUTED);
  }

  private static Program decoder(String element, Guess guess) {
    return program(4, new Speculation(0.5, 32, guess), decoder(128, element));
  }

  static Map<String, Tensor> token(Program program, int position) {
    Random random = new Random(position + 50);
    double[] x = random.doubles(FEATURES, -1, 1).toArray();
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    inputs.put("x", Tensor.ofDoubles(program.inputs().get("x").type(), x));
    inputs.put("position", Tensor.longs(Shape.of(1), position));
    return inputs;
  }

  private List<double[]> run(Program program, int tokens) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(program);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram built = EmulatedProgram.build(folder, emitted.description().whole());
    List<double[]> outputs = new ArrayList<>();
    // At the last position, with empty caches before.
    EmittedKernelsTest.assertLaunchesAgree(built, List.copyOf(token(program, tokens - 1).values()));
    try (KernelSession session = new KernelSession(built, LIMIT)) {
      for (int position = 0; position < tokens; position++) {
        List<Tensor> inputs = List.copyOf(token(program, position).values());
        outputs.add(session.run(inputs).getFirst().doubles());
      }
    }
    return outputs;
  }

  static List<double[]> expected(Program program, int tokens) {
    ProgramEvaluator reference = new ProgramEvaluator(program, Localize.CAPACITY);
    List<double[]> outputs = new ArrayList<>();
    for (int position = 0; position < tokens; position++) {
      outputs.add(reference.run(token(program, position)).get("y").doubles());
    }
    return outputs;
  }

  /**
   * For f32: the matrix engine cuts factors to 10 and 9 bits of mantissa, so each of six products
   * in a row loses less than 2^-8.4 of its size, and together less than 2^-5.8. bf16 rounds each of
   * some 20 values in a row by 2^-9. Hits and misses differ by more, so a wrong outcome is seen.
   */
  static double tolerance(String element, List<double[]> expected) {
    double largest =
        expected.stream().flatMapToDouble(Arrays::stream).map(Math::abs).max().orElseThrow();
    return largest * (element.equals("f32") ? 0x1p-7 : 20 * 0x1p-9);
  }

  private void requireEqual(int chips, Speculation options, int tokens, String element) {
    Program program = program(chips, options, decoder(tokens, element));
    List<double[]> expected = expected(program, tokens);
    List<double[]> found = run(program, tokens);
    double tolerance = tolerance(element, expected);
    for (int token = 0; token < tokens; token++) {
      assertThat(found.get(token))
          .as("token %d", token)
          .containsExactly(expected.get(token), within(tolerance));
    }
  }

  /** Chunks of less and more than a tile; cores that share the keys in the middle. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "2, 0.6, 5, COMPUTED, 40, f32",
    "4, 1000, 16, COMPUTED, 40, bf16",
    "2, 0.6, 5, SENT, 40, f32",
    "4, 1000, 16, SENT, 40, bf16"
  })
  void allOutcomesAgreeWithTheReference(
      int chips, double lambda, int chunk, Guess guess, int tokens, String element) {
    requireEqual(chips, new Speculation(lambda, chunk, guess), tokens, element);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "2, 0, 5, COMPUTED, 80, f32",
    "2, 1000, 5, COMPUTED, 80, f32",
    "2, 0, 40, COMPUTED, 130, f32",
    "4, 0, 5, COMPUTED, 40, f32",
    "4, 1000, 40, COMPUTED, 130, f32",
    "4, 0.6, 5, COMPUTED, 40, f32",
    "2, 0, 16, COMPUTED, 40, bf16",
    "2, 0, 5, SENT, 80, f32",
    "2, 1000, 40, SENT, 130, f32",
    "4, 0, 40, SENT, 130, f32",
    "4, 0.6, 5, SENT, 40, f32"
  })
  void otherOutcomesAgreeWithTheReference(
      int chips, double lambda, int chunk, Guess guess, int tokens, String element) {
    allOutcomesAgreeWithTheReference(chips, lambda, chunk, guess, tokens, element);
  }

  @Test
  void acceptedApproximationsChangeResults() {
    List<double[]> misses = expected(program(2, 0, 5, 40), 40);
    List<double[]> hits = expected(program(2, 1000, 5, 40), 40);
    List<double[]> mixed = expected(program(2, 0.6, 5, 40), 40);
    double tolerance = tolerance("f32", misses);
    assertThat(distance(misses, hits)).isGreaterThan(2 * tolerance);
    assertThat(distance(misses, mixed)).isGreaterThan(2 * tolerance);
    assertThat(distance(hits, mixed)).isGreaterThan(2 * tolerance);
  }

  static double distance(List<double[]> one, List<double[]> other) {
    double largest = 0;
    for (int token = 0; token < one.size(); token++) {
      for (int i = 0; i < FEATURES; i++) {
        largest = Math.max(largest, Math.abs(one.get(token)[i] - other.get(token)[i]));
      }
    }
    return largest;
  }

  /** The host program of two chips that speculate. */
  static String hostOfDecoder() throws IOException {
    return emit(decoder("f32")).files().stream()
        .filter(file -> file.path().equals("model.py"))
        .findFirst()
        .orElseThrow()
        .text();
  }

  @Test
  void kernelsOfSpeculationAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(decoder("f32")).files()) {
      if (file.path()
          .matches(
              "kernels/(decision|choice|speculated|gated_linear.*add).*|emulation.cpp|model.py")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("speculation.golden").assertMatches("n150", text.toString());
  }

  /** Every kernel of a guarded region reads the word of its core first. */
  @Test
  void gatedKernelsBeginWithTheirGate() throws IOException {
    int gated = 0;
    for (EmittedFile file : emit(decoder("f32")).files()) {
      if (file.path().startsWith("kernels/gated_")) {
        assertThat(file.text())
            .as(file.path())
            .containsPattern(
                "void kernel_main\\(\\) \\{\n"
                    + "    if \\(\\*reinterpret_cast<volatile tt_l1_ptr uint32_t\\*>"
                    + "\\(get_arg_val<uint32_t>\\(\\d+\\)\\) == 0\\) \\{\n        return;");
        gated++;
      }
    }
    assertThat(gated).isGreaterThan(5);
  }

  /** They aren't those of a speculation, but an attention of its own. */
  @Tag("thorough")
  @Test
  void approximationsOfOtherKeysAreComputed() {
    String text =
        """
        pir 1
        module {
          state "k" -> "new_k"
          state "v" -> "new_v"
          graph @other(%x: f32[1,1,1,48], %position: i64[1], %k: f32[1,1,64,48], %v: f32[1,1,64,48]) -> ("new_k": f32[1,1,64,48], "new_v": f32[1,1,64,48], "y": f32[1,1,1,48]) {
            %one = constant 1 : i64[] "one"
            %length = add(%position, %one) : i64[1] "length"
            %kc = cache_update(%k, %x, %position) {axis = 2} : f32[1,1,64,48] "keys"
            %vc = cache_update(%v, %x, %position) {axis = 2} : f32[1,1,64,48] "values"
            %places = constant [8, 9] : i64[2] "places"
            %ks = slice(%kc) {starts = [0, 0, 0, 0], sizes = [1, 1, 2, 48], steps = [1, 1, 1, 1]} : f32[1,1,2,48] "ks"
            %kg = gather(%kc, %places) {axis = 2} : f32[1,1,2,48] "kg"
            %ka = concat(%ks, %kg) {axis = 2} : f32[1,1,4,48] "ka"
            %vs = slice(%vc) {starts = [0, 0, 0, 0], sizes = [1, 1, 2, 48], steps = [1, 1, 1, 1]} : f32[1,1,2,48] "vs"
            %vg = gather(%vc, %places) {axis = 2} : f32[1,1,2,48] "vg"
            %va = concat(%vs, %vg) {axis = 2} : f32[1,1,4,48] "va"
            %mask = constant [true, true, true, true] : bool[4] "mask"
            %m = reshape(%mask) {to = [1, 1, 1, 4]} : bool[1,1,1,4] "m"
            %guess = attention(%x, %ka, %va, %m) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[1,1,1,48] "guess"
            %exact = attention(%x, %kc, %vc, %length) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, key_length} : f32[1,1,1,48] "exact"
            %y = add(%guess, %exact) : f32[1,1,1,48] "y"
            return %kc, %vc, %y
          }
        }
        """;
    int tokens = 12;
    Program program = Localization.of(PirParser.parse(text), Localize.CAPACITY);
    List<double[]> expected = expected(program, tokens);
    List<double[]> found = run(program, tokens);
    for (int token = 0; token < tokens; token++) {
      assertThat(found.get(token))
          .as("token %d", token)
          .containsExactly(expected.get(token), within(tolerance("f32", expected)));
    }
  }
}
