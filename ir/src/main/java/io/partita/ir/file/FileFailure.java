package io.partita.ir.file;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Says in words why a file can't be read or written: messages of most exceptions only name it. */
public final class FileFailure {
  private FileFailure() {}

  /**
   * Returns the reason, and the file if it is another one.
   *
   * @param named the file or folder that the diagnostic names
   */
  public static String words(Path named, IOException failure) {
    boolean isOther =
        failure instanceof FileSystemException system
            && system.getFile() != null
            && !Path.of(system.getFile()).toAbsolutePath().equals(named.toAbsolutePath());
    return (isOther ? ((FileSystemException) failure).getFile() + ": " : "") + reason(failure);
  }

  private static String reason(IOException failure) {
    return switch (failure) {
      case NoSuchFileException _ -> "no such file";
      case AccessDeniedException _ -> "no permission";
      case NotDirectoryException _ -> "not a folder";
      case FileAlreadyExistsException _ -> "a file that is already there";
      case CharacterCodingException _ -> "not text in UTF-8";
      case EOFException ended when ended.getMessage() == null -> "it ends early";
      case FileSystemException named when named.getReason() != null -> named.getReason();
      default ->
          failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    };
  }
}
