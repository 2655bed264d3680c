package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.LanguageModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The perplexity of a language model: e to the mean negative log likelihood of each token of a
 * sequence but the first, given those before it. A sequence that is longer than the model's context
 * is cut into windows; the last token of one is the first of the next.
 */
final class Perplexity implements Metric {
  /**
   * The largest relative change of the logits before other tokens. Dynamic quantisation lets each
   * token have a small effect on all others.
   */
  private static final double MAX_CHANGE = 0.1;

  private final Path model;
  private final int vocabulary;
  private final LanguageModel.Observer observer;
  private final List<List<Integer>> sequences = new ArrayList<>();

  /**
   * @param data token ids
   * @param model the file, for diagnostics
   * @param program a program for them
   * @param observer receives the outputs of scored tokens, from several threads
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode#DATA} if they don't
   *     fit
   */
  Perplexity(
      EvaluationData data, Path model, LanguageModel program, LanguageModel.Observer observer) {
    this.model = model;
    this.observer = observer;
    this.vocabulary = program.vocabulary();
    boolean isTokens = data.samples().element().isInteger() && data.samples().shape().rank() == 2;
    if (!isTokens || data.length() < 2) {
      throw MetricCode.DATA.at(
          data.where(),
          "sequences of at least 2 token ids, integers [n, length]",
          data.samples().type(),
          "name the array of token ids with --array");
    }
    long[] ids = data.samples().longs();
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || ids[i] >= program.vocabulary()) {
        throw MetricCode.DATA.at(
            data.where() + ", sample " + i / data.length() + ", token " + i % data.length(),
            "ids from 0 to " + (program.vocabulary() - 1) + ", the model's vocabulary",
            ids[i],
            "give text in the tokens of this model");
      }
    }
    int window = program.context() + 1;
    for (int sample = 0; sample < data.count(); sample++) {
      List<Integer> tokens = new ArrayList<>();
      for (int i = 0; i < data.length(); i++) {
        tokens.add((int) ids[sample * data.length() + i]);
      }
      for (int from = 0; from < tokens.size() - 1; from += window - 1) {
        sequences.add(tokens.subList(from, Math.min(tokens.size(), from + window)));
      }
    }
  }

  @Override
  public String name() {
    return "perplexity";
  }

  @Override
  public String unit() {
    return "tokens";
  }

  @Override
  public int samples() {
    return sequences.size();
  }

  /** Replaces the second half of a sequence, on which the logits of the first mustn't depend. */
  @Override
  public void verify(CompiledModel program) {
    List<Integer> tokens = sequences.getFirst();
    tokens = tokens.subList(0, tokens.size() - 1);
    LanguageModel language = new LanguageModel(program, model, Map.of());
    int kept = (tokens.size() + 1) / 2;
    if (language.isDecoder() || kept == tokens.size()) {
      return;
    }
    List<Integer> changed = new ArrayList<>(tokens.subList(0, kept));
    tokens.subList(kept, tokens.size()).forEach(token -> changed.add((token + 1) % vocabulary));
    double change = change(language.each(tokens), language.each(changed), kept);
    if (change > MAX_CHANGE) {
      throw MetricCode.NO_METRIC.at(
          model.toString(),
          "a causal language model, whose logits depend only on their token and those before it",
          String.format(
              Locale.ROOT,
              "logits that change by %.0f %% with the tokens after them, as in an encoder",
              100 * change),
          "evaluate a causal language model, or a classifier");
    }
  }

  /** The relative L2 distance of the logits of the first tokens. */
  private static double change(List<float[]> logits, List<float[]> changed, int tokens) {
    double difference = 0;
    double all = 0;
    for (int i = 0; i < tokens; i++) {
      for (int j = 0; j < logits.get(i).length; j++) {
        double value = logits.get(i)[j];
        double delta = changed.get(i)[j] - value;
        difference += delta * delta;
        all += value * value;
      }
    }
    return all == 0 ? 0 : Math.sqrt(difference / all);
  }

  @Override
  public Score score(CompiledModel program, int sample) {
    List<Integer> sequence = sequences.get(sample);
    List<Integer> given = sequence.subList(0, sequence.size() - 1);
    List<float[]> logits = new LanguageModel(program, model, Map.of(), observer).each(given);
    double sum = 0;
    for (int i = 0; i < given.size(); i++) {
      sum += negativeLogLikelihood(logits.get(i), sequence.get(i + 1));
    }
    return new Score(sum, given.size());
  }

  private static double negativeLogLikelihood(float[] logits, int token) {
    double largest = Double.NEGATIVE_INFINITY;
    for (float logit : logits) {
      largest = Math.max(largest, logit);
    }
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit - largest);
    }
    return Math.log(sum) + largest - logits[token];
  }

  @Override
  public boolean isLargerBetter() {
    return false;
  }

  @Override
  public double value(double mean) {
    return Math.exp(mean);
  }
}
