package io.partita.ir.fuzz;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Runs trials on damaged files, and keeps the files on which something goes wrong. */
public final class Fuzzer {
  private static final long SEED = Long.getLong("fuzz.seed", 1) * 1_000_000_000L;

  private static final long MAX_MILLIS = 10_000;
  private static final int MAX_SLOWER = 30;
  private static final long MAX_ALLOCATED = 2L << 30;
  private static final int MAX_FINDINGS = 20;

  /** Creates a damaged file. */
  public interface Source {
    byte[] file(RandomGenerator random) throws IOException;
  }

  /** Reads a file; a {@link PartitaException} is a valid outcome. */
  public interface Target {
    void read(Path file, RandomGenerator random) throws IOException;
  }

  private final String name;
  private final Path folder;
  private final Map<String, String> findings = new LinkedHashMap<>();
  private long trials;

  /**
   * @param folder the folder for failing files
   */
  public Fuzzer(String name, Path folder) {
    this.name = name;
    this.folder = folder;
  }

  public long trials() {
    return trials;
  }

  /** The failures by kind, with their reproduction. */
  public Map<String, String> findings() {
    return findings;
  }

  /**
   * Runs trials for a time, which {@code -Dfuzz.seconds} replaces by its share and whose number is
   * then printed. Seeds count from a billion times {@code -Dfuzz.seed}, by default 1.
   *
   * @param seconds by default
   * @param share of {@code -Dfuzz.seconds}
   */
  public void run(double seconds, double share, Source source, Target target) throws IOException {
    Files.createDirectories(folder);
    Integer given = Integer.getInteger("fuzz.seconds");
    long end = System.nanoTime() + (long) ((given == null ? seconds : given) * share * 1e9);
    for (long next = SEED; System.nanoTime() < end && findings.size() < MAX_FINDINGS; next++) {
      trial(next, source, target);
      trials++;
    }
    if (given != null) {
      System.out.printf(
          "fuzz: %,d inputs of kind '%s' tried from seed %d on, %d kinds of failure%n",
          trials, name, SEED, findings.size());
    }
  }

  private void trial(long seed, Source source, Target target) throws IOException {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    byte[] bytes = source.file(random);
    // Each trial has its own file, because earlier ones may still be mapped.
    Path file = folder.resolve(name + "-" + seed);
    Files.write(file, bytes);
    Run run = new Run(target, file, random);
    Thread thread = Thread.ofPlatform().daemon().name("trial").start(run);
    try {
      // Waiting is a failure too, but only after a time that a busy computer doesn't explain.
      thread.join(MAX_MILLIS);
      for (int more = 0; more < MAX_SLOWER && thread.isAlive() && !run.hasComputed(); more++) {
        thread.join(MAX_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
    if (thread.isAlive()) {
      note(seed, file, "takes too long", Arrays.asList(thread.getStackTrace()).toString());
    } else if (run.failure != null) {
      note(seed, file, kind(run.failure), trace(run.failure));
    } else if (run.allocated > MAX_ALLOCATED) {
      note(seed, file, "allocates too much", run.allocated + " bytes");
    } else {
      Files.delete(file);
    }
  }

  private void note(long seed, Path file, String kind, String text) {
    findings.putIfAbsent(kind, "seed " + seed + ", kept as " + file + "\n" + text);
  }

  /** Returns the kind of failure and its place in Partita. */
  private static String kind(Throwable failure) {
    return failure.getClass().getSimpleName()
        + " at "
        + Arrays.stream(failure.getStackTrace())
            .filter(frame -> frame.getClassName().startsWith("io.partita"))
            .findFirst()
            .map(StackTraceElement::toString)
            .orElse("an unknown place");
  }

  private static String trace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString().substring(0, Math.min(3000, text.getBuffer().length()));
  }

  private static final class Run implements Runnable {
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Target target;
    private final Path file;
    private final RandomGenerator random;
    private volatile long thread = -1;
    private volatile Throwable failure;
    private volatile long allocated;

    Run(Target target, Path file, RandomGenerator random) {
      this.target = target;
      this.file = file;
      this.random = random;
    }

    /** Whether the trial has computed for longer than any should. */
    boolean hasComputed() {
      return thread >= 0 && THREADS.getThreadCpuTime(thread) > MAX_MILLIS * 1_000_000;
    }

    @Override
    public void run() {
      thread = Thread.currentThread().threadId();
      try {
        target.read(file, random);
      } catch (PartitaException told) {
        // A valid outcome.
      } catch (Throwable other) {
        failure = other;
      }
      allocated = THREADS.getCurrentThreadAllocatedBytes();
    }
  }
}
