package io.partita.backend.metalium.simulator;

import io.partita.backend.emitted.run.GvsocPython;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An installed {@code ttnn}.
 *
 * @param python the Python that imports it
 * @param folder the package's folder
 * @param version such as {@code 0.81.1}
 */
public record TtnnInstallation(Path python, Path folder, String version) {
  /** The release that emitted programs are for. */
  public static final String RELEASE = "0.81.1";

  /** How to install it. */
  public static final String REMEDY =
      "a Python of version 3.10 or 3.12 with it: PYTHON -m pip install ttnn=="
          + RELEASE
          + ", then --python PYTHON";

  private static final int SECONDS = 60;

  private static final String SEARCH =
      """
      import importlib.metadata, importlib.util
      found = importlib.util.find_spec('ttnn')
      if found:
          print('partita:', importlib.metadata.version('ttnn'), found.submodule_search_locations[0])
      """;

  /**
   * Asks a Python where its {@code ttnn} is; empty if it has none.
   *
   * @param python a path, or a name on the PATH
   * @throws IOException if there is no such program, or it doesn't start
   */
  public static Optional<TtnnInstallation> find(String python) throws IOException {
    Path program =
        GvsocPython.find(python)
            .orElseThrow(() -> new IOException(python + " isn't on the path"))
            .toAbsolutePath();
    Process process =
        new ProcessBuilder(program.toString(), "-c", SEARCH)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    process.getOutputStream().close();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(python + " doesn't end");
      }
      return said.lines()
          .map(line -> line.split(" ", 3))
          .filter(fields -> fields.length == 3 && fields[0].equals("partita:"))
          .map(fields -> new TtnnInstallation(program, Path.of(fields[2]), fields[1]))
          .findFirst();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** The description of Wormhole that the runtime wants beside the simulator. */
  Path chip() {
    return folder.resolve("tt_metal/soc_descriptors/wormhole_b0_80_arch.yaml");
  }

  /** Tenstorrent's compiler, where the runtime looks for it. */
  public Optional<Path> compiler() {
    return Stream.of(folder.resolve("runtime/sfpi"), Path.of("/opt/tenstorrent/sfpi"))
        .map(root -> root.resolve("compiler/bin/riscv-tt-elf-g++"))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
