package io.partita.driver.raise;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Module;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** An exported model with its expected structure. */
record Fixture(String name, Path folder, Map<String, Object> description) {
  private static final Path FIXTURES = Path.of("../../tests/fixtures");

  /** Returns the fixtures of a family with a known number of blocks. */
  static List<Fixture> of(String family) {
    try (Stream<Path> folders = Files.list(FIXTURES.resolve(family))) {
      return folders
          .filter(folder -> Files.exists(folder.resolve("network.onnx")))
          .sorted()
          .map(Fixture::read)
          .filter(fixture -> fixture.expected("blocks") > 0)
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Fixture read(Path folder) {
    try {
      String text = Files.readString(folder.resolve("fixture.json"));
      return new Fixture(
          folder.getParent().getFileName() + "/" + folder.getFileName(),
          folder,
          JSON.std.mapFrom(text));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the number of parts, or 0 if unknown. */
  int expected(String part) {
    return description.get("expect") instanceof Map<?, ?> expect
            && expect.get(part) instanceof Number count
        ? count.intValue()
        : 0;
  }

  double tolerance() {
    return ((Number) description.get("tolerance")).doubleValue();
  }

  /** Imports it with dynamic dimensions. */
  Module module() {
    return new OnnxImporter(ImportOptions.NONE)
        .importModel(OnnxModel.read(folder.resolve("network.onnx")));
  }

  @Override
  public String toString() {
    return name;
  }
}
