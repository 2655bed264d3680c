package io.partita.ir.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * One file of an emitted program.
 *
 * @param path relative to the output folder, parts separated by {@code /}
 * @param content writes the bytes, the same ones each time, without holding them all
 */
public record EmittedFile(String path, Content content) {
  /** Writes a file's bytes to a stream, which it doesn't close. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** A file of text in UTF-8. */
  public static EmittedFile text(String path, String text) {
    return new EmittedFile(path, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** The content as UTF-8 text; for sources and descriptions, not for weights. */
  public String text() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    content.writeTo(bytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
