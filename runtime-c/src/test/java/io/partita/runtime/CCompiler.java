package io.partita.runtime;

import io.partita.ir.eval.ParallelTasks;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The system's C compiler. */
record CCompiler(Path program) {
  /** The module folder, the working directory of tests. */
  static final Path MODULE = Path.of("").toAbsolutePath();

  private static final List<String> FOLDERS =
      List.of("kernels", "hal", "tiles", "collectives", "ports", "src/test/c");

  private static final List<String> STRICT =
      List.of(
          "-std=c11",
          "-Wall",
          "-Wextra",
          "-Wdouble-promotion",
          "-Wvla",
          "-Wshadow",
          "-Wstrict-prototypes",
          "-Wmissing-prototypes",
          "-Werror",
          "-fno-math-errno");

  /** Options of the runtime; common objects are compiled once. */
  enum Build {
    /** Options for bit-exact results and small stack frames. */
    OPTIMISED("-O2", "-ffp-contract=off", "-Wframe-larger-than=1024"),
    /** For a 32-bit device; one of the architectures for which Debian's compiler has a libgcc. */
    RISCV(
        "-O2",
        "-march=rv32imafc",
        "-mabi=ilp32f",
        "-ffreestanding",
        "-ffp-contract=off",
        "-ffunction-sections",
        "-fdata-sections",
        "-Wframe-larger-than=1024"),
    /** Options for Siracusa, on the board of several chips and on GVSoC's own. */
    SIRACUSA(
        "-O3",
        "-DPARTITA_XPULP",
        "-march=rv32imfc_zicsr",
        "-mabi=ilp32f",
        "-ffreestanding",
        "-ffp-contract=off",
        "-ffunction-sections",
        "-fdata-sections",
        "-Wframe-larger-than=1024",
        "-DPARTITA_L1_BYTES=245760",
        "-DPARTITA_L2_BYTES=1048576",
        "-DLARGE_BYTES=100000"),
    SIRACUSA_ALONE(
        Stream.concat(SIRACUSA.flags.stream(), Stream.of("-DPARTITA_BOARD=0"))
            .toArray(String[]::new)),
    /**
     * Options with contraction of products and sums, if the host supports it, as on a device.
     * Contraction needs no further optimisation, which only takes longer to compile.
     */
    CONTRACTED("-O1", "-march=native", "-ffp-contract=fast"),
    SANITISED(
        "-O0",
        "-g",
        "-ffp-contract=off",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all"),
    /** The same with MPI's compiler. */
    MPI(SANITISED.flags.toArray(String[]::new));

    private final List<String> flags;

    Build(String... flags) {
      this.flags = List.of(flags);
    }

    Path folder() {
      return MODULE.resolve("target/native").resolve(name().toLowerCase(java.util.Locale.ROOT));
    }
  }

  /** Returns the first of gcc, clang and cc on the path. */
  static Optional<CCompiler> find() {
    return find("gcc", "clang", "cc");
  }

  /** Returns the first tool on the path. */
  static Optional<CCompiler> find(String... names) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(names)
        .flatMap(name -> Stream.of(path.split(File.pathSeparator)).map(f -> Path.of(f, name)))
        .filter(Files::isExecutable)
        .map(CCompiler::new)
        .findFirst();
  }

  /** Compiles and links; warnings are errors. Up-to-date objects are reused. */
  Path executable(String name, Build build, List<Path> sources, String... libraries) {
    Path output = build.folder().resolve(name);
    List<String> link = new ArrayList<>(List.of(program.toString()));
    link.addAll(build.flags);
    boolean linked = isNewer(output, newest("h|ld"));
    for (Path object : objects(build, sources)) {
      link.add(object.toString());
      linked = linked && isNewer(output, time(object));
    }
    link.addAll(List.of(libraries));
    link.addAll(List.of("-o", output.toString()));
    if (!linked) {
      run(link, build.folder());
    }
    return output;
  }

  /**
   * Compiles; warnings are errors. Up-to-date objects are reused. Only one thread at a time
   * compiles a build's objects.
   */
  List<Path> objects(Build build, List<Path> sources) {
    synchronized (build) {
      return compiled(build, sources);
    }
  }

  private List<Path> compiled(Build build, List<Path> sources) {
    Path folder = build.folder();
    FileTime header = newest("h|ld");
    FileTime any = newest("h|ld|c");
    List<Path> objects = new ArrayList<>();
    List<List<String>> compile = new ArrayList<>();
    for (Path source : sources) {
      Path object = folder.resolve(MODULE.relativize(source).toString().replace('/', '-') + ".o");
      objects.add(object);
      // Some tests include kernels.
      FileTime included = source.startsWith(MODULE.resolve("src")) ? any : header;
      if (isNewer(object, included) && isNewer(object, time(source))) {
        continue;
      }
      List<String> command = new ArrayList<>(List.of(program.toString()));
      command.addAll(STRICT);
      command.addAll(build.flags);
      command.addAll(List.of("-c", source.toString(), "-o", object.toString()));
      compile.add(command);
    }
    ParallelTasks.run(compile.size(), Long.MAX_VALUE, i -> run(compile.get(i), folder));
    return objects;
  }

  private static void run(List<String> command, Path folder) {
    try {
      Files.createDirectories(folder);
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0 || !messages.isEmpty()) {
        throw new AssertionError(String.join(" ", command) + "\n" + messages);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean isNewer(Path file, FileTime time) {
    return Files.exists(file) && time(file).compareTo(time) > 0;
  }

  private static FileTime time(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when the last of the runtime's files with one of these endings was changed. */
  private static FileTime newest(String endings) {
    FileTime newest = FileTime.fromMillis(0);
    for (String folder : FOLDERS) {
      try (Stream<Path> files = Files.walk(MODULE.resolve(folder))) {
        for (Path file :
            files.filter(f -> f.toString().matches(".*\\.(" + endings + ")")).toList()) {
          newest = time(file).compareTo(newest) > 0 ? time(file) : newest;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return newest;
  }

  /** Returns the sources of a port in the folders. */
  static List<Path> port(String... folders) {
    return sources(Stream.of(folders).map("ports/"::concat).toArray(String[]::new));
  }

  /** Returns the C and assembler files of folders of the module, in order. */
  static List<Path> sources(String... folders) {
    return Stream.of(folders).flatMap(folder -> files(folder, "[cS]").stream()).toList();
  }

  /** Returns the files of a folder of the module with one of these endings, in order. */
  static List<Path> files(String folder, String endings) {
    try (Stream<Path> files = Files.list(MODULE.resolve(folder))) {
      return files.filter(file -> file.toString().matches(".*\\." + endings)).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
