package io.partita.ir.file;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

/**
 * The target of an output file.
 *
 * @param path the path after symbolic links
 * @param isStream whether it is a device, a pipe or the like, which must not be replaced
 */
public record OutputTarget(Path path, boolean isStream) {
  private static final int MAX_LINKS = 40;
  private static final Set<String> STANDARD_OUTPUT =
      Set.of("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1");

  /** Whether a file is the standard output of the process. */
  public static boolean isStandardOutput(Path file) {
    return STANDARD_OUTPUT.contains(file.toString());
  }

  /**
   * Follows symbolic links.
   *
   * @throws IOException if the target can't be written
   */
  public static OutputTarget of(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    for (int links = 0; Files.isSymbolicLink(target) && isOrdinary(target); links++) {
      if (links == MAX_LINKS) {
        throw new FileSystemException(file.toString(), null, "too many symbolic links");
      }
      target = target.resolveSibling(Files.readSymbolicLink(target)).normalize();
    }
    if (Files.isDirectory(target)) {
      throw new FileSystemException(file.toString(), null, "it is a folder");
    }
    if (Files.exists(target) && !Files.isWritable(target)) {
      throw new AccessDeniedException(file.toString(), null, "no permission to write it");
    }
    boolean isStream = Files.exists(target) && !Files.isRegularFile(target);
    if (!isStream) {
      verifyAbove(target);
    }
    return new OutputTarget(target, isStream);
  }

  /**
   * Checks that the folder above can get new files, or that it can be created.
   *
   * @throws IOException that names the folder
   */
  static void verifyAbove(Path target) throws IOException {
    Path above = target.toAbsolutePath().getParent();
    while (above.getParent() != null && !Files.exists(above)) {
      above = above.getParent();
    }
    if (!Files.isDirectory(above)) {
      throw new NotDirectoryException(above.toString());
    }
    if (!Files.isWritable(above)) {
      throw new AccessDeniedException(above.toString());
    }
    for (Path name : above.relativize(target.toAbsolutePath())) {
      verifyName(above.resolve(name));
    }
  }

  /** Checks that the file system takes a name: it isn't too long, for example. */
  private static void verifyName(Path path) throws IOException {
    try {
      Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException possible) {
      // Only another failure says that the name can't be created.
    }
  }

  /** Links below /proc are open files, which have no other name. */
  private static boolean isOrdinary(Path link) {
    return !link.startsWith("/proc");
  }
}
