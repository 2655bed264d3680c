package io.partita.ir.file;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Files and folders with hidden, temporary names, on the disk of those that they will replace. They
 * have the permissions of what they replace, or else the usual ones.
 */
public final class TemporaryName {
  /** At most 160 bytes in UTF-8, so that any name that is possible itself has room for the rest. */
  private static final int LONGEST_BEGINNING = 40;

  private TemporaryName() {}

  /** Creates a file or folder that isn't there yet. */
  private interface Creation {
    Path create(Path path) throws IOException;
  }

  /** Returns the beginning of temporary names for a file or folder. */
  public static String prefix(Path target) {
    String name = target.getFileName().toString();
    int length = name.codePointCount(0, name.length());
    int end = name.offsetByCodePoints(0, Math.min(length, LONGEST_BEGINNING));
    return "." + name.substring(0, end) + "-";
  }

  /** Creates a file in the folder of {@code target} that no other process writes. */
  public static Path createFile(Path target) throws IOException {
    return created(target.getParent(), target, ".part", Files::createFile);
  }

  /** Creates a folder in {@code place}, for the contents of {@code target}. */
  static Path createFolder(Path place, Path target) throws IOException {
    return created(place, target, "", Files::createDirectory);
  }

  private static Path created(Path place, Path target, String suffix, Creation creation)
      throws IOException {
    while (true) {
      // Random, since a name that is free again may still be known to the process that had it.
      String unique = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
      try {
        Path path = creation.create(place.resolve(prefix(target) + unique + suffix));
        takePermissions(target, path);
        return path;
      } catch (FileAlreadyExistsException taken) {
        // By another process, or one that was killed.
      } catch (AccessDeniedException denied) {
        // Not the temporary file is of interest, but the folder that it would be in.
        throw new AccessDeniedException(place.toString());
      }
    }
  }

  private static void takePermissions(Path from, Path to) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(to, PosixFileAttributeView.class);
    if (view == null) {
      return;
    }
    try {
      view.setPermissions(Files.getPosixFilePermissions(from));
    } catch (NoSuchFileException fresh) {
      // Nothing is replaced, so the usual permissions are right.
    }
  }
}
