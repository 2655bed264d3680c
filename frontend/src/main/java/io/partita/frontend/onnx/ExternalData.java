package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/**
 * The external data files of a model. Each file is mapped once, when a tensor first needs it, and
 * never copied. A mapping lives as long as its tensors.
 */
final class ExternalData {
  private final Path folder;
  private final Map<String, MemorySegment> files = new HashMap<>();
  private final Map<Path, MemorySegment> byRealPath = new HashMap<>();

  /**
   * @param folder the folder of the model, which must contain all data
   */
  ExternalData(Path folder) {
    this.folder = folder;
  }

  /** Returns {@code length} bytes at {@code offset} of the file at {@code location}. */
  MemorySegment read(String where, String location, long offset, long length) {
    MemorySegment file = files.get(location);
    if (file == null) {
      file = open(where, location);
      files.put(location, file);
    }
    if (offset < 0 || length < 0 || offset > file.byteSize() - length) {
      throw new PartitaException(
          ImportCode.EXTERNAL_RANGE,
          where,
          length + " bytes at offset " + offset + " of " + location,
          "a file of " + file.byteSize() + " bytes",
          "fetch the file again, or export the model again");
    }
    return file.asSlice(offset, length);
  }

  private MemorySegment open(String where, String location) {
    Path real = realPath(where, location);
    MemorySegment known = byRealPath.get(real);
    if (known != null) {
      return known;
    }
    try (FileChannel channel = FileChannel.open(real, StandardOpenOption.READ)) {
      MemorySegment mapped =
          channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
      byRealPath.put(real, mapped);
      return mapped;
    } catch (IOException | UnsupportedOperationException failure) {
      throw missing(where, location, failure.getMessage());
    }
  }

  /** Resolves the symbolic links of a file, which must be in the resolved folder. */
  private Path realPath(String where, String location) {
    Path relative;
    try {
      relative = Path.of(location);
    } catch (InvalidPathException invalid) {
      throw outside(where, location);
    }
    boolean climbs = false;
    for (Path part : relative) {
      climbs |= part.toString().equals("..");
    }
    if (location.isEmpty() || relative.isAbsolute() || climbs || location.contains("\\..")) {
      throw outside(where, location);
    }
    try {
      Path real = folder.resolve(relative).toRealPath();
      if (!real.startsWith(folder.toRealPath())) {
        throw outside(where, location);
      }
      if (!Files.isRegularFile(real, LinkOption.NOFOLLOW_LINKS)) {
        throw missing(where, location, "not a regular file");
      }
      return real;
    } catch (IOException failure) {
      throw missing(where, location, "no such file");
    }
  }

  private static PartitaException outside(String where, String location) {
    return new PartitaException(
        ImportCode.EXTERNAL_LOCATION,
        where,
        "a relative path to a file in the model's folder",
        "location \"" + location + "\"",
        "move the data to the folder of the model, and export it with a plain file name");
  }

  private static PartitaException missing(String where, String location, String found) {
    return new PartitaException(
        ImportCode.EXTERNAL_MISSING,
        where,
        "the file " + location + " in the model's folder",
        found,
        "put the model's data files into its folder");
  }
}
