package io.partita.driver.evaluate;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;

/** Files of JSON in which commands keep what they measured. */
final class MeasurementFile {
  /** Says which kind of measurements a file has, and which version of it. */
  static final String FORMAT = "format";

  private MeasurementFile() {}

  /**
   * Returns the object in a file.
   *
   * @param format what the file must state
   * @param broken makes a diagnostic from what was found
   */
  static Map<String, Object> read(
      Path file, String format, Function<String, PartitaException> broken) {
    try {
      SmallFile.verifyEnds(file);
      Map<String, Object> json = JSON.std.mapFrom(Files.readString(file));
      if (json == null) {
        throw broken.apply("no JSON object");
      }
      Object found = json.get(FORMAT);
      if (found == null) {
        throw broken.apply("JSON of another kind");
      } else if (!format.equals(found)) {
        throw broken.apply("\"" + found + "\", not \"" + format + "\"");
      }
      return json;
    } catch (JacksonException notJson) {
      throw broken.apply("no JSON object");
    } catch (IOException unreadable) {
      throw broken.apply(FileFailure.words(file, unreadable));
    }
  }
}
