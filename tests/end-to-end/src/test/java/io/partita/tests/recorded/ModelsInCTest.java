package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.PreparedModel;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.npz.Npz;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Models with a dynamic batch, as C on this host, give the results of the reference evaluator on
 * two batches. Operations without a kernel are refused, never wrong. {@link SupportedModelsTest}
 * has the recorded batch of all models.
 */
@Order(Integer.MAX_VALUE)
@Execution(ExecutionMode.CONCURRENT)
class ModelsInCTest {
  private static final Path FIXTURES = Path.of("../fixtures");
  private static final long SEED = 77;

  /** Two programs compute the same sums in different orders. */
  private static final Tolerance TOLERANCE =
      new Tolerance(OptionalDouble.of(1e-3), OptionalDouble.of(1e-4));

  @BeforeEach
  void requireCompiler() {
    EmittedC.requireCompiler();
  }

  private static CaseRunner inC(Tolerance tolerance) {
    return new CaseRunner(
        EmittedC.unoptimised(ChipTarget.of("siracusa", Map.of()), Optional.empty()),
        StandardPasses.forChecking(Target.SIRACUSA),
        tolerance);
  }

  @ParameterizedTest
  @ValueSource(strings = "vit/ts_sdpa_dynamic")
  void twoBatches(String fixture) {
    TestCase test = TestCase.find(FIXTURES.resolve(fixture)).getFirst();
    assertThat(differences(test, TOLERANCE)).isEmpty();
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"bert/ts_eager_dynamic", "llama/dynamo_sdpa_kv"})
  void moreModelsInTwoBatches(String fixture) {
    twoBatches(fixture);
  }

  /** Every eighteenth one; {@link SupportedModelsTest} runs all with their recorded batch. */
  static List<Fixture> fixtures() {
    return chosen(number -> number % 18 == 0);
  }

  /** Every third one but those. */
  static List<Fixture> otherFixtures() {
    return chosen(number -> number % 18 != 0 && number % 3 == 0);
  }

  private static List<Fixture> chosen(IntPredicate which) {
    List<Fixture> all =
        Fixture.all().stream()
            .filter(fixture -> hasDynamicBatch(fixture.model().inputTypes()))
            .toList();
    return IntStream.range(0, all.size()).filter(which).mapToObj(all::get).toList();
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("fixtures")
  void fixturesPassOrAreRefused(Fixture fixture) {
    requireRightOrRefused(fixture.recorded(), larger(TOLERANCE, fixture.tolerance()));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @MethodSource("otherFixtures")
  void otherFixturesPassOrAreRefused(Fixture fixture) {
    fixturesPassOrAreRefused(fixture);
  }

  static Stream<TestCase> someUserModels() {
    return userModels(number -> number % 6 == 0);
  }

  static Stream<TestCase> otherUserModels() {
    return userModels(number -> number % 6 != 0);
  }

  private static Stream<TestCase> userModels(IntPredicate chosen) {
    Optional<Path> folder = SharedFolder.find("user-models", "see its README for the exporters");
    assumeThat(folder).isPresent();
    List<TestCase> all =
        TestCase.find(folder.orElseThrow()).stream()
            .filter(test -> hasDynamicBatch(OnnxModel.read(test.model()).inputTypes()))
            .toList();
    return IntStream.range(0, all.size()).filter(chosen).mapToObj(all::get);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("someUserModels")
  void someUserModelsPassInTwoBatches(TestCase test) {
    requireRightOrRefused(test, TOLERANCE);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @MethodSource("otherUserModels")
  void otherUserModelsPassInTwoBatches(TestCase test) {
    requireRightOrRefused(test, TOLERANCE);
  }

  private static void requireRightOrRefused(TestCase test, Tolerance tolerance) {
    try {
      assertThat(differences(test, tolerance)).isEmpty();
    } catch (PartitaException refused) {
      assertThat(refused.diagnostics())
          .allSatisfy(each -> assertThat(each.code().id()).doesNotMatch("P441.|P5.*|P3.*"));
    }
  }

  /** With 16-bit elements, C rounds less often than the reference. */
  private static Tolerance larger(Tolerance one, Tolerance other) {
    return new Tolerance(
        larger(one.relative(), other.relative()), larger(one.absolute(), other.absolute()));
  }

  private static OptionalDouble larger(OptionalDouble one, OptionalDouble other) {
    return OptionalDouble.of(Math.max(one.orElse(0), other.orElse(0)));
  }

  private static boolean hasDynamicBatch(Map<String, TensorType> declared) {
    return declared.values().stream().anyMatch(type -> batchAxis(type) >= 0);
  }

  private static List<String> differences(TestCase test, Tolerance tolerance) {
    OnnxModel model = OnnxModel.read(test.model());
    Map<String, Tensor> recorded = Npz.read(test.model().resolveSibling("inputs.npz"));
    Map<String, Tensor> inputs = twice(recorded, model.inputTypes());
    try (PreparedModel reference = Route.EVALUATOR.cases(tolerance).prepare(model, inputs);
        PreparedModel emitted = inC(tolerance).prepare(model, inputs)) {
      Map<String, Tensor> expected = reference.run(inputs);
      Map<String, Tensor> found = emitted.run(inputs);
      if (inC(tolerance).compare(model, inputs, expected, found).passes()) {
        return List.of();
      }
      // A level of quantised activations is more than any tolerance of sums.
      Comparison worst = inC(Tolerance.DEFAULT).compare(model, inputs, expected, found);
      return worst.passes() ? List.of() : List.of(worst.message());
    }
  }

  /** The recorded batch followed by another one, in each input that has a batch. */
  private static Map<String, Tensor> twice(
      Map<String, Tensor> recorded, Map<String, TensorType> declared) {
    Map<String, Tensor> others = OtherInputs.like(recorded, recorded.keySet(), SEED);
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    recorded.forEach(
        (name, tensor) -> {
          int axis = batchAxis(declared.get(name));
          Movement.Concat concat = new Movement.Concat(Math.max(0, axis));
          inputs.put(
              name,
              axis < 0
                  ? tensor
                  : OpEvaluator.evaluate(concat, List.of(tensor, others.get(name))).getFirst());
        });
    return inputs;
  }

  private static int batchAxis(TensorType type) {
    List<Dim> dims = type == null ? List.of() : type.shape().dims();
    for (int axis = 0; axis < dims.size(); axis++) {
      if (!dims.get(axis).isStatic() && dims.get(axis).toString().matches("(?i).*batch.*")) {
        return axis;
      }
    }
    return -1;
  }
}
