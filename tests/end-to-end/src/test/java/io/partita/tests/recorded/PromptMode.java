package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.tests.matrix.ReassociationBound;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A trained model that takes a window of tokens at once, and the results of Java for some tokens.
 */
final class PromptMode {
  private final TrainedModel model;
  private final Module module;
  private final Tensor ids;
  private final ReassociationBound java;
  private final Optional<Tensor> record;

  private PromptMode(TrainedModel model, Tensor ids, Optional<Tensor> record) {
    this.model = model;
    this.ids = ids;
    this.record = record;
    ImportOptions options = ImportOptions.NONE.withShape("input_ids", ids.shape());
    Module imported = new OnnxImporter(options).examine(model.network("prefill")).orThrow();
    module = StandardPasses.usual().run(imported, (pass, before, after) -> {});
    java = ReassociationBound.of(module.graph(), inputs());
  }

  /** Uses the tokens of the recorded case. */
  static PromptMode ofRecord(TrainedModel model) {
    return new PromptMode(
        model,
        model.array("prefill/inputs.npz", "input_ids"),
        Optional.of(model.array("prefill/outputs.npz", "logits")));
  }

  /** Uses the first tokens of the recorded text. */
  static PromptMode ofText(TrainedModel model, int length) {
    long[] tokens = model.array("greedy.npz", "tokens").longs();
    Tensor ids = Tensor.longs(Shape.of(1, length), Arrays.copyOf(tokens, length));
    return new PromptMode(model, ids, Optional.empty());
  }

  Module module() {
    return module;
  }

  List<Tensor> inputs() {
    return List.of(ids);
  }

  /**
   * Checks at each position the logits of Java, within the error of reordered sums, and so the same
   * choice; and the recorded logits, if any.
   */
  void verifyLogits(Tensor logits) {
    Tensor expected = java.outputs().getFirst();
    double bound = java.of(0);
    assertThat(logits.shape()).isEqualTo(expected.shape());
    for (int i = 0; i < logits.size(); i++) {
      assertThat(Math.abs(logits.getDouble(i) - expected.getDouble(i)))
          .as("logit %d", i)
          .isLessThanOrEqualTo(bound);
    }
    for (int i = 0; i < ids.size(); i++) {
      assertThat(best(logits, i)).as("choice after %d tokens", i + 1).isEqualTo(best(expected, i));
    }
    record.ifPresent(
        recorded ->
            assertThat(Comparison.of("logits", recorded, logits, Tolerance.DEFAULT).message())
                .isEmpty());
  }

  /** The beginning of the recorded text. */
  String text(int characters) {
    return model.text(LongStream.of(recordedTokens(characters)));
  }

  private long[] recordedTokens(int count) {
    return Arrays.copyOf(model.array("greedy.npz", "tokens").longs(), count);
  }

  /**
   * Continues the recorded prompt, with one run per character. Later tokens don't affect earlier
   * ones, so the rest of the window may be zeros.
   */
  String write(ModuleRunner.Prepared program, int characters) {
    int prompt = model.array("greedy.npz", "prompt").size();
    long[] tokens = Arrays.copyOf(recordedTokens(prompt), characters);
    for (int i = prompt; i < characters; i++) {
      Tensor window = Tensor.longs(ids.shape(), Arrays.copyOf(tokens, ids.size()));
      tokens[i] = best(program.run(List.of(window)).getFirst(), i - 1);
    }
    return model.text(LongStream.of(tokens));
  }

  private static int best(Tensor logits, int position) {
    int width = (int) logits.shape().extent(2);
    int best = 0;
    for (int i = 1; i < width; i++) {
      if (logits.getDouble(position * width + i) > logits.getDouble(position * width + best)) {
        best = i;
      }
    }
    return best;
  }
}
