package io.partita.passes.program.collective;

/** The kind of an exchange between devices. */
public enum CollectiveKind {
  /** Each device has a whole partial result; each gets the reduction of all. */
  ALL_REDUCE("all-reduce", 1, true),
  /** Each device has a shard; each gets all shards. */
  ALL_GATHER("all-gather", 1, false),
  /** Each device has a whole partial result; each gets its shard of the reduction. */
  REDUCE_SCATTER("reduce-scatter", 1, true),
  /** The root has a value; each gets it. */
  BROADCAST("broadcast", 1, false),
  /** Each device has a whole partial result; the root gets the reduction. */
  REDUCE("reduce", 1, true),
  /** Each device has a block for each device; each gets the blocks for it. */
  ALL_TO_ALL("all-to-all", 2, false);

  private final String text;
  private final int dimensions;
  private final boolean reduces;

  CollectiveKind(String text, int dimensions, boolean reduces) {
    this.text = text;
    this.dimensions = dimensions;
    this.reduces = reduces;
  }

  public String text() {
    return text;
  }

  public boolean reduces() {
    return reduces;
  }

  /** Returns the number of parts of its vector for a number of devices. */
  int parts(int devices) {
    return dimensions == 2 ? Math.multiplyExact(devices, devices) : devices;
  }
}
