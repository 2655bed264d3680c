package io.partita.zoo;

import io.partita.ir.file.OutputTarget;
import io.partita.ir.file.TemporaryName;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Files that appear under their names only when all of them are complete. Until then they have
 * temporary names, and are deleted if the work or the process is interrupted. Symbolic links are
 * followed.
 */
final class StagedFiles implements AutoCloseable {
  private record Stage(Path temporary, FileChannel channel) {}

  private final Map<Path, Stage> stages = new LinkedHashMap<>();
  private final Thread cleanUp = new Thread(this::discard);

  StagedFiles() {
    Runtime.getRuntime().addShutdownHook(cleanUp);
  }

  synchronized FileChannel open(Path file) throws IOException {
    OutputTarget output = OutputTarget.of(file);
    if (output.isStream()) {
      throw new FileSystemException(file.toString(), null, "a pipe or a device");
    }
    Path target = output.path();
    Path temporary = TemporaryName.createFile(target);
    FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE);
    stages.put(target, new Stage(temporary, channel));
    return channel;
  }

  /** In the order of opening, so that a file comes after those it points to. */
  synchronized void publish() throws IOException {
    for (Map.Entry<Path, Stage> entry : stages.entrySet()) {
      entry.getValue().channel.close();
      Files.move(entry.getValue().temporary, entry.getKey(), StandardCopyOption.ATOMIC_MOVE);
    }
    stages.clear();
  }

  private synchronized void discard() {
    for (Stage stage : stages.values()) {
      try {
        stage.channel.close();
        Files.deleteIfExists(stage.temporary);
      } catch (IOException e) {
        // The file remains; reporting this failure would hide the original one.
      }
    }
    stages.clear();
  }

  @Override
  public void close() {
    discard();
    try {
      Runtime.getRuntime().removeShutdownHook(cleanUp);
    } catch (IllegalStateException e) {
      // The process is ending: the hook has run or will.
    }
  }
}
