package io.partita.ir.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests folders that are replaced under difficult conditions. */
class OutputFolderTest {
  @TempDir Path scratch;

  private static List<EmittedFile> program(String text) {
    return List.of(EmittedFile.text("model.json", text), EmittedFile.text("part/code.c", text));
  }

  private static void write(String text, Path folder) {
    OutputFolder.write(program(text), folder, path -> true);
  }

  private static void assertHolds(Path folder, String text) throws IOException {
    TreeMap<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(folder.relativize(file).toString(), Files.readString(file));
      }
    }
    assertThat(contents.remove("checksums.txt")).isNotNull();
    assertThat(contents).containsOnlyKeys("model.json", "part/code.c").containsValue(text);
    assertThat(Checksums.changed(folder, path -> true)).isEmpty();
  }

  private void assertOnly(Path... left) throws IOException {
    try (Stream<Path> entries = Files.list(scratch)) {
      assertThat(entries).containsExactlyInAnyOrder(left);
    }
  }

  @Test
  void linksToFoldersAreFollowed() throws IOException {
    Path folder = Files.createDirectory(scratch.resolve("large-disk"));
    Path link = Files.createSymbolicLink(scratch.resolve("out"), Path.of("large-disk"));
    for (String text : List.of("first", "second")) {
      write(text, link);
      assertThat(link).isSymbolicLink();
      assertHolds(folder, text);
      assertOnly(folder, link);
    }
  }

  @Test
  void namesMayBeAsLongAsTheFileSystemAllows() throws IOException {
    Path folder = scratch.resolve("n".repeat(255));
    for (String text : List.of("first", "second")) {
      write(text, folder);
      assertHolds(folder, text);
    }
    Path tooLong = scratch.resolve("n".repeat(256));
    assertThatThrownBy(() -> OutputFolder.verify(tooLong, path -> true))
        .hasMessageContaining("P5002");
  }

  @Test
  void aReplacedFolderKeepsItsPermissions() throws IOException {
    assumeThat(Files.getFileStore(scratch).supportsFileAttributeView("posix")).isTrue();
    Path usual = Files.createDirectory(scratch.resolve("usual"));
    Path folder = scratch.resolve("out");
    write("first", folder);
    assertThat(Files.getPosixFilePermissions(folder))
        .isEqualTo(Files.getPosixFilePermissions(usual));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    write("second", folder);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
  }

  /** Tests a folder whose contents are replaced, since it is a mount point for example. */
  @Test
  void foldersStayInPlace() throws IOException {
    Path folder = Files.createDirectories(scratch.resolve("mounted"));
    Object key = Files.readAttributes(folder, "fileKey").get("fileKey");
    FolderReplacement replacement = new FolderReplacement(folder, true);
    for (String text : List.of("first", "second")) {
      Path fresh = replacement.stage();
      assertThat(fresh).hasParent(folder);
      write(text, scratch.resolve("made"));
      try (Stream<Path> made = Files.list(scratch.resolve("made"))) {
        for (Path file : made.toList()) {
          Files.move(file, fresh.resolve(file.getFileName()));
        }
      }
      replacement.replace(fresh);
      OutputFolder.delete(fresh);
      assertHolds(folder, text);
    }
    assertThat(Files.readAttributes(folder, "fileKey").get("fileKey")).isEqualTo(key);
    try (Stream<Path> entries = Files.list(folder)) {
      assertThat(entries.map(Path::getFileName))
          .containsExactlyInAnyOrder(
              Path.of("model.json"), Path.of("part"), Path.of("checksums.txt"));
    }
  }

  @Test
  void failuresInPlaceKeepTheOldContents() throws IOException {
    Path folder = scratch.resolve("out");
    write("first", folder);
    FolderReplacement replacement = new FolderReplacement(folder, true);
    Path fresh = scratch.resolve("missing");
    assertThatThrownBy(() -> replacement.replace(fresh)).isInstanceOf(IOException.class);
    assertHolds(folder, "first");
  }

  @Tag("thorough")
  @Test
  void severalProcessesMayWriteOneFolder() throws IOException {
    Path folder = scratch.resolve("out");
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<CompletableFuture<Void>> writing = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        writing.add(CompletableFuture.runAsync(() -> write("same", folder), threads));
      }
      writing.forEach(CompletableFuture::join);
    }
    assertHolds(folder, "same");
    assertOnly(folder);
  }

  @Test
  void protectedFilesAreNotReplaced() throws IOException {
    Path folder = scratch.resolve("out");
    write("first", folder);
    for (Path path : List.of(folder.resolve("part/code.c"), folder.resolve("part"), folder)) {
      assertThat(path.toFile().setWritable(false)).isTrue();
      assumeThat(Files.isWritable(path)).as("root writes everywhere").isFalse();
      String where = path.equals(folder) ? "" : path + ": ";
      assertThatThrownBy(() -> OutputFolder.verify(folder, any -> true))
          .hasMessage(
              """
              error P5002: a folder can't be written
                where:     %s
                expected:  a writable folder, and enough space
                found:     %sno permission
                fix:       check its permissions and the free space, or choose another output folder"""
                  .formatted(folder, where));
      assertThatThrownBy(() -> write("second", folder)).isInstanceOf(PartitaException.class);
      assertThat(path.toFile().setWritable(true)).isTrue();
      assertHolds(folder, "first");
      assertOnly(folder);
    }
  }

  @Test
  void filesOfOthersAreNotReplaced() throws IOException {
    Path folder = Files.createDirectory(scratch.resolve("mine"));
    Path file = Files.writeString(folder.resolve("file"), "mine");
    Path link = Files.createSymbolicLink(scratch.resolve("link"), Path.of("missing"));
    for (Path path : List.of(folder, file, link)) {
      String found = path.equals(folder) ? "files that Partita didn't write" : "a file";
      assertThatThrownBy(() -> OutputFolder.verify(path, any -> false))
          .hasMessageContaining("P5003")
          .hasMessageContaining("found:     " + found);
    }
  }

  /** Tests a program that isn't there at the first looks, as while another process moves it. */
  @Test
  void foldersThatAreBeingReplacedAreLookedAtAgain() throws IOException {
    Path folder = scratch.resolve("out");
    write("first", folder);
    AtomicInteger looks = new AtomicInteger();
    OutputFolder.verify(folder, any -> looks.incrementAndGet() == 3);
    assertThat(looks).hasValue(3);
  }

  @Test
  void theFolderAboveIsNamed() throws IOException {
    Path above = Files.createDirectory(scratch.resolve("above"));
    assertThat(above.toFile().setWritable(false)).isTrue();
    assumeThat(Files.isWritable(above)).as("root writes everywhere").isFalse();
    for (String name : List.of("new", "new/below")) {
      assertThatThrownBy(() -> OutputFolder.verify(above.resolve(name), any -> true))
          .hasMessageContaining("found:     " + above + ": no permission");
      assertThatThrownBy(() -> write("first", above.resolve(name)))
          .hasMessageContaining("found:     " + above + ": no permission");
    }
    assertThat(above.toFile().setWritable(true)).isTrue();
    Path folder = Files.createDirectory(above.resolve("mine"));
    assertThat(above.toFile().setWritable(false)).isTrue();
    write("first", folder);
    assertHolds(folder, "first");
    write("second", folder);
    assertHolds(folder, "second");
    assertThat(above.toFile().setWritable(true)).isTrue();
  }

  @Test
  void filesAboveAreNamed() throws IOException {
    Path file = Files.writeString(scratch.resolve("file"), "mine");
    assertThatThrownBy(() -> OutputFolder.verify(file.resolve("a/b"), any -> true))
        .hasMessageContaining("P5002")
        .hasMessageContaining("found:     " + file + ": not a folder");
  }
}
