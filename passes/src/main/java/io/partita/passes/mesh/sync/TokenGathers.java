package io.partita.passes.mesh.sync;

import java.util.Locale;
import java.util.Optional;

/**
 * What devices gather for attention in blocks whose tokens are split over them. In other blocks,
 * they gather what has the fewest bytes.
 *
 * @param features the blocks with {@link Kind#FEATURES}
 * @param keysAndValues the blocks with {@link Kind#KV}
 */
public record TokenGathers(BlockSelection features, BlockSelection keysAndValues) {
  /** The fewest bytes in all blocks. */
  public static final TokenGathers FEWEST =
      new TokenGathers(BlockSelection.NONE, BlockSelection.NONE);

  /** What devices gather. */
  public enum Kind {
    /** The features from which each device computes the keys and values of all tokens. */
    FEATURES,
    /** Keys and values, which each device computes of its own tokens. */
    KV;

    static Optional<Kind> parse(String text) {
      return text.equals(FEATURES.toString())
          ? Optional.of(FEATURES)
          : text.equals(KV.toString()) ? Optional.of(KV) : Optional.empty();
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns what devices gather in a block; empty for what has the fewest bytes. */
  public Optional<Kind> of(int block) {
    return features.contains(block)
        ? Optional.of(Kind.FEATURES)
        : keysAndValues.contains(block) ? Optional.of(Kind.KV) : Optional.empty();
  }
}
