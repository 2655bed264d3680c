package io.partita.zoo;

/**
 * A model of the catalogue.
 *
 * @param name the name that users give
 * @param description one line with its kind, dimensions and source
 * @param architecture the family and its dimensions
 * @param promptLength tokens in {@link Mode#PROMPT} by default
 * @param decodeLength tokens that attention sees in {@link Mode#DECODE} by default
 * @param tiled whether all matrices share one region of a sparse data file, which takes little disk
 *     space
 */
public record ZooModel(
    String name,
    String description,
    Architecture architecture,
    int promptLength,
    int decodeLength,
    boolean tiled) {
  public int layers() {
    return architecture.layers();
  }

  /** Whether there is a {@link Mode#DECODE}. */
  public boolean decodes() {
    return architecture.decodes();
  }

  /**
   * The number of learned parameters; a tied table counts once, cosine and sine tables don't count.
   */
  public long parameters() {
    OnnxGraph graph = new OnnxGraph();
    architecture.write(graph, new Sequence(Mode.PROMPT, promptLength, false));
    return graph.parameters();
  }

  /** Returns the model with the given options, after checking them. */
  OnnxGraph graph(ZooOptions options) {
    Architecture chosen =
        options.layers().isPresent()
            ? architecture.withLayers(checkedLayers(options.layers().getAsInt()))
            : architecture;
    OnnxGraph graph = new OnnxGraph();
    chosen.write(graph, sequence(options));
    return graph;
  }

  private int checkedLayers(int count) {
    if (count < 1 || count > Zoo.MAX_LAYERS) {
      throw new ZooException("layers", "1 to " + Zoo.MAX_LAYERS, Integer.toString(count));
    }
    return count;
  }

  private Sequence sequence(ZooOptions options) {
    if (options.mode() == Mode.DECODE && !decodes()) {
      throw new ZooException("mode", name + " is an encoder: prompt", "decode");
    }
    int context = architecture.context();
    if (context == 0 && (options.sequence().isPresent() || options.dynamic())) {
      String found = options.dynamic() ? "an open sequence length" : "a sequence length";
      throw new ZooException("sequence", "none: the image's size sets it for " + name, found);
    }
    int usual = options.mode() == Mode.DECODE ? decodeLength : promptLength;
    int length = options.sequence().orElse(usual);
    if (context != 0 && (length < 1 || length > context)) {
      throw new ZooException(
          "sequence", "1 to " + context + " tokens for " + name, Integer.toString(length));
    }
    return new Sequence(options.mode(), length, options.dynamic());
  }
}
