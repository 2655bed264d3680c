package io.partita.ir.progress;

/** Receives what a long computation is doing, and how much of it is done. */
@FunctionalInterface
public interface ProgressListener {
  /** Ignores everything. */
  ProgressListener NONE = description -> {};

  /** Receives the current step, in a few words. */
  void step(String description);

  /**
   * Receives the share of the expected work that is done, from 0, when work of known extent begins,
   * to 1. What was done before doesn't count.
   */
  default void share(double done) {}

  /**
   * Begins one of several steps that take about the same time: {@code placing data, 2 of 5}.
   *
   * @param index from 0
   */
  default void step(String description, int index, int count) {
    step(count == 1 ? description : description + ", " + (index + 1) + " of " + count);
    share((double) index / count);
  }

  /** Returns a listener for a part of the work, between two shares of the whole. */
  default ProgressListener part(double from, double to) {
    ProgressListener whole = this;
    return new ProgressListener() {
      @Override
      public void step(String description) {
        whole.step(description);
      }

      @Override
      public void share(double done) {
        whole.share(from + done * (to - from));
      }
    };
  }

  /** Returns a listener whose steps begin with some words. */
  default ProgressListener prefixed(String words) {
    ProgressListener whole = this;
    return new ProgressListener() {
      @Override
      public void step(String description) {
        whole.step(words + description);
      }

      @Override
      public void share(double done) {
        whole.share(done);
      }
    };
  }
}
