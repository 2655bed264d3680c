package io.partita.ir.file;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/**
 * The checksums of an output folder: a file with a line for each other file, with its CRC-32C, size
 * and path; the last line has the checksum of the lines before. CRC-32C (RFC 3720, appendix B.4)
 * detects damage, not forgery; the JDK uses the instruction that processors have for it.
 */
public final class Checksums {
  /** The file's name. */
  public static final String FILE = "checksums.txt";

  private static final Pattern LINE = Pattern.compile("([0-9a-f]{8}) (\\d{1,18}) (\\S.*)");
  private static final long SEGMENT = 1L << 30;

  private final List<String> lines = new ArrayList<>();
  private final LongConsumer written;
  private long bytes;

  /**
   * @param written receives the number of bytes of all files that have been written, often
   */
  Checksums(LongConsumer written) {
    this.written = written;
  }

  /** The expected size and checksum of a file. */
  private record Entry(int checksum, long bytes, String path) {}

  /** Writes the content of a file to a stream, and records its checksum. */
  void write(EmittedFile file, OutputStream out) throws IOException {
    long before = bytes;
    CheckedOutputStream checked =
        new CheckedOutputStream(out, new CRC32C()) {
          @Override
          public void write(byte[] block, int offset, int length) throws IOException {
            super.write(block, offset, length);
            count(length);
          }

          @Override
          public void write(int value) throws IOException {
            super.write(value);
            count(1);
          }
        };
    file.content().writeTo(checked);
    long checksum = checked.getChecksum().getValue();
    lines.add("%08x %d %s".formatted(checksum, bytes - before, file.path()));
  }

  private void count(int more) {
    bytes += more;
    written.accept(bytes);
  }

  /** Returns the file of recorded checksums. */
  EmittedFile file() {
    String text = lines.stream().sorted().map(line -> line + "\n").collect(Collectors.joining());
    return EmittedFile.text(FILE, text + ownLine(text));
  }

  /** Returns the last line, with the checksum of those before. */
  private static String ownLine(String before) {
    byte[] bytes = before.getBytes(StandardCharsets.UTF_8);
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return "%08x %d %s\n".formatted(checksum.getValue(), bytes.length, FILE);
  }

  /**
   * Returns the sorted paths of changed files.
   *
   * @param isVerified the files whose checksums are compared; for others only the size
   * @throws PartitaException P5031 if the folder has no checksums
   */
  public static List<String> changed(Path folder, Predicate<String> isVerified) {
    List<String> changed = new ArrayList<>();
    for (Entry entry : read(folder)) {
      try {
        Path file = folder.resolve(entry.path());
        boolean isSame = Files.isRegularFile(file) && Files.size(file) == entry.bytes();
        if (!isSame || isVerified.test(entry.path()) && checksum(file) != entry.checksum()) {
          changed.add(entry.path());
        }
      } catch (IOException unreadable) {
        changed.add(entry.path());
      }
    }
    return changed.stream().sorted().toList();
  }

  private static List<Entry> read(Path folder) {
    Path file = folder.resolve(FILE);
    try {
      List<Entry> entries = new ArrayList<>();
      String text = SmallFile.text(file);
      int last = text.lastIndexOf('\n', text.length() - 2) + 1;
      if (!text.substring(last).equals(ownLine(text.substring(0, last)))) {
        throw unreadable(file, "a checksum that differs from the one on its last line");
      }
      for (String line : text.substring(0, last).lines().toList()) {
        Matcher fields = LINE.matcher(line);
        if (!fields.matches()) {
          throw unreadable(file, "the line '" + line + "'");
        }
        int checksum = Integer.parseUnsignedInt(fields.group(1), 16);
        entries.add(new Entry(checksum, Long.parseLong(fields.group(2)), fields.group(3)));
      }
      return entries;
    } catch (NoSuchFileException missing) {
      throw unreadable(file, "no such file");
    } catch (IOException | IllegalArgumentException other) {
      throw unreadable(file, String.valueOf(other.getMessage()));
    }
  }

  private static PartitaException unreadable(Path file, String found) {
    return new PartitaException(
        FolderCode.NO_CHECKSUMS,
        file.toString(),
        "a line for each file of the folder: its CRC-32C, its size and its path",
        found,
        "compile the model again, or copy the whole folder again");
  }

  private static int checksum(Path file) throws IOException {
    CRC32C checksum = new CRC32C();
    try (FileChannel channel = FileChannel.open(file)) {
      long size = channel.size();
      for (long start = 0; start < size; start += SEGMENT) {
        ByteBuffer bytes =
            channel.map(FileChannel.MapMode.READ_ONLY, start, Math.min(SEGMENT, size - start));
        checksum.update(bytes);
      }
    }
    return (int) checksum.getValue();
  }

  /** Returns the diagnostic for changed files. */
  public static PartitaException refusal(Path folder, List<String> changed, String otherwise) {
    return new PartitaException(
        FolderCode.CHANGED_FILES,
        folder.toString(),
        "unmodified files, which " + FILE + " says",
        "modified, truncated, missing or not readable: " + String.join(", ", changed),
        "compile the model again, or copy the whole folder again" + otherwise);
  }
}
