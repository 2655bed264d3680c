package io.partita.maven;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Says in words why a file can't be read or written: messages of most exceptions only name it. */
final class FileProblem {
  private FileProblem() {}

  /** Returns the reason and the file, if the exception knows it. */
  static String words(IOException failure) {
    if (failure instanceof FileSystemException known) {
      return known.getFile() + ": " + reason(known);
    }
    return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
  }

  private static String reason(FileSystemException failure) {
    if (failure instanceof NoSuchFileException) {
      return "no such file";
    } else if (failure instanceof AccessDeniedException) {
      return "no permission";
    } else if (failure instanceof FileAlreadyExistsException) {
      return "a file that is already there";
    }
    return failure.getReason() == null ? failure.getClass().getSimpleName() : failure.getReason();
  }
}
