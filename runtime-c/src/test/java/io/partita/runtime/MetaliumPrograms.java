package io.partita.runtime;

import io.partita.ir.eval.ParallelTasks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Programs of the emulated Tenstorrent chip, compiled by the system's C++ compiler. */
final class MetaliumPrograms {
  private static final Path TESTS = CCompiler.MODULE.resolve("src/test/metalium");
  private static final Path RUNTIME = CCompiler.MODULE.resolve("metalium-host");
  private static final List<String> FLAGS =
      List.of("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I" + RUNTIME);

  private final Path compiler;
  private final Path folder;

  /** The exit code of a program and what it printed. */
  record Run(int code, String output) {}

  MetaliumPrograms(Path compiler) {
    this.compiler = compiler;
    this.folder = CCompiler.MODULE.resolve("target/native/metalium");
  }

  /** Compiles a test of one file. */
  Path program(String name) {
    return link(name, List.of(compile(TESTS.resolve(name + ".cpp"), name)));
  }

  /**
   * Compiles a product of matrices, each of whose kernels is a file of its own.
   *
   * @param pageBytes the bytes of the left operand's pages, and of the result's
   * @param rightBytes those of the right operand
   */
  Path product(int pageBytes, int rightBytes) {
    String tensor = "2," + pageBytes;
    String pages = pageBytes + "-" + rightBytes;
    List<List<String>> kernels =
        List.of(
            List.of("reader", tensor + ",2," + rightBytes),
            List.of("compute", "0"),
            List.of("writer", tensor));
    List<Path> objects = new ArrayList<>();
    objects.add(compile(TESTS.resolve("matmul/host.cpp"), "host"));
    for (List<String> kernel : kernels) {
      String name = kernel.getFirst();
      objects.add(
          compile(
              TESTS.resolve("matmul/" + name + ".cpp"),
              name + "-" + pages,
              "-DPARTITA_KERNEL=" + name,
              "-DKERNEL_COMPILE_TIME_ARGS=" + kernel.getLast()));
    }
    return link("matmul-" + pages, objects);
  }

  private Path link(String name, List<Path> objects) {
    List<String> command = new ArrayList<>(List.of(compiler.toString()));
    objects.forEach(object -> command.add(object.toString()));
    emulation().forEach(object -> command.add(object.toString()));
    Path program = folder.resolve(name);
    command.addAll(List.of("-lpthread", "-o", program.toString()));
    succeeds(command);
    return program;
  }

  private List<Path> emulation() {
    List<Path> sources;
    try (Stream<Path> files = Files.list(RUNTIME.resolve("emulation"))) {
      sources = files.filter(file -> file.toString().endsWith(".cpp")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Path[] objects = new Path[sources.size()];
    ParallelTasks.run(
        objects.length,
        Long.MAX_VALUE,
        i -> objects[i] = compile(sources.get(i), "emulation-" + sources.get(i).getFileName()));
    return List.of(objects);
  }

  private Path compile(Path source, String name, String... flags) {
    Path object = folder.resolve(name + ".o");
    List<String> command = new ArrayList<>(List.of(compiler.toString()));
    command.addAll(FLAGS);
    command.addAll(List.of(flags));
    command.addAll(List.of("-c", source.toString(), "-o", object.toString()));
    if (!isNewest(object)) {
      succeeds(command);
    }
    return object;
  }

  /** Whether an object is newer than all sources and headers. */
  private static boolean isNewest(Path object) {
    try (Stream<Path> runtime = Files.walk(RUNTIME);
        Stream<Path> tests = Files.walk(TESTS)) {
      return Files.exists(object)
          && Stream.concat(runtime, tests)
              .filter(Files::isRegularFile)
              .noneMatch(file -> file.toFile().lastModified() >= object.toFile().lastModified());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void succeeds(List<String> command) {
    Run run = run(command);
    if (run.code() != 0 || !run.output().isEmpty()) {
      throw new AssertionError(String.join(" ", command) + "\n" + run.output());
    }
  }

  /** Runs a program to its end. */
  Run run(Path program, String... arguments) {
    return run(Stream.concat(Stream.of(program.toString()), Stream.of(arguments)).toList());
  }

  private Run run(List<String> command) {
    try {
      Files.createDirectories(folder);
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Run(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
