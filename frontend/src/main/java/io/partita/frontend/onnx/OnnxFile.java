package io.partita.frontend.onnx;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.NearestFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Maps protobuf files. */
final class OnnxFile {
  private OnnxFile() {}

  /**
   * Maps a file. Messages parsed from {@link #stream} refer to the mapped bytes.
   *
   * @throws PartitaException if it isn't a readable file of 1 byte to 2 GB
   */
  static ByteString map(Path path) {
    String where = path.toString();
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw new PartitaException(
          ImportCode.NOT_A_FILE,
          where,
          "an ONNX file",
          Files.isDirectory(path) ? "a folder" : "something else",
          "use the path of the .onnx file");
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
            "at most 2147483647 bytes, the limit of protobuf",
            size + " bytes",
            "export the model with external data");
      }
      return UnsafeByteOperations.unsafeWrap(channel.map(FileChannel.MapMode.READ_ONLY, 0, size));
    } catch (IOException failure) {
      throw new PartitaException(
          ImportCode.UNREADABLE,
          where,
          "a readable file",
          Files.exists(path) ? "access denied, or a disk error" : "no such file",
          NearestFile.remedy(path));
    }
  }

  /** Returns a stream whose bytes fields are views of {@code bytes}. */
  static CodedInputStream stream(ByteString bytes) {
    CodedInputStream stream = bytes.newCodedInput();
    stream.enableAliasing(true);
    return stream;
  }
}
