package io.partita.passes.graph.speculate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.eval.FlashDecode;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SpeculateAttentionTest {
  private static final int HEADS = 4;
  private static final int KV_HEADS = 2;
  private static final int CAPACITY = 30;
  private static final int SIZE = 8;
  private static final double SCALE = 0.5;

  /** An attention over a cache, or with {@code seq} > 1 over a prompt. */
  private static Module module(int seq, boolean cached, long window) {
    GraphBuilder graph = new GraphBuilder("attention");
    List<io.partita.ir.graph.Value> operands = new ArrayList<>();
    operands.add(graph.input("q", type(HEADS, seq)));
    operands.add(graph.input("k", type(KV_HEADS, CAPACITY)));
    operands.add(graph.input("v", type(KV_HEADS, CAPACITY)));
    if (cached) {
      operands.add(graph.input("length", TensorType.of(ElementType.I64, 1)));
    }
    graph.output(
        "y",
        graph
            .at("attention")
            .add(new Attention(SCALE, 0, !cached, Dim.ZERO, window, false, cached), operands));
    return new Module(graph.finish());
  }

  private static TensorType type(int heads, int tokens) {
    return TensorType.of(ElementType.F32, 1, heads, tokens, SIZE);
  }

  private static Tensor random(TensorType type, SplittableRandom random) {
    double[] values = random.doubles(type.shape().elements(), -1, 1).toArray();
    return Tensor.ofDoubles(type, values);
  }

  private static List<Tensor> inputs(int seq, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return List.of(
        random(type(HEADS, seq), random),
        random(type(KV_HEADS, CAPACITY), random),
        random(type(KV_HEADS, CAPACITY), random));
  }

  private static List<Tensor> cached(List<Tensor> inputs, int tokens) {
    List<Tensor> all = new ArrayList<>(inputs);
    all.add(Tensor.longs(Shape.of(1), tokens));
    return all;
  }

  private static List<Tensor> run(Module module, double lambda, long chunk, List<Tensor> inputs) {
    return Evaluator.run(
        new SpeculateAttention(new Speculation(lambda, chunk), true).run(module).graph(), inputs);
  }

  /** The heads' results by the specification, for the query at {@code row}. */
  private static List<FlashDecode.Result> specified(
      List<Tensor> inputs, int row, int tokens, int chunk) {
    List<FlashDecode.Result> heads = new ArrayList<>();
    double[] q = inputs.get(0).doubles();
    int seq = (int) inputs.get(0).shape().extent(2);
    for (int head = 0; head < HEADS; head++) {
      int from = (head * seq + row) * SIZE;
      double[] query = Arrays.copyOfRange(q, from, from + SIZE);
      for (int i = 0; i < SIZE; i++) {
        query[i] *= SCALE;
      }
      int kvHead = head / (HEADS / KV_HEADS);
      heads.add(
          new FlashDecode(
                  query, rows(inputs.get(1), kvHead), rows(inputs.get(2), kvHead), tokens, chunk, 2)
              .run());
    }
    return heads;
  }

  private static double[][] rows(Tensor cache, int head) {
    double[][] rows = new double[CAPACITY][];
    for (int token = 0; token < CAPACITY; token++) {
      int from = (head * CAPACITY + token) * SIZE;
      rows[token] = Arrays.copyOfRange(cache.doubles(), from, from + SIZE);
    }
    return rows;
  }

  private static double[] chosen(FlashDecode.Result head, boolean accepted) {
    return accepted ? head.approximate() : head.exact();
  }

  @Test
  void aTokenGetsWhatSpeculativeFlashDecodeSpecifies() {
    List<Tensor> inputs = inputs(1, 5);
    int hits = 0;
    for (int chunk : new int[] {4, 7, 15}) {
      for (int tokens = 1; tokens <= CAPACITY; tokens++) {
        for (double lambda : new double[] {0, 0.3, 100}) {
          List<Tensor> outputs = run(module(1, true, 0), lambda, chunk, cached(inputs, tokens));
          List<FlashDecode.Result> heads = specified(inputs, 0, tokens, chunk);
          boolean isAccepted = outputs.get(1).getBoolean(0);
          assertThat(isAccepted)
              .as("chunk %d, %d tokens, lambda %s", chunk, tokens, lambda)
              .isEqualTo(FlashDecode.isAccepted(heads, lambda));
          hits += lambda == 0.3 && isAccepted ? 1 : 0;
          double[] expected =
              heads.stream()
                  .flatMapToDouble(head -> Arrays.stream(chosen(head, isAccepted)))
                  .toArray();
          assertThat(outputs.getFirst().doubles()).containsExactly(expected, within(1e-5));
        }
      }
    }
    assertThat(hits).isBetween(10, 80);
  }

  @Test
  void eachTokenOfAPromptIsVerifiedByItself() {
    List<Tensor> inputs = inputs(CAPACITY, 6);
    List<Tensor> outputs = run(module(CAPACITY, false, 0), 0.3, 6, inputs);
    double[] y = outputs.getFirst().doubles();
    int hits = 0;
    for (int row = 0; row < CAPACITY; row++) {
      List<FlashDecode.Result> heads = specified(inputs, row, row + 1, 6);
      boolean isAccepted = outputs.get(1).getBoolean(row);
      assertThat(isAccepted).as("row %d", row).isEqualTo(FlashDecode.isAccepted(heads, 0.3));
      hits += isAccepted ? 1 : 0;
      for (int head = 0; head < HEADS; head++) {
        int from = (head * CAPACITY + row) * SIZE;
        assertThat(Arrays.copyOfRange(y, from, from + SIZE))
            .containsExactly(chosen(heads.get(head), isAccepted), within(1e-5));
      }
    }
    assertThat(hits).isBetween(12, CAPACITY - 1);
  }

  @Test
  void lambdaZeroKeepsAllBits() {
    for (long window : new long[] {0, 9}) {
      List<Tensor> inputs = cached(inputs(1, 7), 23);
      Module module = module(1, true, window);
      assertThat(run(module, 0, 5, inputs).getFirst())
          .isEqualTo(Evaluator.run(module.graph(), inputs).getFirst());
    }
  }

  /** With a window, the approximation reads no token that the exact attention doesn't. */
  @Test
  void aWindowHidesTheFirstChunk() {
    List<Tensor> inputs = cached(inputs(1, 8), 28);
    // Tokens 20 to 27 are visible, all in the last chunk.
    List<Tensor> outputs = run(module(1, true, 8), 1e-4, 10, inputs);
    assertThat(outputs.get(1).getBoolean(0)).isTrue();
    assertThat(run(module(1, true, 9), 1e-4, 10, inputs).get(1).getBoolean(0)).isFalse();
  }

  @Test
  void tooShortContextsAreRefused() {
    assertThatThrownBy(() -> run(module(1, true, 0), 0.1, 16, List.of()))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4242")
        .hasMessageContaining("a context of 2 chunks or more: 32 tokens")
        .hasMessageContaining("choose chunk=15 or less, or a longer context");
  }

  @Test
  void attentionsOfEncodersAreRefused() {
    GraphBuilder graph = new GraphBuilder("encoder");
    graph.output(
        "y",
        graph.add(
            new Attention(SCALE, 0, false, Dim.ZERO, 0, false, false),
            graph.input("q", type(HEADS, 4)),
            graph.input("k", type(KV_HEADS, CAPACITY)),
            graph.input("v", type(KV_HEADS, CAPACITY))));
    Module encoder = new Module(graph.finish());
    assertThatThrownBy(() -> run(encoder, 0.1, 4, List.of()))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4243")
        .hasMessageContaining("speculate on a decoder");
  }

  @Test
  void optionsAreRead() {
    assertThat(Speculation.parse("--speculate", "lambda=0.1,chunk=16"))
        .isEqualTo(new Speculation(0.1, 16));
    assertThat(Speculation.parse("--speculate", "chunk=8, lambda=0"))
        .isEqualTo(new Speculation(0, 8));
    Speculation sent = Speculation.parse("--speculate", "lambda=0.1,guess=sent,chunk=16");
    assertThat(sent).isEqualTo(new Speculation(0.1, 16, Speculation.Guess.SENT));
    assertThat(Speculation.parse("--speculate", sent.toString())).isEqualTo(sent);
    for (String text :
        List.of(
            "lambda=-1,chunk=8",
            "lambda=0.1",
            "lambda=0.1,chunk=0",
            "lambda=0.1,chunk=8,x=1",
            "lambda=0.1,guess=sent",
            "lambda=0.1,chunk=8,guess=maybe",
            "lambda=NaN,chunk=8",
            "lambda=1,lambda=2",
            "")) {
      assertThatThrownBy(() -> Speculation.parse("--speculate", text))
          .as(text)
          .isInstanceOf(PartitaException.class)
          .hasMessageContaining("P4241");
    }
    assertThatThrownBy(() -> Speculation.parse("--speculate", "lambda=-1,chunk=8"))
        .hasMessageContaining("--speculate, lambda")
        .hasMessageContaining("a number of 0 or more");
  }
}
