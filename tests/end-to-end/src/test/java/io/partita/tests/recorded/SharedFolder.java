package io.partita.tests.recorded;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Data that lies beside the repository because it's too large, or not ours, to be inside. */
public final class SharedFolder {
  /** Tests run in their module's folder. */
  private static final Path SHARED = Path.of("../../../shared");

  private SharedFolder() {}

  /** The folder, or a skipped test that says what is missing and how to get it. */
  public static Path require(String folder, String howToGet) {
    Optional<Path> path = find(folder, howToGet);
    assumeThat(path).as("the folder ../shared/%s", folder).isPresent();
    return path.orElseThrow();
  }

  /** The folder if it is there; otherwise it's said what is missing and how to get it. */
  public static Optional<Path> find(String folder, String howToGet) {
    Path path = SHARED.resolve(folder);
    if (Files.isDirectory(path)) {
      return Optional.of(path);
    }
    System.out.printf(
        "SKIPPED: no folder ../shared/%s beside the repository, so nothing was compared with it;"
            + " to get it: %s%n",
        folder, howToGet);
    return Optional.empty();
  }
}
