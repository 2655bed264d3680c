package io.partita.driver.npz;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is said of files that other programs wrote. */
class NpzTest {
  @TempDir Path folder;

  private static void assertRefused(Path file, String text) {
    assertThatThrownBy(() -> Npz.read(file))
        .isInstanceOf(PartitaException.class)
        .hasMessage(text.formatted(file).stripTrailing());
  }

  /** Returns an array of two elements, as numpy.save writes it. */
  private static byte[] array(String type) {
    String header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,), }\n";
    String text = "\u0093NUMPY\1\0" + (char) header.length() + "\0" + header;
    return (text + "\0".repeat(16)).getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void aSingleArray() throws IOException {
    assertRefused(
        Files.write(folder.resolve("one.npy"), array("<i8")),
        """
        error P6003: a NumPy file can't be read
          where:     %s
          expected:  a NumPy archive (.npz)
          found:     a single array (.npy)
          fix:       write it with numpy.savez
        """);
  }

  /** Tests an archive to which a program has appended a second version of an array. */
  @Test
  void severalArraysOfOneName() throws IOException {
    Path file = folder.resolve("twice.npz");
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(archive)) {
      for (String name : List.of("x.npy", "y.npy")) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(array("<i8"));
        zip.closeEntry();
      }
    }
    String bytes = archive.toString(StandardCharsets.ISO_8859_1).replace("y.npy", "x.npy");
    Files.write(file, bytes.getBytes(StandardCharsets.ISO_8859_1));
    assertRefused(
        file,
        """
        error P6003: a NumPy file can't be read
          where:     %s, array 'x'
          expected:  one array of each name
          found:     several
          fix:       write it with numpy.savez
        """);
  }

  @Test
  void otherFiles() throws IOException {
    assertRefused(
        Files.writeString(folder.resolve("text"), "text"),
        """
        error P6003: a NumPy file can't be read
          where:     %s
          expected:  a NumPy archive (.npz)
          found:     a damaged archive, or another kind of file
          fix:       write it with numpy.savez
        """);
    assertRefused(
        folder.resolve("none.npz"),
        """
        error P6005: a file can't be read or written
          where:     %s
          expected:  a file that can be read or written
          found:     no such file
          fix:       check the path
        """);
  }

  @Test
  void bytesInAnotherOrder() throws IOException {
    Path file = folder.resolve("big.npz");
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("ids.npy"));
      zip.write(array(">i8"));
    }
    assertRefused(
        file,
        """
        error P6003: a NumPy file can't be read
          where:     %s, array 'ids'
          expected:  little-endian data
          found:     big-endian data
          fix:       write array.astype('<i8')
        """);
  }
}
