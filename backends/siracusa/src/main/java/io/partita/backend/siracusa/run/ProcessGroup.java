package io.partita.backend.siracusa.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Processes that run a program together, and end with this one. */
final class ProcessGroup implements AutoCloseable {
  /** Of what a process said, its last lines are enough to tell why it ended. */
  private static final int LINES = 20;

  private final Path files;
  private final List<Process> processes = new ArrayList<>();
  private final Thread hook = new Thread(this::end, "end-programs");

  private ProcessGroup(Path files) {
    this.files = files;
  }

  /**
   * @param files the folder in which they run; what process I says comes to {@code I.log} in it
   * @throws IOException when one can't be started; then none runs
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
      throw new IOException("the process was told to end", ending);
    } catch (IOException e) {
      group.close();
      throw e;
    }
  }

  private synchronized void start(Port port, List<String> command) throws IOException {
    Path log = files.resolve(processes.size() + ".log");
    ProcessBuilder builder = new ProcessBuilder(command).directory(files.toFile());
    if (port == Port.MPI) {
      // It keeps what it allocated; a sanitizer would say so.
      builder.environment().putIfAbsent("ASAN_OPTIONS", "detect_leaks=0");
    }
    builder.redirectInput(Path.of("/dev/null").toFile());
    processes.add(builder.redirectErrorStream(true).redirectOutput(log.toFile()).start());
  }

  /** Done when the first of them has ended. */
  CompletableFuture<?> anyEnd() {
    return CompletableFuture.anyOf(
        processes.stream().map(Process::onExit).toArray(CompletableFuture<?>[]::new));
  }

  /** Waits until all have ended; whether they did so in time. */
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

  /** Whether one of those that have ended failed. */
  boolean fails() {
    return processes.stream().anyMatch(process -> !process.isAlive() && process.exitValue() != 0);
  }

  /** What each said last, and with which code it failed. */
  String messages() throws IOException {
    List<String> messages = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      Process process = processes.get(i);
      String name = processes.size() == 1 ? "it" : "chip " + i;
      String text = lastLines(files.resolve(i + ".log"));
      if (!process.isAlive() && process.exitValue() != 0) {
        String code = name + " ended with " + process.exitValue();
        messages.add(text.isEmpty() ? code : code + ": " + text);
      } else if (!text.isEmpty()) {
        messages.add(text);
      }
    }
    Path console = files.resolve("console");
    if (Files.exists(console)) {
      messages.add(lastLines(console));
    }
    return String.join("; ", messages);
  }

  private static String lastLines(Path log) throws IOException {
    List<String> lines = Files.readString(log).strip().lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES), lines.size()));
  }

  /** Ends them, with what they have started. */
  synchronized void end() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The hook does the same.
    }
  }
}
