package io.partita.backend.emitted.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The public headers of GVSoC, with which the board's components are compiled. */
public final class GvsocHeaders {
  /** The option that names their folder. */
  public static final String OPTION = "--gvsoc-headers";

  private static final Path ANY_HEADER = Path.of("vp", "vp.hpp");

  private GvsocHeaders() {}

  /**
   * Finds their folder.
   *
   * @param installed where GVSoC is installed. Its headers are there, or in its sources around that
   *     folder.
   * @param named the folder that the user named, in which alone they are looked for
   */
  public static Optional<Path> find(Path installed, Optional<Path> named) {
    List<Path> places =
        named
            .map(List::of)
            .orElse(
                List.of(
                    installed.resolve("include"),
                    installed.resolveSibling("core").resolve("engine/include")));
    return places.stream()
        .filter(place -> Files.exists(place.resolve(ANY_HEADER)))
        .map(Path::toAbsolutePath)
        .findFirst();
  }
}
