package io.partita.ir.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A file of an emitted program.
 *
 * @param path the path relative to the output folder, with {@code /} as separator
 * @param content writes the bytes, deterministically and without buffering them all
 */
public record EmittedFile(String path, Content content) {
  /** Writes the bytes of a file to a stream, which it doesn't close. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** Creates a file of UTF-8 text. */
  public static EmittedFile text(String path, String text) {
    return new EmittedFile(path, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns the content as UTF-8 text, for sources and descriptions. */
  public String text() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    content.writeTo(bytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
