package io.partita.ir.file;

import io.partita.ir.diagnostic.PartitaException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Writes emitted programs to folders atomically. */
public final class OutputFolder {
  private static final int BLOCK = 1 << 16;

  private OutputFolder() {}

  /**
   * Writes a program to {@code folder}, which may be missing, empty, or contain an earlier program
   * that is replaced. {@link Checksums} of all files are added. Files are first written beside the
   * folder, which is moved when complete.
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
    Path target = folder.toAbsolutePath().normalize();
    try (ShutdownGuard ending = new ShutdownGuard()) {
      ending.verifyGoesOn();
      verifyReplaceable(target, isProgram);
      Path parent = target.getParent();
      if (parent == null) {
        throw new IOException("a root folder");
      }
      Files.createDirectories(parent);
      Path fresh = Files.createTempDirectory(parent, "." + target.getFileName() + "-");
      try {
        Checksums checksums = new Checksums(written);
        for (EmittedFile file : files) {
          writeFile(file, fresh, checksums, ending);
        }
        writeFile(checksums.file(), fresh, checksums, ending);
        ending.verifyGoesOn();
        replace(target, fresh);
      } finally {
        delete(fresh);
      }
    } catch (IOException e) {
      throw FolderCode.unwritable(target, e, "choose another output folder");
    }
  }

  private static void verifyReplaceable(Path target, Predicate<Path> isProgram) throws IOException {
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    if (!Files.isDirectory(target)) {
      throw notReplaceable(target, "a file", "choose another output folder");
    }
    if (isEmpty(target) || isProgram.test(target)) {
      return;
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

  /** Moves the new folder to its place; an old one is renamed until this succeeds. */
  private static void replace(Path target, Path fresh) throws IOException {
    setReadable(fresh);
    if (!Files.exists(target)) {
      Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    Path old = Files.createTempDirectory(target.getParent(), "." + target.getFileName() + "-");
    Files.move(target, old, StandardCopyOption.ATOMIC_MOVE);
    try {
      Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.move(old, target, StandardCopyOption.ATOMIC_MOVE);
      throw e;
    }
    delete(old);
  }

  /** Sets the usual permissions; temporary folders are private. */
  private static void setReadable(Path folder) {
    boolean done =
        folder.toFile().setReadable(true, false) && folder.toFile().setExecutable(true, false);
    assert done || Files.isReadable(folder);
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
