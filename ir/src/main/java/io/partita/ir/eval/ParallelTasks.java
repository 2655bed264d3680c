package io.partita.ir.eval;

import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs independent tasks on all cores if that is worthwhile. */
final class ParallelTasks {
  /** The number of elementary steps below which threads are not worthwhile. */
  private static final long WORTH_IT = 1 << 16;

  private ParallelTasks() {}

  /** Runs {@code task} for 0 to {@code count - 1}, with about {@code steps} steps in total. */
  static void run(int count, long steps, IntConsumer task) {
    if (count > 1 && steps >= WORTH_IT) {
      IntStream.range(0, count).parallel().forEach(task);
    } else {
      for (int i = 0; i < count; i++) {
        task.accept(i);
      }
    }
  }
}
