package io.partita.cli;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Prints the current step of a command to the error stream, once it has taken more than a second.
 * On a terminal one line is overwritten, with the time that remains once it can be estimated;
 * otherwise each step gets one line.
 */
final class Progress implements ProgressListener, AutoCloseable {
  private final PrintWriter err;
  private final boolean terminal;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(Progress::thread);
  private ProgressLine line;
  private boolean shown;

  Progress(PrintWriter err, boolean terminal, ProgressLine line) {
    this.err = err;
    this.terminal = terminal;
    this.line = line;
  }

  /**
   * Whether the error stream is a terminal whose lines can be overwritten; the JDK tells it of
   * standard output only.
   */
  private static boolean isTerminal() {
    if (Main.isDumbTerminal() || System.console() == null || !System.console().isTerminal()) {
      return false;
    }
    try {
      Path out = Files.readSymbolicLink(Path.of("/proc/self/fd/1"));
      return Files.readSymbolicLink(Path.of("/proc/self/fd/2")).equals(out);
    } catch (IOException notLinux) {
      return true;
    }
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
    Progress progress =
        new Progress(err, isTerminal(), ProgressLine.start(step, System.nanoTime()));
    progress.clock.scheduleAtFixedRate(
        () -> progress.tick(System.nanoTime()), 1000, 500, TimeUnit.MILLISECONDS);
    return progress;
  }

  @Override
  public synchronized void step(String step) {
    ProgressLine next = line.step(step, System.nanoTime());
    if (next != line) {
      clear();
      line = next;
    }
  }

  @Override
  public synchronized void share(double done) {
    line = line.share(done, System.nanoTime());
  }

  /** Prints a note on a line of its own. */
  void note(Diagnostic note) {
    print(err, note);
  }

  /** Prints a line without the step before it, which is shown again later. */
  synchronized void print(PrintWriter out, Object text) {
    clear();
    out.println(text);
    out.flush();
  }

  /** Shows the step if it has taken more than a second. */
  synchronized void tick(long now) {
    if (line.seconds(now) < 1 || shown && !terminal) {
      return;
    }
    shown = true;
    if (terminal) {
      err.print("\r\u001b[K" + line.text(now));
      err.flush();
    } else {
      err.println(line.step() + "…");
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
