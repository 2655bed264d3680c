package io.partita.ir.file;

import io.partita.ir.diagnostic.PartitaException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AccessMode;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Writes emitted programs to folders atomically. */
public final class OutputFolder {
  private static final int BLOCK = 1 << 16;
  private static final int MAX_LOOKS = 5;

  private OutputFolder() {}

  /**
   * Writes a program to {@code folder}, which may be missing, empty, or contain an earlier program
   * that is replaced. {@link Checksums} of all files are added. Files are first written beside the
   * folder, which is moved when complete; a folder that can't be moved gets its contents moved.
   * Symbolic links to folders are followed.
   *
   * @param isProgram whether a folder holds a program that may be replaced
   * @throws PartitaException P5002 if it can't be written, P5003 if it contains other files, or a
   *     program of another backend
   */
  public static void write(List<EmittedFile> files, Path folder, Predicate<Path> isProgram) {
    write(files, folder, isProgram, bytes -> {});
  }

  /**
   * Like {@link #write(List, Path, Predicate)}.
   *
   * @param written receives the number of bytes of all files that have been written, often
   * @throws PartitaException as above
   */
  public static void write(
      List<EmittedFile> files, Path folder, Predicate<Path> isProgram, LongConsumer written) {
    try (ShutdownGuard ending = new ShutdownGuard()) {
      ending.verifyGoesOn();
      Path target = target(folder);
      verifyWritable(target, isProgram);
      Files.createDirectories(target.getParent());
      FolderReplacement replacement = FolderReplacement.of(target);
      Path fresh = replacement.stage();
      try {
        Checksums checksums = new Checksums(written);
        for (EmittedFile file : files) {
          writeFile(file, fresh, checksums, ending);
        }
        writeFile(checksums.file(), fresh, checksums, ending);
        ending.verifyGoesOn();
        replacement.replace(fresh);
      } finally {
        delete(fresh);
      }
    } catch (IOException e) {
      throw unwritable(folder, e);
    }
  }

  /**
   * Checks that a folder can be written, as far as that is known before its files are, so that a
   * long compilation needn't fail at its end.
   *
   * @param isProgram whether a folder holds a program that may be replaced
   * @throws PartitaException as {@link #write(List, Path, Predicate)}
   */
  public static void verify(Path folder, Predicate<Path> isProgram) {
    try {
      verifyWritable(target(folder), isProgram);
    } catch (IOException e) {
      throw unwritable(folder, e);
    }
  }

  private static PartitaException unwritable(Path folder, IOException failure) {
    return FolderCode.unwritable(
        folder.toAbsolutePath().normalize(), failure, "choose another output folder");
  }

  /** Returns the absolute path of a folder, and of a link to a folder the path of that. */
  private static Path target(Path folder) throws IOException {
    Path target = folder.toAbsolutePath().normalize();
    if (target.getParent() == null) {
      throw new IOException("a root folder");
    }
    return Files.isSymbolicLink(target) && Files.isDirectory(target) ? target.toRealPath() : target;
  }

  private static void verifyWritable(Path target, Predicate<Path> isProgram) throws IOException {
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      verifyReplaceable(target, isProgram);
      verifyContents(target);
    } else {
      OutputTarget.verifyAbove(target);
    }
  }

  /** Checks that nothing in a folder is write-protected, since all of it is replaced. */
  private static void verifyContents(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes)
              throws IOException {
            return verify(visited);
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            return attributes.isRegularFile() ? verify(file) : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof NoSuchFileException) {
              // Another process has just replaced it.
              return FileVisitResult.CONTINUE;
            }
            throw failure;
          }

          private FileVisitResult verify(Path path) throws IOException {
            try {
              path.getFileSystem().provider().checkAccess(path, AccessMode.WRITE);
              return FileVisitResult.CONTINUE;
            } catch (NoSuchFileException replaced) {
              return visitFileFailed(path, replaced);
            }
          }
        });
  }

  /** Looks several times, since another process may be replacing the folder. */
  private static void verifyReplaceable(Path target, Predicate<Path> isProgram) throws IOException {
    for (int looks = 0; looks < MAX_LOOKS; looks++) {
      if (isReplaceable(target, isProgram)) {
        return;
      }
    }
    if (!Files.isDirectory(target)) {
      throw notReplaceable(target, "a file", "choose another output folder");
    }
    throw Files.exists(target.resolve(Checksums.FILE))
        ? notReplaceable(
            target,
            "a program that Partita wrote for another target",
            "choose another output folder, or delete this one if the program isn't needed")
        : notReplaceable(
            target,
            "files that Partita didn't write",
            "choose another output folder, or empty this one");
  }

  private static boolean isReplaceable(Path target, Predicate<Path> isProgram) throws IOException {
    try {
      return isEmpty(target) || isProgram.test(target);
    } catch (NoSuchFileException moved) {
      // By another process, which replaces it, unless it is a link to nothing.
      return !Files.isSymbolicLink(target);
    } catch (NotDirectoryException file) {
      return false;
    }
  }

  private static PartitaException notReplaceable(Path target, String found, String remedy) {
    return new PartitaException(
        FolderCode.NOT_REPLACEABLE,
        target.toString(),
        "a new folder, an empty one, or one with a program for the same target",
        found,
        remedy);
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.findAny().isEmpty();
    }
  }

  private static void writeFile(
      EmittedFile file, Path folder, Checksums checksums, ShutdownGuard ending) throws IOException {
    ending.verifyGoesOn();
    Path path = folder.resolve(file.path());
    Files.createDirectories(path.getParent());
    OutputStream plain = ending.watched(Files.newOutputStream(path));
    try (OutputStream out = new BufferedOutputStream(plain, BLOCK)) {
      checksums.write(file, out);
    }
  }

  /** Deletes a folder recursively, if it exists. */
  public static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
