package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.ir.progress.ProgressListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/** Several instances of a program, which score samples in parallel. */
final class Scorers implements AutoCloseable {
  private final List<CompiledModel> programs = new ArrayList<>();

  Scorers(EmittedJava emitted, int count) {
    try {
      for (int i = 0; i < count; i++) {
        programs.add(new JavaModel(emitted));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  CompiledModel first() {
    return programs.getFirst();
  }

  /** The total score of the first samples, which doesn't depend on the number of instances. */
  Score score(Metric metric, int samples, ProgressListener progress) {
    progress.step("evaluating " + samples + " samples");
    SampleProgress finished = new SampleProgress("evaluated", 0, samples, progress);
    return each(0, samples, metric::score, finished).stream().reduce(Score.NONE, Score::plus);
  }

  /** The results of the work for each sample, in order. */
  <R> List<R> each(
      int from, int to, BiFunction<CompiledModel, Integer, R> work, SampleProgress finished) {
    AtomicInteger next = new AtomicInteger(from);
    Map<Integer, R> results = new ConcurrentSkipListMap<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(programs.size())) {
      List<Future<?>> workers = new ArrayList<>();
      for (CompiledModel program : programs) {
        workers.add(
            executor.submit(
                () -> {
                  int sample = next.getAndIncrement();
                  while (sample < to) {
                    results.put(sample, work.apply(program, sample));
                    finished.done();
                    sample = next.getAndIncrement();
                  }
                }));
      }
      for (Future<?> worker : workers) {
        try {
          worker.get();
        } catch (ExecutionException e) {
          next.set(to);
          throw e.getCause() instanceof RuntimeException cause
              ? cause
              : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
          next.set(to);
          Thread.currentThread().interrupt();
          throw new IllegalStateException(e);
        }
      }
    }
    return List.copyOf(results.values());
  }

  @Override
  public void close() {
    programs.forEach(CompiledModel::close);
  }
}
