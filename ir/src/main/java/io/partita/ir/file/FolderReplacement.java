package io.partita.ir.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * Replaces a folder by another that is complete.
 *
 * @param target the folder, which may be missing
 * @param staysInPlace whether its contents are moved, not the folder itself
 */
record FolderReplacement(Path target, boolean staysInPlace) {
  /** Other processes that may write the same folder at the same moment. */
  private static final int MAX_OTHERS = 20;

  private static final Comparator<Path> CHECKSUMS_LAST =
      Comparator.comparing(name -> name.toString().equals(Checksums.FILE));

  /**
   * A folder stays in place if it can't be moved, since it is a mount point or the folder above is
   * write-protected, and if it is the working folder, in which a shell would otherwise look at
   * deleted files.
   */
  static FolderReplacement of(Path target) throws IOException {
    try {
      return new FolderReplacement(target, Files.isDirectory(target) && mustStay(target));
    } catch (NoSuchFileException replaced) {
      // By another process, so it can be moved.
      return new FolderReplacement(target, false);
    }
  }

  private static boolean mustStay(Path target) throws IOException {
    Path parent = target.getParent();
    return !Files.isWritable(parent)
        || !Files.getFileStore(target).equals(Files.getFileStore(parent))
        || Files.isSameFile(target, Path.of(""));
  }

  /** Creates an empty folder on the same disk. */
  Path stage() throws IOException {
    return TemporaryName.createFolder(staysInPlace ? target : target.getParent(), target);
  }

  /** Moves a folder that {@link #stage} created to its place. If that fails, the old one stays. */
  void replace(Path fresh) throws IOException {
    if (staysInPlace) {
      replaceContents(fresh);
    } else {
      replaceFolder(fresh);
    }
  }

  private void replaceFolder(Path fresh) throws IOException {
    Path old = stage();
    try {
      for (int others = 0; !isReplaced(fresh, old.resolve("" + others), others); others++) {
        // The folder of another process is replaced too.
      }
    } finally {
      // After two failures it has the only copy.
      if (Files.exists(target) || isEmpty(old)) {
        OutputFolder.delete(old);
      }
    }
  }

  /** Returns false if it may succeed next, since another process has moved folders meanwhile. */
  private boolean isReplaced(Path fresh, Path former, int others) throws IOException {
    boolean hadTarget = hasMoved(target, former);
    try {
      move(fresh, target);
      return true;
    } catch (IOException failure) {
      if (hadTarget && !Files.exists(target)) {
        restore(former, failure);
      }
      if (others == MAX_OTHERS) {
        throw failure;
      }
      return false;
    }
  }

  private void restore(Path former, IOException failure) {
    try {
      move(former, target);
    } catch (IOException taken) {
      // Another process has written a folder, or the first failure says it all.
      failure.addSuppressed(taken);
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    return names(folder, CHECKSUMS_LAST).isEmpty();
  }

  private static boolean hasMoved(Path from, Path to) throws IOException {
    try {
      move(from, to);
      return true;
    } catch (NoSuchFileException missing) {
      return false;
    }
  }

  /** Moves the old contents away and the new ones in; without checksums, a program isn't run. */
  private void replaceContents(Path fresh) throws IOException {
    Path old = stage();
    Deque<Path> out = new ArrayDeque<>();
    Deque<Path> in = new ArrayDeque<>();
    try {
      for (Path name : names(target, CHECKSUMS_LAST.reversed())) {
        if (!name.equals(old.getFileName()) && !name.equals(fresh.getFileName())) {
          move(target.resolve(name), old.resolve(name));
          out.push(name);
        }
      }
      for (Path name : names(fresh, CHECKSUMS_LAST)) {
        move(fresh.resolve(name), target.resolve(name));
        in.push(name);
      }
    } catch (IOException failure) {
      for (Path name : in) {
        move(target.resolve(name), fresh.resolve(name));
      }
      for (Path name : out) {
        move(old.resolve(name), target.resolve(name));
      }
      throw failure;
    } finally {
      OutputFolder.delete(old);
    }
  }

  private static List<Path> names(Path folder, Comparator<Path> order) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(Path::getFileName).sorted(order).toList();
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }
}
