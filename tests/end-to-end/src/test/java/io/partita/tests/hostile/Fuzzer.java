package io.partita.tests.hostile;

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
final class Fuzzer {
  private static final long MAX_MILLIS = 10_000;
  private static final long MAX_ALLOCATED = 2L << 30;
  private static final int MAX_FINDINGS = 20;

  /** Creates a damaged file. */
  interface Source {
    byte[] file(RandomGenerator random) throws IOException;
  }

  /** Reads a file; a {@link PartitaException} is a valid outcome. */
  interface Target {
    void read(Path file, RandomGenerator random);
  }

  private final String name;
  private final Path folder;
  private final Map<String, String> findings = new LinkedHashMap<>();
  private long trials;

  /**
   * @param folder the folder for failing files
   */
  Fuzzer(String name, Path folder) {
    this.name = name;
    this.folder = folder;
  }

  long trials() {
    return trials;
  }

  /** The failures by kind, with their reproduction. */
  Map<String, String> findings() {
    return findings;
  }

  /** Runs the trials with the seeds {@code seed}, {@code seed + 1}, … for a time. */
  void run(long seed, double seconds, Source source, Target target) throws IOException {
    Files.createDirectories(folder);
    long end = System.nanoTime() + (long) (seconds * 1e9);
    for (long next = seed; System.nanoTime() < end && findings.size() < MAX_FINDINGS; next++) {
      trial(next, source, target);
      trials++;
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
      thread.join(MAX_MILLIS);
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
    private volatile Throwable failure;
    private volatile long allocated;

    Run(Target target, Path file, RandomGenerator random) {
      this.target = target;
      this.file = file;
      this.random = random;
    }

    @Override
    public void run() {
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
