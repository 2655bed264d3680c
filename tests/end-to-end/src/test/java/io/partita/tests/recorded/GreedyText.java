package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.tensor.Tensor;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The text that a trained model writes with greedy decoding. */
final class GreedyText {
  private static final int CONTEXT = 256;

  private GreedyText() {}

  /**
   * Checks that a decoder writes the recorded text: each character after the prompt is its
   * likeliest one after its own text.
   *
   * @param most the most characters, including the prompt
   */
  static void writes(TrainedModel model, int most, ModuleRunner runner) {
    long[] all = model.array("greedy.npz", "tokens").longs();
    long[] expected = Arrays.copyOf(all, Math.min(all.length, most));
    int prompt = model.array("greedy.npz", "prompt").size();
    long[] tokens = Arrays.copyOf(Arrays.copyOf(expected, prompt), expected.length);
    try (CachedDecoder decoder = CachedDecoder.stateful(model.network("decode"), CONTEXT, runner)) {
      for (int i = 1; i < tokens.length; i++) {
        Tensor logits = decoder.next(tokens[i - 1], i - 1);
        tokens[i] = i < prompt ? tokens[i] : best(logits);
      }
    }
    assertThat(model.text(LongStream.of(tokens))).isEqualTo(model.text(LongStream.of(expected)));
  }

  /** The index of the first largest element. */
  static int best(Tensor logits) {
    return IntStream.range(0, logits.size())
        .reduce(0, (a, b) -> logits.getDouble(b) > logits.getDouble(a) ? b : a);
  }
}
