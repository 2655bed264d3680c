package io.partita.cli;

import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.Checksums;
import io.partita.ir.fuzz.ByteMutator;
import io.partita.ir.fuzz.Fuzzer;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Damages a file of a compiled program. The damage must be noticed. In half of the trials the
 * checksums are made to match it; then each reader gives a diagnostic or a result.
 */
final class DamagedFolders implements Fuzzer.Source, Fuzzer.Target {
  private static final String MODULE =
      """
      pir 1
      module {
        graph @damaged(%%x: f32[1,32]) -> ("y": f32[1,32]) {
          %%a = constant [%s] : f32[32,32]
          %%h = matmul(%%x, %%a) {result = f32} : f32[1,32] "/up" @block0.up
          %%y = tanh(%%h) : f32[1,32] "/tanh" @block0.activation
          return %%y
        }
      }
      """;

  private final Path scratch;
  private final Path inputs;
  private final List<TreeMap<String, byte[]>> programs;
  private TreeMap<String, byte[]> program;
  private String damaged;

  /** Compiles programs for Java and for chips, on one device and on two. */
  DamagedFolders(Path scratch) throws IOException {
    this.scratch = scratch;
    inputs = scratch.resolve("in.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(Map.of("x", Tensor.floats(Shape.of(1, 32), new float[32])), out);
    }
    Path module = scratch.resolve("damaged.pir");
    Files.writeString(module, MODULE.formatted("0.5, ".repeat(1023) + "0.5"));
    programs =
        List.of(
            compiled(module, "java"),
            compiled(module, "java", "--devices=2"),
            compiled(module, "siracusa"),
            compiled(module, "siracusa", "--devices=2"));
  }

  private TreeMap<String, byte[]> compiled(Path module, String target, String... options)
      throws IOException {
    Path folder = scratch.resolve(target + options.length);
    command(
        Stream.concat(
                Stream.of("compile", module.toString(), "--target", target, "-o", "" + folder),
                Stream.of(options))
            .toArray(String[]::new));
    TreeMap<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String path = folder.relativize(file).toString();
        if (!path.startsWith("runtime")) {
          files.put(path, Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  @Override
  public byte[] file(RandomGenerator random) {
    program = programs.get(random.nextInt(programs.size()));
    List<String> paths =
        program.keySet().stream().filter(path -> program.get(path).length > 0).toList();
    damaged = paths.get(random.nextInt(paths.size()));
    return new ByteMutator(random).mutate(program.get(damaged));
  }

  @Override
  public void read(Path file, RandomGenerator random) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    if (Arrays.equals(bytes, program.get(damaged))) {
      return;
    }
    Path folder = Files.createTempDirectory(scratch, "damaged");
    try {
      TreeMap<String, byte[]> files = new TreeMap<>(program);
      files.put(damaged, bytes);
      boolean matches = random.nextBoolean();
      if (matches && !damaged.equals(Checksums.FILE)) {
        files.put(Checksums.FILE, checksums(files));
      }
      for (String path : files.keySet()) {
        Files.createDirectories(folder.resolve(path).getParent());
        Files.write(folder.resolve(path), files.get(path));
      }
      if (matches) {
        openAll(folder);
      } else {
        requireNoticed(folder);
      }
    } finally {
      delete(folder);
    }
  }

  private void requireNoticed(Path folder) {
    try {
      // The runtime's sources are left out of the folder, so they are always among these.
      if (!Checksums.changed(folder, _ -> true).contains(damaged)) {
        throw new AssertionError("damage of " + damaged + " isn't noticed");
      }
    } catch (PartitaException told) {
      // The checksums themselves are damaged.
    }
  }

  /** Opens the program as each command does that reads folders; damaged code doesn't run. */
  private void openAll(Path folder) {
    command("report", folder.toString());
    boolean isCode = damaged.endsWith(".java") || damaged.endsWith(".c") || damaged.endsWith(".h");
    Path given = program.containsKey("main.c") || isCode ? folder : inputs;
    for (String option : List.of("--json", "--allow-changes")) {
      command("run", "" + folder, "--inputs", "" + given, "-o", folder + "/out.npz", option);
    }
    command("diff", folder.toString(), "--inputs", folder.toString(), "--json");
  }

  /** Runs a command, which may refuse its input, but must not fail otherwise. */
  private static void command(String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int exitCode = Main.run(out, err, words);
    if (exitCode != 0 && exitCode != 2) {
      throw new AssertionError(
          String.join(" ", words) + ": " + exitCode + "\n" + err.toString(StandardCharsets.UTF_8));
    }
  }

  private static byte[] checksums(TreeMap<String, byte[]> files) {
    String lines =
        files.keySet().stream()
            .filter(path -> !path.equals(Checksums.FILE))
            .map(path -> line(files.get(path), path))
            .sorted()
            .collect(Collectors.joining());
    String own = line(lines.getBytes(StandardCharsets.UTF_8), Checksums.FILE);
    return (lines + own).getBytes(StandardCharsets.UTF_8);
  }

  private static String line(byte[] bytes, String path) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return "%08x %d %s\n".formatted(checksum.getValue(), bytes.length, path);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
