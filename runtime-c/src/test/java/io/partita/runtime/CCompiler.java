package io.partita.runtime;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The system's C compiler. */
record CCompiler(Path program) {
  /** The folder of the module, in which tests run. */
  static final Path MODULE = Path.of("").toAbsolutePath();

  private static final List<String> STRICT =
      List.of("-std=c11", "-Wall", "-Wextra", "-Wdouble-promotion", "-Werror");

  /** Floats as on a device, but for products and sums in one: tests compare bits. */
  private static final List<String> FLOATS = List.of("-ffp-contract=off", "-fno-math-errno");

  static final List<String> OPTIMISED = List.of("-O2");

  static final List<String> SANITISED =
      List.of("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all");

  /** The first of gcc, clang and cc on the path. */
  static Optional<CCompiler> find() {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of("gcc", "clang", "cc")
        .flatMap(name -> Stream.of(path.split(File.pathSeparator)).map(f -> Path.of(f, name)))
        .filter(Files::isExecutable)
        .map(CCompiler::new)
        .findFirst();
  }

  /** Compiles and links; a warning is an error. */
  Path executable(String name, List<String> flags, List<Path> sources, String... more) {
    Path output = MODULE.resolve("target").resolve("c").resolve(name);
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(STRICT);
    command.addAll(FLOATS);
    command.addAll(flags);
    sources.forEach(source -> command.add(source.toString()));
    command.addAll(List.of(more));
    command.addAll(List.of("-o", output.toString()));
    try {
      Files.createDirectories(output.getParent());
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String messages = new String(process.getInputStream().readAllBytes());
      if (process.waitFor() != 0 || !messages.isEmpty()) {
        throw new AssertionError(String.join(" ", command) + "\n" + messages);
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The C files of folders of the module, in order. */
  static List<Path> sources(String... folders) {
    List<Path> sources = new ArrayList<>();
    for (String folder : folders) {
      try (Stream<Path> files = Files.list(MODULE.resolve(folder))) {
        files.filter(file -> file.toString().endsWith(".c")).sorted().forEach(sources::add);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return sources;
  }
}
