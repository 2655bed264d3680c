package io.partita.ir.eval;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs independent tasks on all cores if that is worthwhile. */
public final class ParallelTasks {
  /** The number of elementary steps below which threads are not worthwhile. */
  private static final long WORTH_IT = 1 << 16;

  private ParallelTasks() {}

  /** Runs {@code task} for 0 to {@code count - 1}, with about {@code steps} steps in total. */
  public static void run(int count, long steps, IntConsumer task) {
    if (count < 2 || steps < WORTH_IT) {
      for (int i = 0; i < count; i++) {
        task.accept(i);
      }
    } else if (isInOtherPool()) {
      ForkJoinPool.commonPool().submit(() -> runOnAllCores(count, task)).join();
    } else {
      runOnAllCores(count, task);
    }
  }

  /**
   * Whether the caller runs in a pool of its own, as tests do. A parallel stream would use the
   * threads of that pool, all of which may be waiting for the caller.
   */
  private static boolean isInOtherPool() {
    return Thread.currentThread() instanceof ForkJoinWorkerThread worker
        && worker.getPool() != ForkJoinPool.commonPool();
  }

  private static void runOnAllCores(int count, IntConsumer task) {
    IntStream.range(0, count).parallel().forEach(task);
  }
}
