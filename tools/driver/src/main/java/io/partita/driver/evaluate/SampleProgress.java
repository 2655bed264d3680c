package io.partita.driver.evaluate;

import io.partita.ir.progress.ProgressListener;

/** Periodically reports the number of finished samples. Thread-safe. */
final class SampleProgress {
  private static final int PARTS = 20;

  private final String what;
  private final int first;
  private final int samples;
  private final ProgressListener progress;
  private int done;

  /**
   * @param what a participle, such as {@code evaluated}
   * @param first the number of samples done before
   */
  SampleProgress(String what, int first, int samples, ProgressListener progress) {
    this.what = what;
    this.first = first;
    this.samples = samples;
    this.progress = progress;
    this.done = first;
    progress.share(0);
  }

  synchronized void done() {
    done++;
    if ((long) done * PARTS / samples > (long) (done - 1) * PARTS / samples) {
      progress.step(what + " " + done + " of " + samples + " samples");
      progress.share((double) (done - first) / (samples - first));
    }
  }
}
