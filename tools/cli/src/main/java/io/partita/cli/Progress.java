package io.partita.cli;

import java.io.PrintWriter;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Prints the current step of a command to the error stream, once it has taken more than a second.
 * On a terminal one line is overwritten; otherwise each step gets one line.
 */
final class Progress implements AutoCloseable {
  private final PrintWriter err;
  private final boolean terminal = System.console() != null && System.console().isTerminal();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(Progress::thread);
  private String step;
  private long since;
  private boolean shown;

  private Progress(PrintWriter err, String step) {
    this.err = err;
    step(step);
  }

  /** A full heap may end this thread too; the command's own thread reports that, as P6009. */
  private static Thread thread(Runnable task) {
    return Thread.ofPlatform()
        .daemon()
        .name("progress")
        .uncaughtExceptionHandler((thread, failure) -> {})
        .unstarted(task);
  }

  static Progress start(PrintWriter err, String step) {
    Progress progress = new Progress(err, step);
    progress.clock.scheduleAtFixedRate(progress::tick, 1000, 500, TimeUnit.MILLISECONDS);
    return progress;
  }

  /** Sets the current step of the command. */
  synchronized void step(String step) {
    if (!step.equals(this.step)) {
      clear();
      this.step = step;
      this.since = System.nanoTime();
    }
  }

  private synchronized void tick() {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - since);
    if (seconds < 1 || shown && !terminal) {
      return;
    }
    shown = true;
    if (terminal) {
      err.print("\r\u001b[K" + step + "… " + seconds + " s");
      err.flush();
    } else {
      err.println(step + "…");
    }
  }

  private void clear() {
    if (shown && terminal) {
      err.print("\r\u001b[K");
      err.flush();
    }
    shown = false;
  }

  @Override
  public void close() {
    clock.shutdownNow();
    synchronized (this) {
      clear();
    }
  }
}
