package io.partita.ir.eval;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Speculative flash decode of one head, as in algorithm 3 of "Attention-Level Speculation": the
 * specification of rewrites and kernels for one query.
 *
 * @param query {@code [d]}, already scaled
 * @param keys {@code [tokens][d]}
 * @param values {@code [tokens][dv]}
 * @param tokens the number of valid tokens
 * @param chunk tokens in a chunk
 * @param workers the number of workers that share the other chunks
 */
public record FlashDecode(
    double[] query, double[][] keys, double[][] values, int tokens, int chunk, int workers) {

  /** A partial output with its statistics: the largest score, and the sum of exponentials. */
  private record Partial(double[] output, double largest, double sum) {
    /** The partial output of two sets of keys, by online softmax. */
    Partial join(Partial other) {
      double most = Math.max(largest, other.largest);
      if (most == Double.NEGATIVE_INFINITY) {
        return this;
      }
      double own = sum * Math.exp(largest - most);
      double others = other.sum * Math.exp(other.largest - most);
      double[] joined = new double[output.length];
      for (int i = 0; i < joined.length; i++) {
        joined[i] = (output[i] * own + other.output[i] * others) / (own + others);
      }
      return new Partial(joined, most, own + others);
    }
  }

  /**
   * The outputs of the sender.
   *
   * @param approximate the output that is sent to the receiver at once
   * @param exact the output of all chunks
   * @param order the chunks in the order in which each worker reads them
   */
  public record Result(double[] approximate, double[] exact, List<List<Integer>> order) {}

  private int chunks() {
    return (tokens + chunk - 1) / chunk;
  }

  public Result run() {
    int last = chunks() - 1;
    List<Integer> ends = last == 0 ? List.of(0) : List.of(0, last);
    List<List<Integer>> order = new ArrayList<>();
    order.add(ends);
    Partial speculated = attention(ends);
    Partial all = speculated;
    int share = Math.ceilDiv(chunks(), workers);
    for (int worker = 0; worker < workers; worker++) {
      List<Integer> own =
          IntStream.range(worker * share, Math.min((worker + 1) * share, chunks()))
              .filter(each -> !ends.contains(each))
              .boxed()
              .toList();
      order.add(own);
      all = all.join(attention(own));
    }
    return new Result(speculated.output, all.output, order);
  }

  private Partial attention(List<Integer> chunks) {
    Partial all = new Partial(new double[values[0].length], Double.NEGATIVE_INFINITY, 0);
    for (int each : chunks) {
      for (int token = each * chunk; token < Math.min((each + 1) * chunk, tokens); token++) {
        double score = 0;
        for (int i = 0; i < query.length; i++) {
          score += query[i] * keys[token][i];
        }
        all = all.join(new Partial(values[token], score, 1));
      }
    }
    return all;
  }

  /** {@code ||Ã - A|| < lambda ||A||}, over all heads. */
  public static boolean isAccepted(List<Result> heads, double lambda) {
    double distance = 0;
    double norm = 0;
    for (Result head : heads) {
      for (int i = 0; i < head.exact.length; i++) {
        distance += Math.pow(head.approximate[i] - head.exact[i], 2);
        norm += Math.pow(head.exact[i], 2);
      }
    }
    return Math.sqrt(distance) < lambda * Math.sqrt(norm);
  }
}
