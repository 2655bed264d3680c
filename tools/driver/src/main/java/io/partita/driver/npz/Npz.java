package io.partita.driver.npz;

import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.SmallFile;
import io.partita.ir.tensor.Tensor;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** NumPy archives: arrays by name, in the order of the file. */
public final class Npz {
  private static final String SUFFIX = ".npy";

  private Npz() {}

  /**
   * Reads all arrays.
   *
   * @throws PartitaException when the file isn't an archive of arrays that a tensor can hold
   */
  public static Map<String, Tensor> read(Path file) {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    if (SmallFile.isOther(file)) {
      throw Npy.bad(file.toString(), "a NumPy archive (.npz)", "a pipe or a device");
    }
    try (ZipFile zip = new ZipFile(file.toFile())) {
      for (ZipEntry entry : Collections.list(zip.entries())) {
        String name = entry.getName();
        if (name.endsWith(SUFFIX)) {
          String array = name.substring(0, name.length() - SUFFIX.length());
          try (InputStream in = new BufferedInputStream(zip.getInputStream(entry))) {
            String where = file + ", array '" + array + "'";
            if (arrays.put(array, Npy.read(in, where)) != null) {
              throw Npy.bad(where, "one array of each name", "several");
            }
          }
        }
      }
    } catch (ZipException notAnArchive) {
      throw Npy.bad(file.toString(), "a NumPy archive (.npz)", kind(file));
    } catch (IOException unreadable) {
      throw OutputFile.failure(file, unreadable);
    }
    return arrays;
  }

  private static String kind(Path file) {
    try {
      return Npy.isIn(file)
          ? "a single array (.npy)"
          : "a damaged archive, or another kind of file";
    } catch (IOException unreadable) {
      throw OutputFile.failure(file, unreadable);
    }
  }

  /** Writes the arrays, in their order, uncompressed as {@code numpy.savez} does. */
  public static void write(Map<String, Tensor> arrays, OutputStream out) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setLevel(0);
      for (Map.Entry<String, Tensor> array : arrays.entrySet()) {
        ZipEntry entry = new ZipEntry(array.getKey() + SUFFIX);
        entry.setTime(0);
        zip.putNextEntry(entry);
        Npy.write(array.getValue(), zip);
        zip.closeEntry();
      }
    }
  }
}
