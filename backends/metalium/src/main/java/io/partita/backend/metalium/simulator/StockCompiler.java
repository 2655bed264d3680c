package io.partita.backend.metalium.simulator;

import io.partita.backend.emitted.ResourceFolder;
import io.partita.backend.emitted.run.Build;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A stock RISC-V GCC in place of Tenstorrent's compiler. The runtime finds it in a root folder of
 * its own: links to {@code ttnn}, and copies of the headers that this compiler needs changed.
 */
public final class StockCompiler {
  /** The package that installs it on Debian. */
  public static final String REMEDY =
      "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf g++ python3";

  private static final Path LIBRARY =
      Path.of("/usr/lib/picolibc/riscv64-unknown-elf/include/stdio.h");

  private static final String SOURCES = "/io/partita/runtime/ttsim/";

  private StockCompiler() {}

  /** What is missing on this machine. */
  public static List<String> missing() {
    List<String> missing = new ArrayList<>();
    for (String program :
        List.of("riscv64-unknown-elf-g++", "riscv64-unknown-elf-nm", "g++", "python3")) {
      if (Build.find(program).isEmpty()) {
        missing.add(program);
      }
    }
    if (!Files.exists(LIBRARY)) {
      missing.add("picolibc");
    }
    return missing;
  }

  /**
   * Writes the programs that take the place of Tenstorrent's compiler, and those beside them.
   *
   * @param work the folder that gets them
   * @return their folder
   * @throws IOException if they can't be written
   */
  static Path sources(Path work) throws IOException {
    Path compiler = work.resolve("compiler");
    for (Map.Entry<String, String> source : ResourceFolder.read(SOURCES, "compile.py").entrySet()) {
      Path file = compiler.resolve(source.getKey());
      Files.createDirectories(file.getParent());
      Files.writeString(file, source.getValue());
    }
    return compiler;
  }

  /**
   * Makes the root folder, if it isn't there for this installation.
   *
   * @param work the folder that gets it, as {@code root}
   * @throws IOException if it can't be made
   */
  public static Path root(TtnnInstallation ttnn, Path work) throws IOException {
    Path compiler = sources(work);
    if (!compiler.resolve("compile.py").toFile().setExecutable(true)) {
      throw new IOException(compiler.resolve("compile.py") + " can't be made executable");
    }
    Path root = work.resolve("root");
    // Written last, with the paths of firmware in the installation.
    Path complete = root.resolve("firmware.txt");
    if (Files.exists(complete)
        && Files.readString(complete).contains(ttnn.folder().toRealPath() + "/")) {
      return root;
    }
    Process process =
        new ProcessBuilder(
                "python3",
                compiler.resolve("prepare.py").toString(),
                ttnn.folder().toString(),
                root.toString())
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException(said.strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    return root;
  }
}
