package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.driver.Target;
import io.partita.driver.cases.PreparedModel;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests two trained character-level Llamas, one in the repository and a larger one beside it. */
@Order(2)
class LanguageModelTest {
  private static final int CONTEXT = 256;

  /**
   * The tolerance of the loss: recorded logits are f32 with another order of summation. Their
   * errors of about 1e-5 have either sign, and the mean is over 16,384 of them.
   */
  private static final double LOSS_ERROR = 1e-5;

  /** Returns the folder lazily, since the larger model may be missing. */
  interface Source {
    Path folder();
  }

  private static final Named<Source> TINY =
      Named.of("tiny-shakespeare", () -> Path.of("../models/tiny-shakespeare"));

  private static final Named<Source> LARGE =
      Named.of(
          "shakespeare-llama",
          () ->
              SharedFolder.require(
                  "models/shakespeare-llama", "it comes with the project's shared data"));

  static Stream<Arguments> modelsAndRoutes() {
    return Stream.of(TINY, LARGE)
        .flatMap(model -> Arrays.stream(Route.values()).map(route -> Arguments.of(model, route)));
  }

  static Stream<Arguments> tinyModelAndRoutes() {
    return modelsAndRoutes().filter(each -> each.get()[0] == TINY);
  }

  static Stream<Arguments> largerModelAndRoutes() {
    return modelsAndRoutes().filter(each -> each.get()[0] == LARGE);
  }

  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("tinyModelAndRoutes")
  void agreesWithTheRecordedLogits(Source source, Route route) {
    new Suite(source.folder()).check(route);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("largerModelAndRoutes")
  void largerModelAgreesWithTheRecordedLogits(Source source, Route route) {
    agreesWithTheRecordedLogits(source, route);
  }

  /** The larger model takes the whole route only: it is slow in the evaluator. */
  static Stream<Arguments> routesOfMuchText() {
    return modelsAndRoutes().filter(each -> each.get()[1] == Route.JAVA);
  }

  static Stream<Arguments> otherRoutesOfMuchText() {
    return modelsAndRoutes().filter(each -> each.get()[0] == TINY && each.get()[1] != Route.JAVA);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("otherRoutesOfMuchText")
  void hasTheRecordedLossByOtherRoutes(Source source, Route route) {
    hasTheRecordedLoss(source, route);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("otherRoutesOfMuchText")
  void prefillWritesTheGreedyTextByOtherRoutes(Source source, Route route) {
    prefillWritesTheGreedyText(source, route);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("routesOfMuchText")
  void hasTheRecordedLoss(Source source, Route route) {
    TrainedModel model = new TrainedModel(source.folder());
    Tensor sequences = model.array("eval.npz", "validation");
    long[] tokens = sequences.longs();
    int length = CONTEXT + 1;
    double sum = 0;
    try (PreparedModel prefill = prefill(model, route, CONTEXT)) {
      for (int start = 0; start < tokens.length; start += length) {
        Tensor ids =
            Tensor.longs(Shape.of(1, CONTEXT), Arrays.copyOfRange(tokens, start, start + CONTEXT));
        Tensor logits = prefill.run(Map.of("input_ids", ids)).get("logits");
        for (int i = 0; i < CONTEXT; i++) {
          sum += surprise(logits, i, (int) tokens[start + i + 1]);
        }
      }
    }
    double loss = sum / (sequences.shape().extent(0) * CONTEXT);
    double recorded = ((Number) model.info("validation_loss")).doubleValue();
    double perplexity = ((Number) model.info("validation_perplexity")).doubleValue();
    assertThat(loss).isCloseTo(recorded, within(LOSS_ERROR));
    assertThat(Math.exp(loss)).isCloseTo(perplexity, within(LOSS_ERROR * perplexity));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} through {1}")
  @MethodSource("routesOfMuchText")
  void prefillWritesTheGreedyText(Source source, Route route) {
    TrainedModel model = new TrainedModel(source.folder());
    long[] expected = model.array("greedy.npz", "tokens").longs();
    int prompt = model.array("greedy.npz", "prompt").size();
    // Later tokens don't affect earlier ones, so the rest of the window may be zeros.
    long[] tokens = Arrays.copyOf(Arrays.copyOf(expected, prompt), expected.length);
    try (PreparedModel prefill = prefill(model, route, tokens.length)) {
      for (int i = prompt; i < tokens.length; i++) {
        Tensor ids = Tensor.longs(Shape.of(1, tokens.length), tokens.clone());
        tokens[i] = best(prefill.run(Map.of("input_ids", ids)).get("logits"), i - 1);
      }
    }
    assertThat(tokens).containsExactly(expected);
    assertThat(model.text(LongStream.of(tokens))).isEqualTo(model.info("greedy_text"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void decoderWithGrowingCacheWritesTheGreedyText(Source source) {
    TrainedModel model = new TrainedModel(source.folder());
    try (CachedDecoder decoder = CachedDecoder.growing(model.network("decode"), Route.EVALUATOR)) {
      writesTheGreedyText(model, decoder);
    }
  }

  static Stream<Named<Source>> decoderWithGrowingCacheWritesTheGreedyText() {
    return Stream.of(TINY);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0}")
  @MethodSource
  void largerDecoderWithGrowingCacheWritesTheGreedyText(Source source) {
    decoderWithGrowingCacheWritesTheGreedyText(source);
  }

  static Stream<Named<Source>> largerDecoderWithGrowingCacheWritesTheGreedyText() {
    return Stream.of(LARGE);
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource
  void decoderWithStateWritesTheGreedyText(Source source, Target target) {
    TrainedModel model = new TrainedModel(source.folder());
    try (CachedDecoder decoder = CachedDecoder.stateful(model.network("decode"), CONTEXT, target)) {
      writesTheGreedyText(model, decoder);
    }
  }

  static Stream<Arguments> decoderWithStateWritesTheGreedyText() {
    return Stream.of(Target.EVALUATOR, Target.JAVA).map(to -> Arguments.of(TINY, to));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource
  void largerDecoderWithStateWritesTheGreedyText(Source source, Target target) {
    decoderWithStateWritesTheGreedyText(source, target);
  }

  static Stream<Arguments> largerDecoderWithStateWritesTheGreedyText() {
    return Stream.of(Target.EVALUATOR, Target.JAVA).map(to -> Arguments.of(LARGE, to));
  }

  private static void writesTheGreedyText(TrainedModel model, CachedDecoder decoder) {
    long[] expected = model.array("greedy.npz", "tokens").longs();
    int prompt = model.array("greedy.npz", "prompt").size();
    long[] tokens = Arrays.copyOf(Arrays.copyOf(expected, prompt), expected.length);
    for (int i = 1; i < tokens.length; i++) {
      Tensor logits = decoder.next(tokens[i - 1], i - 1);
      tokens[i] = i < prompt ? tokens[i] : best(logits, 0);
    }
    assertThat(model.text(LongStream.of(tokens))).isEqualTo(model.info("greedy_text"));
  }

  private static PreparedModel prefill(TrainedModel model, Route route, int length) {
    OnnxModel network = model.network("prefill");
    Tensor shape = Tensor.longs(Shape.of(1, length), new long[length]);
    return route.cases(Tolerance.DEFAULT).prepare(network, Map.of("input_ids", shape));
  }

  /** {@code -ln softmax(logits[row])[token]}. */
  private static double surprise(Tensor logits, int row, int token) {
    int width = (int) logits.shape().extent(2);
    double largest = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < width; i++) {
      largest = Math.max(largest, logits.getDouble(row * width + i));
    }
    double sum = 0;
    for (int i = 0; i < width; i++) {
      sum += Math.exp(logits.getDouble(row * width + i) - largest);
    }
    return Math.log(sum) + largest - logits.getDouble(row * width + token);
  }

  private static int best(Tensor logits, int row) {
    int width = (int) logits.shape().extent(2);
    int best = 0;
    for (int i = 1; i < width; i++) {
      if (logits.getDouble(row * width + i) > logits.getDouble(row * width + best)) {
        best = i;
      }
    }
    return best;
  }
}
