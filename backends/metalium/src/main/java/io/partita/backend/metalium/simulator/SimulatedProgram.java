package io.partita.backend.metalium.simulator;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.metalium.KernelProgram;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Pattern;

/**
 * An emitted program whose host program, {@code model.py}, runs with {@code ttnn} and one or two
 * simulated chips.
 *
 * @param folder the emitted folder
 * @param simulator {@code libttsim.so} for Wormhole, with as many chips as the program
 * @param work the folder that keeps what the runtime compiles; programs may share it
 */
public record SimulatedProgram(
    Path folder, ProgramInterface whole, TtnnInstallation ttnn, Path simulator, Path work)
    implements KernelProgram {
  private static final Pattern TELLING = Pattern.compile("ERROR: | [Ee]rror: |^\\w*Error: ");

  /** Two chips that nothing describes to the runtime have the same address. */
  private static final Pattern MANY_CHIPS =
      Pattern.compile("physical_system_descriptor\\.cpp:\\d+: inserted");

  private static final Pattern ONE_CHIP = Pattern.compile("exposes 1 PCI endpoint");
  private static final int MAX_LINES = 6;

  /**
   * Functions of the vector engine are sequences of instructions, which depend on the compiler. The
   * matrix engine takes 10 bits of the mantissa of each factor, so a product loses less than 2^-9
   * of its size; a sum has terms of both signs.
   */
  private static final double TOLERANCE = 0x1p-8;

  /** The runtime writes messages to the standard output, so the outputs have a stream of theirs. */
  private static final String SEPARATE_STREAMS = "exec 3>&1 >&2; exec \"$@\"";

  /**
   * @throws PartitaException P5105 for more than two chips
   */
  public SimulatedProgram {
    if (whole.mesh().devices() > SimulatedPair.CHIPS) {
      throw new PartitaException(
          ProgramCode.TOO_MANY_CHIPS,
          "--on ttsim",
          "a program for one or two chips",
          whole.mesh().devices() + " chips",
          "compile it for fewer chips, or run it on the emulation: leave --on out");
    }
  }

  /**
   * @throws PartitaException P5102 without a compiler
   */
  @Override
  public String sinceItIsLate() {
    return ": the first run compiles all kernels";
  }

  @Override
  public ProcessBuilder process(Optional<Path> probes) throws IOException {
    Path emitted = folder.toAbsolutePath();
    List<String> command =
        new ArrayList<>(List.of("sh", "-c", SEPARATE_STREAMS, "sh", ttnn.python().toString()));
    if (probes.isPresent()) {
      command.add(StockCompiler.sources(work).resolve("record.py").toAbsolutePath().toString());
      command.add(probes.get().toString());
    }
    command.addAll(
        List.of(
            emitted.resolve("model.py").toString(),
            emitted.resolve("weights.bin").toString(),
            "/dev/stdin",
            "/dev/fd/3"));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(settings());
    return builder;
  }

  /** The environment of the runtime. */
  private Map<String, String> settings() throws IOException {
    // The runtime reads the chip's description beside the simulator.
    Path chip = Files.createDirectories(work.toAbsolutePath().resolve("simulator"));
    Path library = chip.resolve("libttsim.so");
    Files.deleteIfExists(library);
    Files.createSymbolicLink(library, simulator.toAbsolutePath());
    Files.copy(
        ttnn.chip(), chip.resolve("soc_descriptor.yaml"), StandardCopyOption.REPLACE_EXISTING);
    Path root = ttnn.compiler().isPresent() ? ttnn.folder() : stockCompiler();
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("TT_METAL_RUNTIME_ROOT", root.toString());
    settings.put("TT_METAL_SIMULATOR", library.toString());
    settings.put("TT_METAL_CACHE", work.toAbsolutePath().resolve("cache").toString());
    settings.put("TT_METAL_SLOW_DISPATCH_MODE", "1");
    settings.put("TT_METAL_DISABLE_SFPLOADMACRO", "1");
    settings.put("TT_METAL_DISABLE_BACKTRACE", "1");
    settings.put("TT_METAL_INSPECTOR", "0");
    settings.put("TT_METAL_LOGGER_LEVEL", "Error");
    Path cluster = chip.resolve(SimulatedPair.FILE);
    if (whole.mesh().devices() == SimulatedPair.CHIPS) {
      Files.writeString(cluster, SimulatedPair.DESCRIPTION);
      settings.putAll(SimulatedPair.SETTINGS);
    } else {
      Files.deleteIfExists(cluster);
    }
    return settings;
  }

  private Path stockCompiler() throws IOException {
    List<String> missing = StockCompiler.missing();
    if (!missing.isEmpty()) {
      throw new PartitaException(
          ProgramCode.NO_PROGRAM,
          "--on ttsim",
          "Tenstorrent's compiler, or a stock one for RISC-V",
          "no " + String.join(", no ", missing),
          StockCompiler.REMEDY);
    }
    return StockCompiler.root(ttnn, work.toAbsolutePath());
  }

  @Override
  public OptionalDouble tolerance() {
    return OptionalDouble.of(TOLERANCE);
  }

  @Override
  public String expected() {
    return "model.py to succeed on ttsim";
  }

  /**
   * @return P5102 for a library that simulates another number of chips
   */
  @Override
  public PartitaException failed(String messages) {
    if (whole.mesh().devices() == 1) {
      return MANY_CHIPS.matcher(messages).find()
          ? otherLibrary(
              "one chip", "several", "name libttsim.so of a release of ttsim for Wormhole")
          : KernelProgram.super.failed(messages);
    }
    return ONE_CHIP.matcher(messages).find()
        ? otherLibrary(
            "two chips",
            "one",
            "build one from the sources of ttsim with two chips that are both on PCIe:"
                + " NUM_CHIPS and NUM_MMIO_CHIPS are 2")
        : KernelProgram.super.failed(messages);
  }

  private PartitaException otherLibrary(String needed, String found, String remedy) {
    return new PartitaException(
        ProgramCode.NO_PROGRAM,
        "--ttsim " + simulator,
        "a library that simulates " + needed,
        "one that simulates " + found,
        remedy);
  }

  @Override
  public String told(String messages) {
    List<String> lines =
        messages.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    List<String> telling = lines.stream().filter(line -> TELLING.matcher(line).find()).toList();
    List<String> chosen =
        telling.isEmpty()
            ? lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size())
            : telling;
    return String.join("; ", chosen.stream().distinct().limit(MAX_LINES).toList());
  }
}
