package io.partita.backend.siracusa.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Lets one build at a time work in a folder: threads of this process, and processes. */
final class BuildLock implements AutoCloseable {
  private static final String FILE = "lock";

  /** File locks are those of a process; among its threads these count. */
  private static final Map<Path, ReentrantLock> THREADS = new HashMap<>();

  private final ReentrantLock thread;
  private final FileChannel channel;
  private final FileLock process;

  private BuildLock(ReentrantLock thread, FileChannel channel, FileLock process) {
    this.thread = thread;
    this.channel = channel;
    this.process = process;
  }

  /** Waits until nobody else builds in a program's folder. */
  static BuildLock of(Path folder) throws IOException {
    Path build = Files.createDirectories(folder.resolve("build")).toRealPath();
    ReentrantLock thread;
    synchronized (THREADS) {
      thread = THREADS.computeIfAbsent(build, any -> new ReentrantLock());
    }
    thread.lock();
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              build.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      return new BuildLock(thread, channel, channel.lock());
    } catch (IOException | RuntimeException e) {
      thread.unlock();
      if (channel != null) {
        channel.close();
      }
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    try {
      process.release();
      channel.close();
    } finally {
      thread.unlock();
    }
  }
}
