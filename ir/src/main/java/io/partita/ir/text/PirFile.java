package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.NearestFile;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.file.ShutdownGuard;
import io.partita.ir.file.SmallFile;
import io.partita.ir.file.TemporaryName;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.Function;

/**
 * A module or a program in files: {@code x.pir} with the text, and {@code x.weights} beside it with
 * constants to which the text refers, if any.
 */
public final class PirFile {
  private static final String SUFFIX = ".pir";

  private PirFile() {}

  /** Returns the weights file of a text file. */
  public static Path weights(Path text) {
    String name = text.getFileName().toString();
    String stem = name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
    return text.resolveSibling(stem + ".weights");
  }

  /**
   * Writes both files atomically under temporary names, so that a failure or an interrupt keeps the
   * old ones; the folder must exist.
   *
   * @throws PartitaException {@link TextCode#FILE}
   */
  public static void write(Module module, Path file) {
    WeightTable table = WeightTable.of(module.graph(), Long.MAX_VALUE);
    write(PirPrinter.print(module, table), table, file);
  }

  /**
   * Writes a program, like {@link #write(Module, Path)}.
   *
   * @throws PartitaException {@link TextCode#FILE}
   */
  public static void write(Program program, Path file) {
    WeightTable table = PirPrinter.weights(program);
    write(PirPrinter.print(program, table), table, file);
  }

  /** Writes the files of a text in this form or another one. */
  static void write(String text, WeightTable table, Path file) {
    try (ShutdownGuard ending = new ShutdownGuard()) {
      write(text, table, file, ending);
    } catch (IOException e) {
      throw failure(file, "a writable file", e);
    }
  }

  private static void write(String text, WeightTable table, Path file, ShutdownGuard ending)
      throws IOException {
    OutputTarget target = OutputTarget.of(file);
    if (target.isStream()) {
      if (!table.isEmpty()) {
        throw new IOException("a pipe or a device, which can't have a file of weights");
      }
      Files.writeString(target.path(), text, StandardOpenOption.WRITE);
      return;
    }
    writeFiles(text, table, target.path(), ending);
  }

  private static void writeFiles(String text, WeightTable table, Path file, ShutdownGuard ending)
      throws IOException {
    ending.verifyGoesOn();
    Path textPart = TemporaryName.createFile(file);
    Path weightsPart = null;
    try {
      Files.writeString(textPart, text);
      if (!table.isEmpty()) {
        Path weights = weightsTarget(file);
        weightsPart = TemporaryName.createFile(weights);
        try (FileChannel channel = FileChannel.open(weightsPart, StandardOpenOption.WRITE)) {
          table.writeTo(ending.watched(channel));
        }
        ending.verifyGoesOn();
        move(weightsPart, weights);
      }
      move(textPart, file);
    } finally {
      delete(textPart);
      delete(weightsPart);
    }
  }

  /** Links are followed, as for the text. */
  private static Path weightsTarget(Path file) throws IOException {
    OutputTarget weights = OutputTarget.of(weights(file));
    if (weights.isStream()) {
      throw new IOException(weights.path() + ": a pipe or a device, which can't hold weights");
    }
    return weights.path();
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void delete(Path part) {
    if (part != null) {
      part.toFile().delete();
    }
  }

  /**
   * Parses the text and maps the weights, which are read at their use; hashes of weights up to 1
   * MiB are checked.
   *
   * @throws PartitaException with a {@link TextCode}
   */
  public static Module read(Path file) {
    String text = text(file);
    if (PirParser.isProgram(text)) {
      throw new PartitaException(
          TextCode.FILE,
          file.toString(),
          "the text of a module",
          "the text of a program",
          "use partita opt, or give the module that it was made from");
    }
    return PirParser.parse(text, file.toString(), map(weights(file)));
  }

  /** Whether a file has the name of a text of a module or a program. */
  public static boolean isPir(Path file) {
    return file.toString().endsWith(SUFFIX);
  }

  /**
   * Parses the text of a module or a program, and maps the weights like {@link #read(Path)}.
   *
   * @param <T> the common result
   * @throws PartitaException with a {@link TextCode}
   */
  public static <T> T read(
      Path file, Function<Module, ? extends T> ofModule, Function<Program, ? extends T> ofProgram) {
    String text = text(file);
    MemorySegment weights = map(weights(file));
    return PirParser.isProgram(text)
        ? ofProgram.apply(PirParser.parseProgram(text, file.toString(), weights))
        : ofModule.apply(PirParser.parse(text, file.toString(), weights));
  }

  /**
   * @throws PartitaException {@link TextCode#FILE}
   */
  static String text(Path file) {
    if (SmallFile.isOther(file)) {
      throw failure(file, "a regular file", "a pipe or a device");
    }
    try {
      return Files.readString(file);
    } catch (CharacterCodingException e) {
      throw failure(file, "text in UTF-8", "other bytes");
    } catch (IOException e) {
      throw failure(file, "a readable text file", e);
    } catch (OutOfMemoryError e) {
      throw failure(file, "a text that fits into memory", "a larger one");
    }
  }

  /** Maps a weights file; {@link MemorySegment#NULL} if there is none. */
  static MemorySegment map(Path file) {
    if (!Files.isRegularFile(file)) {
      return MemorySegment.NULL;
    }
    try (FileChannel channel = FileChannel.open(file)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
    } catch (IOException e) {
      throw failure(file, "a readable weights file", e);
    }
  }

  private static PartitaException failure(Path file, String expected, IOException error) {
    String found =
        error instanceof NoSuchFileException
            ? "no such file or folder"
            : Files.isDirectory(file) ? "a folder" : FileFailure.words(file, error);
    return failure(file, expected, found);
  }

  private static PartitaException failure(Path file, String expected, String found) {
    return new PartitaException(
        TextCode.FILE,
        file.toString(),
        expected,
        found,
        NearestFile.remedy(file, "check the path and the file"));
  }
}
