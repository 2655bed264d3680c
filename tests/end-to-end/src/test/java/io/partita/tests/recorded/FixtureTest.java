package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnxruntime.OrtException;
import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.PreparedModel;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every fixture gives its recorded results, and those of ONNX Runtime in this process, also for new
 * inputs.
 */
class FixtureTest {
  private static final long SEED = 20_251;
  private static final boolean SATURATES = saturates();
  private static final Set<String> SATURATED = new ConcurrentSkipListSet<>();

  @AfterAll
  static void tellOfSaturation() {
    if (!SATURATED.isEmpty()) {
      System.err.println(
          "ONNX RUNTIME'S PRODUCTS OF BYTES SATURATE ON THIS PROCESSOR, which has no VNNI; compared"
              + " with their recordings, and with saturating sums: "
              + String.join(", ", SATURATED));
    }
  }

  private static boolean saturates() {
    try {
      String processor = Files.readString(Path.of("/proc/cpuinfo"));
      return processor.contains(" avx2 ") && !processor.contains("vnni");
    } catch (IOException e) {
      return false;
    }
  }

  /** Fixtures that this ONNX Runtime can't run or feed, with the reasons. */
  private static final Map<String, String> NOT_IN_ONNX_RUNTIME =
      Map.of(
          "microsoft/dequantize_linear_u16",
          "its Java interface takes no u16",
          "microsoft/group_query_attention_prompt_not_causal",
          "'causal' is an attribute of a newer ONNX Runtime",
          "microsoft/multi_head_attention_packed_kv",
          "packed keys and values are not implemented for the CPU",
          "microsoft/multi_head_attention_packed_qkv",
          "packed queries, keys and values are not implemented for the CPU",
          "microsoft/skip_layer_normalization_all_outputs",
          "its Java interface can't return an output that the CPU kernel leaves out",
          "microsoft/skip_simplified_layer_normalization_inv_std_output",
          "its Java interface can't return an output that the CPU kernel leaves out");

  /** Fixtures whose results on other inputs are meaningless, with the reasons. */
  private static final Map<String, String> RECORDED_INPUTS_ONLY =
      Map.of(
          "microsoft/attention_mask_1d_end_start",
          "bounds that change places mask whole rows: scores near -10000 keep three decimals",
          "quantized/llama_nbits_symmetric",
          "ONNX Runtime rounds activations to 8 bits; the tolerance is what that costs here");

  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("oneRouteOfEach")
  void agreesWithTheRecordingAndOnnxRuntime(Fixture fixture, Route route) throws OrtException {
    Tolerance tolerance = fixture.tolerance();
    Map<String, Tensor> recorded = fixture.inputs();
    List<String> differences = new ArrayList<>();
    try (PreparedModel prepared = route.cases(tolerance).prepare(fixture.model(), recorded)) {
      Map<String, Tensor> found = prepared.run(recorded);
      compare("recorded", fixture.outputs(), found, tolerance, differences);
      if (!NOT_IN_ONNX_RUNTIME.containsKey(fixture.toString())) {
        try (OnnxRuntime oracle = new OnnxRuntime(fixture.recorded().model())) {
          Map<String, Tensor> expected = oracle.run(recorded);
          if (isSaturated(fixture, expected)) {
            SATURATED.add(fixture.toString());
            Comparison explained =
                route.cases(Tolerance.DEFAULT).compare(fixture.model(), recorded, expected, found);
            if (!explained.passes()) {
              differences.add("ONNX Runtime, saturating: " + explained.message());
            }
          } else {
            compare("ONNX Runtime", expected, found, tolerance, differences);
            if (!RECORDED_INPUTS_ONLY.containsKey(fixture.toString())) {
              Map<String, Tensor> others = OtherInputs.like(recorded, prepared.inputNames(), SEED);
              compare(
                  "other inputs", oracle.run(others), prepared.run(others), tolerance, differences);
            }
          }
        }
      }
    }
    assertThat(differences).isEmpty();
  }

  /** Emitted Java is the raised model, which only shows where a difference is. */
  static Stream<Arguments> otherRoutes() {
    return routes(false).filter(each -> each.get()[1] != Route.RAISED);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource
  void otherRoutes(Fixture fixture, Route route) throws OrtException {
    agreesWithTheRecordingAndOnnxRuntime(fixture, route);
  }

  /** Half of the fixtures take the whole route, to emitted Java. */
  private static Route usual(int fixture) {
    return switch (fixture % 4) {
      case 1 -> Route.EVALUATOR;
      case 3 -> Route.RAISED;
      default -> Route.JAVA;
    };
  }

  static Stream<Arguments> oneRouteOfEach() {
    return routes(true);
  }

  private static Stream<Arguments> routes(boolean areUsual) {
    List<Fixture> fixtures = Fixture.all();
    return IntStream.range(0, fixtures.size())
        .boxed()
        .flatMap(
            i ->
                Arrays.stream(Route.values())
                    .filter(route -> (route == usual(i)) == areUsual)
                    .map(route -> Arguments.of(fixtures.get(i), route)));
  }

  /**
   * Whether ONNX Runtime doesn't give its own recorded results, on a processor on which it sums
   * pairs of products of bytes in 16 bits, which saturates: one of x86 without VNNI.
   */
  private static boolean isSaturated(Fixture fixture, Map<String, Tensor> found) {
    List<String> differences = new ArrayList<>();
    compare("recorded", fixture.outputs(), found, fixture.tolerance(), differences);
    return !differences.isEmpty() && SATURATES;
  }

  private static void compare(
      String which,
      Map<String, Tensor> expected,
      Map<String, Tensor> found,
      Tolerance tolerance,
      List<String> differences) {
    assertThat(found.keySet()).containsExactlyInAnyOrderElementsOf(expected.keySet());
    found.forEach(
        (name, tensor) -> {
          Comparison comparison = Comparison.of(name, expected.get(name), tensor, tolerance);
          if (!comparison.passes()) {
            differences.add(which + ": " + comparison.message());
          }
        });
  }
}
