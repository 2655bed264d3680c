package io.partita.ir.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileFailureTest {
  @TempDir Path folder;

  /** What an operation on a file fails with. */
  private interface Operation {
    void run() throws IOException;
  }

  private static String words(Path named, Operation operation) {
    return FileFailure.words(named, catchThrowableOfType(IOException.class, operation::run));
  }

  @Test
  void failuresOfTheFileSystem() throws IOException {
    Path none = folder.resolve("none");
    assertThat(words(none, () -> Files.readString(none))).isEqualTo("no such file");
    assertThat(words(folder, () -> Files.readString(folder))).isEqualTo("Is a directory");
    Path text = Files.write(folder.resolve("latin"), new byte[] {'n', (byte) 0xE9, 'e'});
    assertThat(words(text, () -> Files.readString(text))).isEqualTo("not text in UTF-8");
    assertThat(words(text, () -> Files.createDirectories(text)))
        .isEqualTo("a file that is already there");
    Path inside = text.resolve("in");
    assertThat(words(inside, () -> Files.createDirectory(inside))).isEqualTo("Not a directory");
    Path full = Path.of("/dev/full");
    assertThat(words(full, () -> Files.writeString(full, "text")))
        .isEqualTo("No space left on device");
  }

  @Test
  void failuresOfOtherFiles() {
    Path none = folder.resolve("none");
    assertThat(words(folder, () -> Files.readString(none))).isEqualTo(none + ": no such file");
  }

  @Test
  void exceptionsWithoutMessages() {
    assertThat(FileFailure.words(folder, new EOFException())).isEqualTo("it ends early");
    assertThat(FileFailure.words(folder, new IOException())).isEqualTo("IOException");
    assertThat(FileFailure.words(folder, new NotDirectoryException(folder.toString())))
        .isEqualTo("not a folder");
    assertThat(FileFailure.words(Path.of("x"), new FileSystemException("x", null, "read-only")))
        .isEqualTo("read-only");
  }
}
