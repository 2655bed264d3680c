package io.partita.backend.emitted.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Processes that run a program together, and end with this process. */
final class ProcessGroup implements AutoCloseable {
  /**
   * The time for programs to clean up: {@code mpirun} ends its ranks, {@code make} deletes partial
   * files.
   */
  private static final long PATIENCE_MILLISECONDS = 2000;

  private final Path files;
  private final List<Process> processes = new ArrayList<>();
  private final Thread hook = new Thread(this::tellToEnd, "end-programs");
  private volatile boolean told;

  private ProcessGroup(Path files) {
    this.files = files;
  }

  /**
   * @param files the folder in which they run and have temporary files; the output of process I
   *     goes to {@code I.log} in it
   * @throws IOException if one can't be started; then none runs
   */
  static ProcessGroup start(Port port, List<List<String>> commands, Path files) throws IOException {
    ProcessGroup group = new ProcessGroup(files);
    try {
      Runtime.getRuntime().addShutdownHook(group.hook);
      for (List<String> command : commands) {
        group.start(port, command);
      }
      return group;
    } catch (IllegalStateException ending) {
      throw new IOException("the process was asked to terminate", ending);
    } catch (IOException e) {
      group.close();
      throw e;
    }
  }

  private synchronized void start(Port port, List<String> command) throws IOException {
    if (told) {
      throw new IOException("the command was asked to terminate");
    }
    Path log = files.resolve(processes.size() + ".log");
    ProcessBuilder builder = new ProcessBuilder(command).directory(files.toFile());
    // What a compiler leaves when it is killed is deleted with the folder.
    builder.environment().put("TMPDIR", files.toString());
    if (port == Port.MPI) {
      // It doesn't free its memory, which a leak sanitizer would report.
      builder.environment().putIfAbsent("ASAN_OPTIONS", "detect_leaks=0");
    }
    builder.redirectInput(Path.of("/dev/null").toFile());
    processes.add(builder.redirectErrorStream(true).redirectOutput(log.toFile()).start());
  }

  /** Completes when the first process has ended. */
  CompletableFuture<?> anyEnd() {
    return CompletableFuture.anyOf(
        processes.stream().map(Process::onExit).toArray(CompletableFuture<?>[]::new));
  }

  /** Waits until all have ended; returns whether they did in time. */
  boolean awaitEnd(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    for (Process process : processes) {
      long left = Math.max(1, deadline - System.nanoTime());
      if (!process.waitFor(left, TimeUnit.NANOSECONDS)) {
        return false;
      }
    }
    return true;
  }

  /** Whether one of the ended processes failed. */
  boolean fails() {
    return processes.stream().anyMatch(process -> !process.isAlive() && process.exitValue() != 0);
  }

  /** The output of each process that failed or still runs; consequential errors come last. */
  String messages() throws IOException {
    if (told) {
      return "the command was asked to terminate";
    }
    List<String> messages = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      Process process = processes.get(i);
      String name = processes.size() == 1 ? "the program" : "chip " + i;
      String said = LogExcerpt.of(Files.readString(files.resolve(i + ".log")));
      boolean fails = !process.isAlive() && process.exitValue() != 0;
      if (fails && !said.startsWith("chip ")) {
        String ended = LogExcerpt.ended(name, process.exitValue());
        messages.addFirst(said.isEmpty() ? ended : ended + ": " + said);
      } else if (!said.isEmpty()) {
        messages.add(said);
      }
    }
    Path console = files.resolve("console");
    if (Files.exists(console) && Files.size(console) > 0) {
      messages.addFirst(LogExcerpt.of(Files.readString(console)));
    }
    return String.join("; ", messages);
  }

  private void tellToEnd() {
    told = true;
    end();
  }

  /** Ends the processes and their descendants, and waits until they have ended. */
  synchronized void end() {
    Set<ProcessHandle> everything = new LinkedHashSet<>();
    processes.forEach(process -> everything.addAll(ForcedEnd.withDescendants(process)));
    processes.forEach(Process::destroy);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLISECONDS);
    try {
      for (Process process : processes) {
        process.waitFor(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    processes.forEach(process -> everything.addAll(ForcedEnd.withDescendants(process)));
    ForcedEnd.of(everything);
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The shutdown hook does the same.
    }
  }
}
