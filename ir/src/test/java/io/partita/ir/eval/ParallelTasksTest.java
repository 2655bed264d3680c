package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ParallelTasksTest {
  private static final int COUNT = 100;

  @Test
  void runsEachTaskOnce() {
    for (long steps : new long[] {1, Long.MAX_VALUE}) {
      int[] runs = new int[COUNT];
      ParallelTasks.run(COUNT, steps, i -> runs[i]++);
      assertThat(runs).containsOnly(1);
    }
  }

  /** Other threads of the caller's pool may be waiting for the caller. */
  @Test
  void takesNoThreadsOfTheCallersPool() {
    try (ForkJoinPool own = new ForkJoinPool(2)) {
      Set<Integer> done = ConcurrentHashMap.newKeySet();
      Set<Boolean> inOwn = ConcurrentHashMap.newKeySet();
      own.submit(
              () ->
                  ParallelTasks.run(
                      COUNT,
                      Long.MAX_VALUE,
                      i -> {
                        done.add(i);
                        inOwn.add(ForkJoinTask.getPool() == own);
                      }))
          .join();
      assertThat(done)
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, COUNT).boxed().toList());
      assertThat(inOwn).containsExactly(false);
    }
  }
}
