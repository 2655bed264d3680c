package io.partita.backend.java;

import io.partita.ir.file.EmittedFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files and folders of programs. */
final class ProgramFiles {
  private ProgramFiles() {}

  /** Writes the weights of a program in memory. */
  static void writeWeights(EmittedJava program, Path folder) throws IOException {
    for (EmittedFile file : program.files()) {
      if (file.path().endsWith(".weights")) {
        Path path = folder.resolve(file.path());
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
          file.content().writeTo(out);
        }
      }
    }
  }

  /** The text of a source of a program in memory. */
  static String source(EmittedJava program, String path) throws IOException {
    for (EmittedFile file : program.files()) {
      if (file.path().equals(path)) {
        return file.text();
      }
    }
    throw new IOException("the program has no " + path);
  }
}
