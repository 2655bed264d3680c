package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ChipDescription;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * An emitted program that runs repeatedly, on any port, and waits for inputs between runs, so
 * inputs may depend on earlier outputs.
 */
public final class InteractiveProgram implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Path folder;
  private final Port port;
  private final Duration limit;
  private final Streams streams;
  private final Optional<Streams> chunk;
  private final ScratchFolder scratch;
  private final List<NamedPipes> pipes;
  private final ProcessGroup processes;
  private final ExecutorService threads;
  private boolean hasRun;
  private boolean resets;

  private InteractiveProgram(Path folder, Port port, List<String> options, Duration limit)
      throws IOException, InterruptedException {
    this.folder = folder.toAbsolutePath();
    this.port = port;
    this.limit = limit;
    this.streams = new Streams(ChipDescription.read(folder));
    this.chunk = Streams.ofChunk(streams.description());
    int chips = streams.description().chips().size();
    port.verifyChips(chips);
    scratch = new ScratchFolder();
    try {
      Path files = scratch.path();
      pipes = NamedPipes.make(files, chips);
      Commands.linkImages(this.folder, chips, files);
      processes =
          ProcessGroup.start(
              port, Commands.of(port, this.folder, "build", chips, options, files), files);
    } catch (IOException | InterruptedException | RuntimeException e) {
      scratch.close();
      throw e;
    }
    processes.anyEnd().thenRun(() -> pipes.forEach(NamedPipes::release));
    threads = Executors.newFixedThreadPool(chips, Thread.ofPlatform().daemon().factory());
  }

  /**
   * Starts a built program.
   *
   * @param options options of the port's programs, such as {@code --transfers early}, in which a %
   *     stands for the chip's number; or of GVSoC's board
   * @param limit the time limit of a run
   * @throws PartitaException P5104 if it can't be started, P5105 if the port has too few chips
   */
  public static InteractiveProgram start(
      Path folder, Port port, List<String> options, Duration limit) {
    try {
      return new InteractiveProgram(folder, port, options, limit);
    } catch (IOException e) {
      throw StoppedProgram.of(folder, port, FileFailure.words(folder, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StoppedProgram.of(folder, port, "interrupted");
    }
  }

  public ChipDescription description() {
    return streams.description();
  }

  /** Resets the state before the next run. */
  public void reset() {
    resets = true;
  }

  /**
   * Runs the program once.
   *
   * @param inputs the inputs of the whole model, in its order
   * @return its outputs, in its order
   * @throws PartitaException P5104 if a chip stops or exceeds the limit; the program then can't run
   *     again
   */
  public List<Tensor> run(List<Tensor> inputs) {
    return run(streams, inputs);
  }

  /**
   * Runs the program for several tokens at once, like {@link #run}.
   *
   * @param inputs the inputs of the description's chunk, in its order
   */
  public List<Tensor> chunk(List<Tensor> inputs) {
    return run(chunk.orElseThrow(), inputs);
  }

  private List<Tensor> run(Streams streams, List<Tensor> inputs) {
    hasRun = true;
    boolean isReset = resets;
    resets = false;
    // A simulation of all chips waits for the reader or writer of each chip, so each has a thread.
    List<Future<List<Tensor>>> runs = new ArrayList<>();
    for (int chip = 0; chip < pipes.size(); chip++) {
      int number = chip;
      runs.add(threads.submit(() -> run(streams, number, inputs, isReset)));
    }
    long deadline = System.nanoTime() + limit.toNanos();
    try {
      List<List<Tensor>> parts = new ArrayList<>();
      for (Future<List<Tensor>> run : runs) {
        parts.add(run.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS));
      }
      return streams.outputs(parts);
    } catch (TimeoutException late) {
      throw StoppedProgram.of(
          folder, port, "no outputs after " + limit.toSeconds() + " s; " + lateMessages());
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException) {
        throw StoppedProgram.of(folder, port, messages());
      }
      throw new IllegalStateException(failed.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StoppedProgram.of(folder, port, "interrupted");
    }
  }

  private List<Tensor> run(Streams streams, int chip, List<Tensor> inputs, boolean isReset)
      throws IOException {
    NamedPipes own = pipes.get(chip);
    streams.writeInputs(chip, inputs, isReset, own.input());
    own.input().flush();
    return streams.readOutputs(chip, own.output());
  }

  /** The output of chips that have ended; chips that can't continue without them end too. */
  private String messages() {
    try {
      processes.awaitEnd(PATIENCE);
      String messages = processes.messages();
      processes.end();
      return messages;
    } catch (IOException e) {
      return FileFailure.words(folder, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private String lateMessages() {
    try {
      String messages = processes.messages();
      processes.end();
      return messages;
    } catch (IOException e) {
      return FileFailure.words(folder, e);
    }
  }

  /** Ends the chips; those that wait for inputs end on their own. */
  @Override
  public void close() {
    try (scratch;
        processes) {
      pipes.forEach(NamedPipes::endInput);
      // A program that hasn't opened its input yet would wait for it.
      if (hasRun) {
        processes.awaitEnd(PATIENCE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      threads.shutdownNow();
      pipes.forEach(NamedPipes::close);
    }
  }
}
