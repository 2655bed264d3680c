package io.partita.cli;

import io.partita.frontend.onnx.ImportCode;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.zoo.Zoo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The model file that a command names.
 *
 * @param path the path as given
 */
record GivenModel(Path path) {
  private static final List<String> ENDINGS = List.of(".onnx", ".pir");

  /**
   * Returns the file.
   *
   * @throws PartitaException if it's missing and a model of the zoo is probably meant
   */
  Path file() {
    zooModel()
        .ifPresent(
            name -> {
              throw new PartitaException(
                  ImportCode.UNREADABLE,
                  path.toString(),
                  "the file of a model",
                  "no such file",
                  "to write the zoo model of this name: partita zoo %s -o %s.onnx"
                      .formatted(name, name));
            });
    return path;
  }

  /** The model of the zoo that is probably meant, perhaps misspelt, where there is no file. */
  Optional<String> zooModel() {
    if (Files.exists(path) || path.getNameCount() > 1) {
      return Optional.empty();
    }
    String name = path.toString();
    for (String ending : ENDINGS) {
      name = name.endsWith(ending) ? name.substring(0, name.length() - ending.length()) : name;
    }
    return NearestName.of(name, Zoo.names());
  }
}
