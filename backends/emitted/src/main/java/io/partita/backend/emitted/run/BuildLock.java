package io.partita.backend.emitted.run;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FolderCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Serialises builds in a folder, across threads and processes. */
final class BuildLock implements AutoCloseable {
  private static final String FILE = "lock";

  /** File locks belong to a process; these locks separate its threads. */
  private static final Map<Path, ReentrantLock> THREADS = new HashMap<>();

  private final ReentrantLock thread;
  private final FileChannel channel;
  private final FileLock process;

  private BuildLock(ReentrantLock thread, FileChannel channel, FileLock process) {
    this.thread = thread;
    this.channel = channel;
    this.process = process;
  }

  /**
   * Waits until no other build runs in a program's folder.
   *
   * @throws PartitaException P5002 if nothing can be written there
   */
  static BuildLock of(Path folder) {
    try {
      return waiting(Files.createDirectories(folder.resolve("build")).toRealPath());
    } catch (IOException e) {
      throw FolderCode.unwritable(
          folder, e, "copy it to where you may write: programs are built in their own folder");
    }
  }

  private static BuildLock waiting(Path build) throws IOException {
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
