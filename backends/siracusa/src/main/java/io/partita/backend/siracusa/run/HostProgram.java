package io.partita.backend.siracusa.run;

import io.partita.backend.siracusa.ModelDescription;
import io.partita.backend.siracusa.SiracusaCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.tensor.Tensor;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** An emitted program on this computer, each chip a process that waits for inputs. */
public final class HostProgram implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 10;

  private final Path folder;
  private final Streams streams;
  private final Path scratch;
  private final Duration limit;
  private final List<Process> chips = new ArrayList<>();
  private boolean resets;

  private HostProgram(Path folder, Path scratch, Duration limit) {
    this.folder = folder;
    this.streams = new Streams(ModelDescription.read(folder));
    this.scratch = scratch;
    this.limit = limit;
  }

  /**
   * Starts a program that was built.
   *
   * @param options of the port, {@code --transfers early}; a % stands for the chip's number
   * @param limit of a run; then it's ended
   * @throws PartitaException P5104 when it can't be started
   */
  public static HostProgram start(Path folder, List<String> options, Duration limit) {
    try {
      Path scratch = Files.createTempDirectory("partita-");
      HostProgram program = new HostProgram(folder, scratch, limit);
      try {
        program.startChips(options);
        return program;
      } catch (IOException e) {
        program.close();
        throw e;
      }
    } catch (IOException e) {
      throw failed(folder, e.toString());
    }
  }

  private void startChips(List<String> options) throws IOException {
    int count = streams.description().chips().size();
    for (int chip = 0; chip < count; chip++) {
      String number = Integer.toString(chip);
      List<String> command = new ArrayList<>();
      command.add(folder.resolve("build/host/chip" + chip).toAbsolutePath().toString());
      command.addAll(List.of("--chip", "" + chip, "--chips", "" + count));
      command.addAll(List.of("--links", scratch.toString()));
      command.addAll(List.of("--l3", folder.resolve("chip" + chip + ".l3").toString()));
      options.forEach(option -> command.add(option.replace("%", number)));
      chips.add(new ProcessBuilder(command).redirectError(log(chip).toFile()).start());
    }
  }

  private Path log(int chip) {
    return scratch.resolve(chip + ".log");
  }

  public ModelDescription description() {
    return streams.description();
  }

  /** Before the next run, what is kept is forgotten. */
  public void reset() {
    resets = true;
  }

  /**
   * One run.
   *
   * @param inputs of the whole model, in its order
   * @return its outputs, in its order
   * @throws PartitaException P5104 when a chip stops or takes longer than the limit
   */
  public List<Tensor> run(List<Tensor> inputs) {
    AtomicBoolean isLate = new AtomicBoolean();
    Thread guard = Thread.ofVirtual().start(() -> endWhenLate(isLate));
    try {
      for (int chip = 0; chip < chips.size(); chip++) {
        BufferedOutputStream out = new BufferedOutputStream(chips.get(chip).getOutputStream());
        streams.writeInputs(chip, inputs, resets, out);
        out.flush();
      }
      resets = false;
      List<List<Tensor>> parts = new ArrayList<>();
      for (int chip = 0; chip < chips.size(); chip++) {
        parts.add(streams.readOutputs(chip, chips.get(chip).getInputStream()));
      }
      return streams.outputs(parts);
    } catch (IOException e) {
      String late = isLate.get() ? "no outputs after " + limit.toSeconds() + " s; " : "";
      throw failed(folder, late + messages());
    } finally {
      guard.interrupt();
    }
  }

  private void endWhenLate(AtomicBoolean isLate) {
    try {
      Thread.sleep(limit);
      isLate.set(true);
      chips.forEach(Process::destroyForcibly);
    } catch (InterruptedException done) {
      Thread.currentThread().interrupt();
    }
  }

  /** What chips that ended have said. */
  private String messages() {
    List<String> messages = new ArrayList<>();
    try {
      for (int chip = 0; chip < chips.size(); chip++) {
        Process process = chips.get(chip);
        if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          String text = Files.readString(log(chip)).strip();
          String code = "chip " + chip + " ended with " + process.exitValue();
          messages.add(text.isEmpty() ? code : code + ": " + text);
        } else {
          process.destroyForcibly();
        }
      }
    } catch (IOException e) {
      messages.add(e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return String.join("; ", messages);
  }

  private static PartitaException failed(Path folder, String found) {
    return new PartitaException(
        SiracusaCode.PROGRAM_STOPPED,
        folder.toString(),
        "a program that runs",
        found,
        "compile the model again; if it stays so, report it with this text");
  }

  /** Ends the chips; those that wait for inputs end by themselves. */
  @Override
  public void close() {
    try {
      for (Process chip : chips) {
        chip.getOutputStream().close();
      }
      for (Process chip : chips) {
        if (!chip.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          chip.destroyForcibly().waitFor();
        }
      }
      OutputFolder.delete(scratch);
    } catch (InterruptedException e) {
      chips.forEach(Process::destroyForcibly);
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      chips.forEach(Process::destroyForcibly);
      throw new UncheckedIOException(e);
    }
  }
}
