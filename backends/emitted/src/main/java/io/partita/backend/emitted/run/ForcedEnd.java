package io.partita.backend.emitted.run;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** The forced end of processes. */
public final class ForcedEnd {
  /** The time that a system needs at most to end a process that was killed. */
  private static final long PATIENCE_SECONDS = 5;

  private ForcedEnd() {}

  /** Kills a process and its descendants, and waits until they have ended. */
  public static void of(Process process) {
    of(withDescendants(process));
  }

  /** A process and its descendants, as of now. */
  static List<ProcessHandle> withDescendants(Process process) {
    return Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
  }

  /** Kills processes, and waits until they have ended: a signal alone takes effect later. */
  static void of(Collection<ProcessHandle> processes) {
    processes.forEach(ProcessHandle::destroyForcibly);
    CompletableFuture<Void> end =
        CompletableFuture.allOf(
            processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new));
    try {
      end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // A process that waits for a device can't be killed; it ends when the device answers.
    }
  }
}
