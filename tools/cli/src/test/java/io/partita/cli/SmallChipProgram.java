package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A program in C that builds fast: two products, with partial sums on several chips. */
final class SmallChipProgram {
  private static final int SIZE = 8;

  /** The ports whose absence was reported. */
  private static final Set<Port> UNTESTED = EnumSet.noneOf(Port.class);

  private SmallChipProgram() {}

  static Path inputs(Path scratch) throws IOException {
    float[] x = new float[2 * SIZE];
    for (int i = 0; i < x.length; i++) {
      x[i] = i / 16f - 0.5f;
    }
    Path inputs = scratch.resolve("in.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(Map.of("x", Tensor.floats(Shape.of(2, SIZE), x)), out);
    }
    return inputs;
  }

  static Path compiled(Path scratch, int chips) throws IOException {
    Path module = scratch.resolve("hyperbolic.pir");
    String weights =
        IntStream.range(0, SIZE * SIZE)
            .mapToObj(i -> Double.toString(i % 7 / 8.0))
            .collect(Collectors.joining(", "));
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @hyperbolic(%%x: f32[2,8]) -> ("y": f32[2,8]) {
            %%a = constant [%s] : f32[8,8]
            %%b = constant [%s] : f32[8,8]
            %%h = matmul(%%x, %%a) {result = f32} : f32[2,8] "/up"
            %%t = tanh(%%h) : f32[2,8] "/tanh"
            %%y = matmul(%%t, %%b) {result = f32} : f32[2,8] "/down"
            return %%y
          }
        }
        """
            .formatted(weights, weights));
    Path folder = scratch.resolve("on" + chips);
    Invocation compile =
        Invocation.of("compile", module, "--target=siracusa", "--devices", chips, "-o", folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  /**
   * Returns a program that looks up rows in a table of 5, and writes two to a cache of 4 positions.
   */
  static Path ofRows(Path scratch, String target, int devices) throws IOException {
    Path module = scratch.resolve("rows.pir");
    String table =
        IntStream.range(0, 5 * SIZE)
            .mapToObj(i -> Double.toString(i / 4.0))
            .collect(Collectors.joining(", "));
    Files.writeString(
        module,
        """
        pir 1
        module {
          state "cache" -> "kept"
          graph @rows(%%ids: i64[1,2], %%at: i64[1], %%cache: f32[1,4,8]) -> ("y": f32[1,2,8], "kept": f32[1,4,8]) {
            %%t = constant [%s] : f32[40]
            %%table = reshape(%%t) {to = [5,8]} : f32[5,8]
            %%y = embedding(%%table, %%ids) : f32[1,2,8] "/rows"
            %%h = exp(%%y) : f32[1,2,8]
            %%k = cache_update(%%cache, %%h, %%at) {axis = 1} : f32[1,4,8] "/cache"
            return %%y, %%k
          }
        }
        """
            .formatted(table));
    Path folder = scratch.resolve("rows-" + target + devices);
    if (!Files.exists(folder)) {
      Invocation compile =
          Invocation.of("compile", module, "--target", target, "--devices", devices, "-o", folder);
      assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    }
    return folder;
  }

  /** Returns inputs of {@link #ofRows}; the first index is valid. */
  static Path rows(Path scratch, long at, long index) throws IOException {
    Path inputs = scratch.resolve("rows.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(
          Map.of(
              "ids", Tensor.longs(Shape.of(1, 2), 1, index), "at", Tensor.longs(Shape.of(1), at)),
          out);
    }
    return inputs;
  }

  /** Copies a program to a new folder. */
  static void copy(Path program, Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(program)) {
      for (Path path : all.toList()) {
        Files.copy(path, folder.resolve(program.relativize(path).toString()));
      }
    }
  }

  private static Optional<Path> gvsoc() {
    return Optional.ofNullable(System.getProperty("partita.gvsoc"))
        .map(Path::of)
        .or(() -> Build.find("gvsoc").map(found -> found.resolve("../..").normalize()));
  }

  /** Prints one line if a port can't be tested. */
  static List<String> on(Port port) {
    List<String> programs =
        switch (port) {
          case HOST -> List.of("make", "gcc");
          case MPI -> List.of("make", "mpicc", "mpirun");
          case QEMU -> List.of("make", "riscv64-unknown-elf-gcc", "qemu-system-riscv32");
          case GVSOC -> List.of("make", "riscv64-unknown-elf-gcc", "g++", "python3");
        };
    boolean isThere =
        programs.stream().allMatch(program -> Build.find(program).isPresent())
            && (port != Port.GVSOC || gvsoc().isPresent());
    if (!isThere && UNTESTED.add(port)) {
      System.err.println(
          "NO "
              + programs
              + (port == Port.GVSOC ? " OR GVSOC (-Dpartita.gvsoc=PATH)" : "")
              + ": 'partita run' and 'diff --on "
              + port.text()
              + "' is NOT TESTED; see 'partita doctor'");
    }
    assumeTrue(isThere);
    List<String> options = new ArrayList<>(List.of("--on", port.text()));
    if (port == Port.GVSOC) {
      options.addAll(List.of("--gvsoc", gvsoc().orElseThrow().toString()));
    }
    return options;
  }
}
