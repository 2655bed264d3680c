package io.partita.driver.evaluate;

import java.util.Locale;
import java.util.function.Consumer;

/** Periodically reports the number of finished samples and the remaining time. */
final class RemainingTime {
  private static final int PARTS = 20;

  private final String what;
  private final int first;
  private final int samples;
  private final Consumer<String> progress;
  private final long start = System.nanoTime();
  private int done;

  /**
   * @param what a participle, such as {@code evaluated}
   * @param first the number of samples done before
   */
  RemainingTime(String what, int first, int samples, Consumer<String> progress) {
    this.what = what;
    this.first = first;
    this.samples = samples;
    this.progress = progress;
    this.done = first;
  }

  synchronized void done() {
    done++;
    if ((long) done * PARTS / samples > (long) (done - 1) * PARTS / samples) {
      double each = (System.nanoTime() - start) / 1e9 / (done - first);
      progress.accept(
          String.format(
              Locale.ROOT,
              "%s %d of %d samples, about %.0f s left",
              what,
              done,
              samples,
              each * (samples - done)));
    }
  }
}
