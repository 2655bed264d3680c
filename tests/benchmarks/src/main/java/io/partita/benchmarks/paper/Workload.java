package io.partita.benchmarks.paper;

import io.partita.driver.Distribution;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.zoo.Mode;
import java.util.ArrayList;
import java.util.List;

/** A block that the paper measures alone, in 8 bits: its section V-A. */
public enum Workload {
  AUTOREGRESSIVE(
      "autoregressive",
      "TinyLlama-42M, a token after 127 others",
      "token",
      "tinyllama-42m-block",
      Mode.DECODE,
      128,
      2048,
      List.of(1, 2, 4, 8)),
  PROMPT(
      "prompt",
      "TinyLlama-42M, a prompt of 16 tokens",
      "prompt",
      "tinyllama-42m-block",
      Mode.PROMPT,
      16,
      2048,
      List.of(1, 2, 4, 8)),
  MOBILEBERT(
      "mobilebert",
      "MobileBERT, 268 tokens",
      "MobileBERT",
      "mobilebert-block",
      Mode.PROMPT,
      268,
      512,
      List.of(1, 2, 4)),
  AUTOREGRESSIVE_64(
      "autoregressive-64h",
      "TinyLlama-42M with 64 heads, a token after 127 others",
      "token, 64 heads",
      "tinyllama-42m-64h-block",
      Mode.DECODE,
      128,
      2048,
      List.of(1, 2, 4, 8, 16, 32, 64)),
  PROMPT_64(
      "prompt-64h",
      "TinyLlama-42M with 64 heads, a prompt of 16 tokens",
      "prompt, 64 heads",
      "tinyllama-42m-64h-block",
      Mode.PROMPT,
      16,
      2048,
      List.of(1, 2, 4, 8, 16, 32, 64));

  /** The features of all these models. */
  public static final int FEATURES = 512;

  /** The strategy with which each chip has all weights. */
  static final String SEQUENCE = "sequence";

  private static final int MOST_GATHERED = 8;

  /** The chips that are linked to each other. */
  private static final int GROUP = 4;

  private final String text;
  private final String title;
  private final String shortTitle;
  private final String model;
  private final Mode mode;
  private final int tokens;
  private final int inner;
  private final List<Integer> chips;

  Workload(
      String text,
      String title,
      String shortTitle,
      String model,
      Mode mode,
      int tokens,
      int inner,
      List<Integer> chips) {
    this.text = text;
    this.title = title;
    this.shortTitle = shortTitle;
    this.model = model;
    this.mode = mode;
    this.tokens = tokens;
    this.inner = inner;
    this.chips = chips;
  }

  /** Its name in files. */
  public String text() {
    return text;
  }

  /** Its name for readers. */
  public String title() {
    return title;
  }

  /** Its name in pictures. */
  String shortTitle() {
    return shortTitle;
  }

  /** The model of the zoo. */
  public String model() {
    return model;
  }

  public Mode mode() {
    return mode;
  }

  /** The tokens that attention sees. */
  public int tokens() {
    return tokens;
  }

  /** The numbers of chips. */
  public List<Integer> chips() {
    return chips;
  }

  /**
   * The strategies to choose from: a token can be gathered by columns, and several tokens can have
   * their norms, or all that isn't attention, on different chips or groups of chips. Gathers take
   * more messages than sums, which more chips don't make up for.
   */
  public List<String> strategies(int chips) {
    if (mode == Mode.DECODE) {
      return chips > MOST_GATHERED ? List.of("tensor") : List.of("tensor", "tensor,norm=columns");
    }
    List<String> strategies = new ArrayList<>(List.of("tensor", "tensor,norm=tokens", SEQUENCE));
    if (chips > GROUP) {
      strategies.add("sequence=" + chips / GROUP + ",tensor=" + GROUP + ",norm=tokens");
    }
    return strategies;
  }

  /** Returns the number of chips, or of groups of chips, that have all weights each. */
  static int copies(String strategy, int chips) {
    return Distribution.strategy(chips, strategy)
        .map(split -> split.devices(Strategy.Kind.SEQUENCE))
        .orElse(1);
  }

  /** The multiplications of the block's products, those of attention included. */
  public long macs() {
    long rows = mode == Mode.DECODE ? 1 : tokens;
    return rows * (weights() + 2L * tokens * FEATURES);
  }

  /** The bytes of keys and values that a token's attention reads from the cache. */
  long cache() {
    return mode == Mode.DECODE ? 2L * tokens * FEATURES : 0;
  }

  /** The elements of the block's matrices, which are bytes. */
  public long weights() {
    return 4L * FEATURES * FEATURES + 2L * FEATURES * inner;
  }
}
