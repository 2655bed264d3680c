package io.partita.passes.mesh.sync;

/**
 * The centroids to which the tokens of one exchange are quantised. The features of a token are cut
 * into groups of equal size, each with centroids of its own.
 *
 * @param name of the exchange
 * @param weights {@link TokenSync#weights}
 * @param features of a token
 * @param groups of features
 * @param size the number of centroids of each group
 * @param centroids of each group, one after the other
 * @param residual what it loses
 */
public record Codebook(
    String name,
    String weights,
    int features,
    int groups,
    int size,
    float[] centroids,
    Residual residual) {
  /** The features of a group. */
  int width() {
    return features / groups;
  }
}
