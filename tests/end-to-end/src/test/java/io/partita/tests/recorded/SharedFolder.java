package io.partita.tests.recorded;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Data beside the repository that is too large for it, or not ours. */
public final class SharedFolder {
  /** Tests run in their module's folder. */
  private static final Path SHARED = Path.of("../../../shared");

  private SharedFolder() {}

  /** Returns the folder, or skips the test and says what is missing and how to get it. */
  public static Path require(String folder, String howToGet) {
    Optional<Path> path = find(folder, howToGet);
    assumeThat(path).as("the folder ../shared/%s", folder).isPresent();
    return path.orElseThrow();
  }

  /** Returns the folder if it exists; otherwise prints what is missing and how to get it. */
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
