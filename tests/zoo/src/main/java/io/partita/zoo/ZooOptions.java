package io.partita.zoo;

import java.util.OptionalInt;

/**
 * The options of a model. Weights depend only on the seed and their names, so layers that two files
 * have in common are equal, and so are both modes of a model.
 *
 * @param seed the seed of the weights
 * @param layers the number of layers, instead of the model's
 * @param mode the mode of a language model
 * @param sequence tokens that attention sees: those of the prompt, or in {@link Mode#DECODE} the
 *     new one and those before it ({@code past} is one less); instead of the model's own default
 * @param dynamic makes the sequence length dynamic, as the symbol {@code seq} or {@code past}
 * @param external always puts the weights into a second file
 */
public record ZooOptions(
    long seed,
    OptionalInt layers,
    Mode mode,
    OptionalInt sequence,
    boolean dynamic,
    boolean external) {
  /** Seed 0, the model's own depth and length, prompt mode, static shapes. */
  public static ZooOptions defaults() {
    return new ZooOptions(0, OptionalInt.empty(), Mode.PROMPT, OptionalInt.empty(), false, false);
  }

  public ZooOptions withSeed(long newSeed) {
    return new ZooOptions(newSeed, layers, mode, sequence, dynamic, external);
  }

  public ZooOptions withLayers(int count) {
    return new ZooOptions(seed, OptionalInt.of(count), mode, sequence, dynamic, external);
  }

  public ZooOptions withMode(Mode newMode) {
    return new ZooOptions(seed, layers, newMode, sequence, dynamic, external);
  }

  public ZooOptions withSequence(int tokens) {
    return new ZooOptions(seed, layers, mode, OptionalInt.of(tokens), dynamic, external);
  }

  public ZooOptions withDynamic(boolean open) {
    return new ZooOptions(seed, layers, mode, sequence, open, external);
  }

  public ZooOptions withExternal(boolean separate) {
    return new ZooOptions(seed, layers, mode, sequence, dynamic, separate);
  }
}
