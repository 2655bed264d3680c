package io.partita.backend.metalium.simulator;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * An emitted program whose host program, {@code model.py}, runs with {@code ttnn} and one simulated
 * chip.
 *
 * @param folder the emitted folder
 * @param simulator {@code libttsim.so} for Wormhole
 * @param work the folder that keeps what the runtime compiles; programs may share it
 */
public record SimulatedProgram(
    Path folder, ProgramInterface whole, TtnnInstallation ttnn, Path simulator, Path work) {
  private static final Pattern TELLING = Pattern.compile("ERROR: | [Ee]rror: |^\\w*Error: ");
  private static final int MAX_LINES = 6;

  /**
   * Returns the outputs of runs one after the other, which begin with empty states.
   *
   * @param runs the inputs of each run, in the order of the program's inputs
   * @param limit the time limit of all runs
   * @throws PartitaException P5102 without a compiler, P5104 if the program stops or exceeds the
   *     time limit, P5105 for several chips
   */
  public List<List<Tensor>> run(List<List<Tensor>> runs, Duration limit) {
    if (whole.mesh().devices() > 1) {
      throw new PartitaException(
          ProgramCode.TOO_MANY_CHIPS,
          "--on ttsim",
          "a program for one chip",
          whole.mesh().devices() + " chips",
          "compile it for one chip, or run it on the emulation: leave --on out");
    }
    try (ScratchFolder scratch = new ScratchFolder()) {
      Path inputs = scratch.path().resolve("inputs");
      Path outputs = scratch.path().resolve("outputs");
      Path messages = scratch.path().resolve("messages");
      Files.write(inputs, bytes(runs));
      ProcessBuilder builder =
          new ProcessBuilder(
                  ttnn.python().toString(),
                  folder.resolve("model.py").toAbsolutePath().toString(),
                  folder.resolve("weights.bin").toAbsolutePath().toString(),
                  inputs.toString(),
                  outputs.toString())
              // The runtime writes reports into its working folder.
              .directory(scratch.path().toFile())
              .redirectErrorStream(true)
              .redirectOutput(messages.toFile());
      builder.environment().putAll(settings());
      Process process = builder.start();
      process.getOutputStream().close();
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw stopped("still running after " + limit.toSeconds() + " s, the time limit");
      }
      if (process.exitValue() != 0) {
        throw stopped(excerpt(Files.readString(messages)));
      }
      return tensors(ByteBuffer.wrap(Files.readAllBytes(outputs)), runs.size());
    } catch (IOException e) {
      throw stopped(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw stopped("interrupted");
    }
  }

  /** The environment of the runtime. */
  private Map<String, String> settings() throws IOException, InterruptedException {
    // The runtime reads the chip's description beside the simulator.
    Path chip = Files.createDirectories(work.toAbsolutePath().resolve("simulator"));
    Path library = chip.resolve("libttsim.so");
    Files.deleteIfExists(library);
    Files.createSymbolicLink(library, simulator.toAbsolutePath());
    Files.copy(
        ttnn.chip(), chip.resolve("soc_descriptor.yaml"), StandardCopyOption.REPLACE_EXISTING);
    Path root = ttnn.compiler().isPresent() ? ttnn.folder() : stockCompiler();
    return Map.of(
        "TT_METAL_RUNTIME_ROOT",
        root.toString(),
        "TT_METAL_SIMULATOR",
        library.toString(),
        "TT_METAL_CACHE",
        work.toAbsolutePath().resolve("cache").toString(),
        "TT_METAL_SLOW_DISPATCH_MODE",
        "1",
        "TT_METAL_DISABLE_SFPLOADMACRO",
        "1",
        "TT_METAL_DISABLE_BACKTRACE",
        "1",
        "TT_METAL_INSPECTOR",
        "0",
        "TT_METAL_LOGGER_LEVEL",
        "Error");
  }

  private Path stockCompiler() throws IOException, InterruptedException {
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

  private PartitaException stopped(String found) {
    return new PartitaException(
        ProgramCode.PROGRAM_STOPPED,
        folder.toString(),
        "model.py to succeed on ttsim",
        found,
        "compile the model again; if it still fails, report it with this text");
  }

  private static String excerpt(String log) {
    List<String> lines = log.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    List<String> telling = lines.stream().filter(line -> TELLING.matcher(line).find()).toList();
    List<String> chosen =
        telling.isEmpty()
            ? lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size())
            : telling;
    return String.join("; ", chosen.stream().distinct().limit(MAX_LINES).toList());
  }

  private static byte[] bytes(List<List<Tensor>> runs) {
    int elements = runs.stream().flatMap(List::stream).mapToInt(Tensor::size).sum();
    ByteBuffer bytes = ByteBuffer.allocate(4 * elements).order(ByteOrder.LITTLE_ENDIAN);
    for (List<Tensor> tensors : runs) {
      for (Tensor tensor : tensors) {
        for (double value : tensor.doubles()) {
          bytes.putFloat((float) value);
        }
      }
    }
    return bytes.array();
  }

  private List<List<Tensor>> tensors(ByteBuffer bytes, int count) {
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    List<List<Tensor>> runs = new ArrayList<>();
    for (int run = 0; run < count; run++) {
      List<Tensor> outputs = new ArrayList<>();
      for (ProgramInterface.Port port : whole.outputs()) {
        TensorType type = port.type();
        double[] values = new double[Math.toIntExact(type.shape().elements())];
        if (bytes.remaining() < 4 * values.length) {
          throw stopped("it wrote too few elements");
        }
        for (int i = 0; i < values.length; i++) {
          values[i] = bytes.getFloat();
        }
        outputs.add(Tensor.ofDoubles(type, values));
      }
      runs.add(outputs);
    }
    return runs;
  }
}
