package io.partita.ir.file;

import io.partita.ir.diagnostic.NearestName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the file that a user may have meant. */
public final class NearestFile {
  /** Folders with more files are searched up to here. */
  private static final int LONGEST_LISTING = 10_000;

  private NearestFile() {}

  /** Returns a remedy for a path where nothing is, with a suggestion if there is one. */
  public static String remedy(Path missing) {
    return remedy(missing, "check the path");
  }

  /**
   * Like {@link #remedy(Path)}.
   *
   * @param otherwise the remedy without a suggestion
   */
  public static String remedy(Path missing, String otherwise) {
    return of(missing).map(NearestFile::suggestion).orElse(otherwise);
  }

  /** Returns the remedy for a folder in which a file is missing. */
  public static String folderRemedy(Path missingFile, String otherwise) {
    return of(missingFile).map(Path::getParent).map(NearestFile::suggestion).orElse(otherwise);
  }

  private static String suggestion(Path near) {
    return NearestName.suggestion(near.toString());
  }

  /** Returns the path with its first misspelt name corrected, if what follows is then there. */
  public static Optional<Path> of(Path missing) {
    Path last = missing;
    while (last.getParent() != null && !Files.exists(last.getParent())) {
      last = last.getParent();
    }
    if (last.getFileName() == null || Files.exists(last)) {
      return Optional.empty();
    }
    Path rest = last.relativize(missing);
    Path folder = last.getParent();
    return NearestName.of(last.getFileName().toString(), names(folder))
        .map(name -> folder == null ? Path.of(name) : folder.resolve(name))
        .map(near -> near.resolve(rest))
        .filter(Files::exists);
  }

  private static List<String> names(Path folder) {
    try (Stream<Path> files = Files.list(folder == null ? Path.of("") : folder)) {
      return files.limit(LONGEST_LISTING).map(file -> file.getFileName().toString()).toList();
    } catch (IOException | UncheckedIOException unreadable) {
      return List.of();
    }
  }
}
