package io.partita.ir.eval;

import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs independent tasks on all cores where that is worth it. */
final class ParallelTasks {
  /** Elementary steps below which starting threads costs more than it gains. */
  private static final long WORTH_IT = 1 << 16;

  private ParallelTasks() {}

  /** Runs {@code task} for 0 to {@code count - 1}; all together take about {@code steps} steps. */
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
