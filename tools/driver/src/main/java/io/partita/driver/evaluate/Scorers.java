package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedProgram;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The same program several times, so that samples are scored at once. */
final class Scorers implements AutoCloseable {
  private static final int PARTS_OF_PROGRESS = 20;

  private final List<CompiledModel> programs = new ArrayList<>();

  Scorers(EmittedProgram emitted, int count) {
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

  /** The score of the first samples together, which is the same for any number of programs. */
  Score score(Metric metric, int samples, Consumer<String> progress) {
    Score[] scores = new Score[samples];
    AtomicInteger next = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    long start = System.nanoTime();
    progress.accept("evaluating " + samples + " samples");
    try (ExecutorService executor = Executors.newFixedThreadPool(programs.size())) {
      List<Future<?>> workers = new ArrayList<>();
      for (CompiledModel program : programs) {
        workers.add(
            executor.submit(
                () -> {
                  int sample = next.getAndIncrement();
                  while (sample < samples) {
                    scores[sample] = metric.score(program, sample);
                    report(done.incrementAndGet(), samples, start, progress);
                    sample = next.getAndIncrement();
                  }
                }));
      }
      for (Future<?> worker : workers) {
        try {
          worker.get();
        } catch (ExecutionException e) {
          next.set(samples);
          throw e.getCause() instanceof RuntimeException cause
              ? cause
              : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
          next.set(samples);
          Thread.currentThread().interrupt();
          throw new IllegalStateException(e);
        }
      }
    }
    return IntStream.range(0, samples).mapToObj(i -> scores[i]).reduce(Score.NONE, Score::plus);
  }

  private static void report(int done, int samples, long start, Consumer<String> progress) {
    int part = done * PARTS_OF_PROGRESS / samples;
    if (part > (done - 1) * PARTS_OF_PROGRESS / samples) {
      double seconds = (System.nanoTime() - start) / 1e9 / done * (samples - done);
      progress.accept(
          String.format(
              Locale.ROOT,
              "evaluated %d of %d samples, about %.0f s left",
              done,
              samples,
              seconds));
    }
  }

  @Override
  public void close() {
    programs.forEach(CompiledModel::close);
  }
}
