package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Kernels on an emulated device, whose files of input and output are pipes. */
final class KernelDevice {
  private static final Pattern KERNELS = Pattern.compile("\\bpartita_kernel\\s+([^;(*]+);");

  private KernelDevice() {}

  static KernelServer start(Qemu qemu) {
    Path folder = CCompiler.Build.RISCV.folder();
    List<Path> sources = new ArrayList<>(CCompiler.sources("kernels"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/kernel_device.c"));
    sources.add(table(qemu, folder.resolve("kernel_table.c")));
    Path program = qemu.executable("kernels", sources);
    return new KernelServer(
        qemu.process(program, folder, "--input /dev/stdin --output /dev/stdout")
            .redirectErrorStream(false)
            .redirectError(folder.resolve("kernels.log").toFile()),
        folder.resolve("console"),
        Integer.BYTES);
  }

  /**
   * Writes the table of kernels by name, because a device can't look up symbols; reused if
   * unchanged.
   */
  private static Path table(Qemu qemu, Path file) {
    TreeSet<String> kernels = new TreeSet<>();
    KERNELS
        .matcher(preprocessedHeaders(qemu.compiler()))
        .results()
        .flatMap(declaration -> Stream.of(declaration.group(1).split(",")))
        .forEach(name -> kernels.add(name.strip()));
    String entries =
        kernels.stream()
            .map(name -> "    {\"%s\", %s},\n".formatted(name, name))
            .collect(Collectors.joining());
    String text =
        """
        #include "%s"
        partita_kernel %s;
        const struct kernel_entry kernel_table[] = {
        %s};
        const uint32_t kernel_count = %d;
        """
            .formatted(
                CCompiler.MODULE.resolve("src/test/c/kernel_table.h"),
                String.join(", ", kernels),
                entries,
                kernels.size());
    try {
      Files.createDirectories(file.getParent());
      if (!Files.exists(file) || !Files.readString(file).equals(text)) {
        Files.writeString(file, text);
      }
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Macros declare many kernels. */
  private static String preprocessedHeaders(CCompiler compiler) {
    List<String> command =
        new ArrayList<>(List.of(compiler.program().toString(), "-march=rv32imafc", "-mabi=ilp32f"));
    command.addAll(List.of("-ffreestanding", "-E", "-P", "-x", "c", "-"));
    try (Stream<Path> files = Files.list(CCompiler.MODULE.resolve("kernels"))) {
      String includes =
          files
              .filter(file -> file.toString().endsWith(".h"))
              .sorted()
              .map(file -> "#include \"" + file + "\"\n")
              .collect(Collectors.joining());
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (Writer input = process.outputWriter()) {
        input.write(includes);
      }
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).isZero();
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
