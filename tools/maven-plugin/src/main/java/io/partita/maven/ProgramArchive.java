package io.partita.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.maven.plugin.MojoExecutionException;

/** A zip file of a program, with reproducible bytes. */
final class ProgramArchive {
  private static final LocalDateTime TIME = LocalDateTime.of(1980, 2, 1, 0, 0);

  private ProgramArchive() {}

  /**
   * Writes the archive, unless it is newer than all files of the program.
   *
   * @throws MojoExecutionException if it can't be written
   */
  static void write(Path program, Path archive) throws MojoExecutionException {
    try {
      List<Path> files;
      try (Stream<Path> all = Files.walk(program)) {
        files = all.filter(Files::isRegularFile).sorted().toList();
      }
      if (isCurrent(archive, files)) {
        return;
      }
      Files.createDirectories(archive.getParent());
      Path part = archive.resolveSibling("." + archive.getFileName() + ".part");
      try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(part))) {
        for (Path file : files) {
          ZipEntry entry = new ZipEntry(program.relativize(file).toString().replace('\\', '/'));
          entry.setTimeLocal(TIME);
          zip.putNextEntry(entry);
          Files.copy(file, zip);
          zip.closeEntry();
        }
      }
      Files.move(part, archive, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new MojoExecutionException(archive + " can't be written: " + FileProblem.words(e), e);
    }
  }

  private static boolean isCurrent(Path archive, List<Path> files) throws IOException {
    if (!Files.exists(archive)) {
      return false;
    }
    long written = Files.getLastModifiedTime(archive).toMillis();
    for (Path file : files) {
      if (Files.getLastModifiedTime(file).toMillis() >= written) {
        return false;
      }
    }
    return true;
  }
}
