package io.partita.maven;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugin.MojoExecutionException;

/**
 * A file that records the arguments, compiler and input files of an execution, and its output.
 * Input files are identified by their SHA-256; as in Git, a file with unchanged size and time isn't
 * read again, unless it was written within two seconds of the stamp.
 */
final class Stamp {
  private static final String FORMAT = "partita-stamp-2";
  private static final long CLOCK_MILLIS = 2000;
  private static final int BLOCK = 1 << 20;

  private final Path file;
  private final String request;

  /**
   * @param file the stamp's file
   * @param arguments the arguments of the compiler
   * @param plugin the jars of the plugin, identified by time and size
   */
  Stamp(Path file, List<String> arguments, List<Path> plugin) {
    this.file = file;
    StringBuilder text = new StringBuilder(FORMAT);
    arguments.forEach(argument -> text.append('\0').append(argument));
    for (Path jar : plugin) {
      text.append('\0').append(jar);
      try {
        text.append('\0').append(Files.getLastModifiedTime(jar).toMillis());
        text.append('\0').append(Files.size(jar));
      } catch (IOException missing) {
        // Maven has just read it.
      }
    }
    this.request =
        "request "
            + HexFormat.of()
                .formatHex(sha256().digest(text.toString().getBytes(StandardCharsets.UTF_8)));
  }

  /** Whether nothing has changed since the stamp was written. */
  boolean isCurrent() {
    try {
      List<String> lines = Files.readAllLines(file);
      if (lines.isEmpty() || !lines.get(0).equals(request)) {
        return false;
      }
      long written = Files.getLastModifiedTime(file).toMillis();
      for (String line : lines.subList(1, lines.size())) {
        String[] parts = line.split(" ", 5);
        boolean isInput = parts[0].equals("input");
        if (parts.length < 5 || !isCurrent(parts, isInput, written)) {
          return false;
        }
      }
      return true;
    } catch (IOException | NumberFormatException | InvalidPathException other) {
      return false;
    }
  }

  /** Formats a line: kind, hash, size, time, path. */
  private static boolean isCurrent(String[] parts, boolean isInput, long written)
      throws IOException {
    Path path = Path.of(parts[4]);
    long size = Files.size(path);
    long time = Files.getLastModifiedTime(path).toMillis();
    if (size != Long.parseLong(parts[2])) {
      return false;
    }
    boolean sameTime = time == Long.parseLong(parts[3]);
    if (!isInput) {
      return sameTime;
    }
    return sameTime && time < written - CLOCK_MILLIS || hash(path).equals(parts[1]);
  }

  /** Deletes the stamp. */
  void clear() throws MojoExecutionException {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /**
   * Writes the stamp, unless an input may not be what was read.
   *
   * @param compiler the jars of the compiler, which are identified by time and size from now on
   * @param started when the inputs had not been read yet
   * @return an input that was written or removed since
   */
  Optional<Path> write(List<Path> compiler, List<Path> inputs, List<Path> outputs, Instant started)
      throws MojoExecutionException {
    try {
      for (Path input : inputs) {
        if (!Files.exists(input) || Files.getLastModifiedTime(input).toInstant().isAfter(started)) {
          return Optional.of(input);
        }
      }
      List<String> lines = new ArrayList<>(List.of(request));
      for (Path jar : compiler) {
        lines.add(line("compiler", "-", jar));
      }
      for (Path input : inputs) {
        lines.add(line("input", hash(input), input));
      }
      for (Path output : outputs) {
        lines.add(line("output", "-", output));
      }
      Files.createDirectories(file.getParent());
      Files.write(file, lines);
      return Optional.empty();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private static String line(String kind, String hash, Path path) throws IOException {
    long time = Files.getLastModifiedTime(path).toMillis();
    return kind + " " + hash + " " + Files.size(path) + " " + time + " " + path;
  }

  private MojoExecutionException failure(IOException e) {
    return new MojoExecutionException(file + " can't be written: " + FileProblem.words(e), e);
  }

  private static String hash(Path path) throws IOException {
    MessageDigest digest = sha256();
    try (InputStream in = new DigestInputStream(Files.newInputStream(path), digest)) {
      byte[] block = new byte[BLOCK];
      while (in.read(block) >= 0) {
        // The digest is updated by reading.
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
