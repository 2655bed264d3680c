package io.partita.frontend.onnx;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens a protobuf file for reading in place. */
final class OnnxFile {
  private OnnxFile() {}

  /**
   * The file's bytes, mapped. Messages that are parsed from the stream of {@link #stream} point
   * into them.
   *
   * @throws PartitaException when it's no readable file of 1 byte to 2 GB
   */
  static ByteString map(Path path) {
    String where = path.toString();
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw new PartitaException(
          ImportCode.NOT_A_FILE,
          where,
          "an ONNX file",
          Files.isDirectory(path) ? "a folder" : "something else",
          "name the .onnx file itself");
    }
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size == 0) {
        throw new PartitaException(
            ImportCode.EMPTY, where, "an ONNX file", "no bytes", "fetch or export it again");
      }
      if (size > Integer.MAX_VALUE) {
        throw new PartitaException(
            ImportCode.TOO_LARGE,
            where,
            "at most 2147483647 bytes, which is what protobuf allows",
            size + " bytes",
            "export the model with external data");
      }
      return UnsafeByteOperations.unsafeWrap(channel.map(FileChannel.MapMode.READ_ONLY, 0, size));
    } catch (IOException failure) {
      throw new PartitaException(
          ImportCode.UNREADABLE,
          where,
          "a readable file",
          Files.exists(path) ? "access is denied, or the disk fails" : "no such file",
          "check the path");
    }
  }

  /** Bytes fields come out as views of {@code bytes}, not as copies. */
  static CodedInputStream stream(ByteString bytes) {
    CodedInputStream stream = bytes.newCodedInput();
    stream.enableAliasing(true);
    return stream;
  }
}
