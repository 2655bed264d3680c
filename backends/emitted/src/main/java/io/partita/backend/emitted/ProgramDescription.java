package io.partita.backend.emitted;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.NearestFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The file {@code model.json} in the folder of an emitted program: the {@link ProgramInterface},
 * and what the target's runner needs.
 *
 * @param format the text that identifies the target's descriptions
 * @param target the value of {@code --target} that writes them
 * @param unreadable the diagnostic for a folder without one
 */
public record ProgramDescription(String format, String target, DiagnosticCode unreadable) {
  /** The file's name. */
  public static final String FILE = "model.json";

  /**
   * Returns deterministic JSON.
   *
   * @param rest the fields of the target
   */
  public String json(ProgramInterface whole, Map<String, ?> rest) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", format);
    fields.putAll(whole.fields());
    fields.putAll(rest);
    return DescriptionFile.json(fields);
  }

  /**
   * Reads the description in a folder.
   *
   * @param reader reads the fields of the target
   * @throws PartitaException if there is none or it can't be read
   */
  public <T> T read(Path folder, Reader<T> reader) {
    return DescriptionFile.read(
        folder.resolve(FILE),
        format,
        fields -> reader.read(ProgramInterface.of(fields), fields),
        this::unreadable);
  }

  /** Whether a folder holds a program of the target. */
  public boolean isIn(Path folder, Reader<?> reader) {
    try {
      return Files.exists(folder.resolve(FILE)) && read(folder, reader) != null;
    } catch (PartitaException other) {
      return false;
    }
  }

  private PartitaException unreadable(Path file, String found) {
    return new PartitaException(
        unreadable,
        file.toString(),
        "a folder that 'partita compile --target " + target + "' wrote",
        found,
        NearestFile.folderRemedy(file, "name such a folder, or compile the model again"));
  }

  /** Makes the description of a target's program from its fields. */
  public interface Reader<T> {
    T read(ProgramInterface whole, DescriptionFields fields);
  }
}
