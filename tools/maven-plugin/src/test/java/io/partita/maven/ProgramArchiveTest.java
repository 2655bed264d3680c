package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramArchiveTest {
  @TempDir Path scratch;

  @Test
  void unwritableArchivesAreReportedInWords() throws Exception {
    Path file = Files.createFile(scratch.resolve("file"));
    assertThatThrownBy(() -> ProgramArchive.write(scratch, file.resolve("a.zip")))
        .hasMessage(
            file.resolve("a.zip")
                + " can't be written: "
                + file
                + ": a file that is already there");
    Path gone = scratch.resolve("gone");
    assertThatThrownBy(() -> ProgramArchive.write(gone, scratch.resolve("a.zip")))
        .hasMessageEndingWith("a.zip can't be written: " + gone + ": no such file");
  }

  @Test
  void archivesAreDeterministic() throws Exception {
    Path program = Files.createDirectories(scratch.resolve("a program"));
    Files.createDirectories(program.resolve("kernels"));
    Files.writeString(program.resolve("kernels").resolve("add.c"), "int x;");
    Files.writeString(program.resolve("Makefile"), "host:");
    Path first = scratch.resolve("first.zip");
    ProgramArchive.write(program, first);
    Files.setLastModifiedTime(program.resolve("Makefile"), FileTime.fromMillis(1_000_000));
    Path second = scratch.resolve("second.zip");
    ProgramArchive.write(program, second);
    assertThat(second).hasSameBinaryContentAs(first);
    try (ZipFile zip = new ZipFile(first.toFile())) {
      assertThat(zip.stream().map(ZipEntry::getName)).containsExactly("Makefile", "kernels/add.c");
    }
  }
}
