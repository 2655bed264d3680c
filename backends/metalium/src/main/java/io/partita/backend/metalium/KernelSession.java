package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.ForcedEnd;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An emitted program that runs, and keeps its states from run to run. Not thread-safe. */
public final class KernelSession implements AutoCloseable {
  /** What comes before the inputs of a program with two entry points, as in programs in C. */
  private static final float RUN = 1;

  private static final float RUN_CHUNK = 3;

  private final KernelProgram program;
  private final Duration limit;
  private final ScratchFolder scratch;
  private final Path messages;
  private final Optional<Path> probes;
  private Process process;

  /**
   * Starts a program.
   *
   * @param limit the time limit of each run
   */
  public KernelSession(KernelProgram program, Duration limit) {
    this(program, limit, Optional.empty());
  }

  /**
   * @param probes the file to which the program writes the results of all launches of its first run
   */
  KernelSession(KernelProgram program, Duration limit, Optional<Path> probes) {
    this.probes = probes;
    this.program = program;
    this.limit = limit;
    try {
      scratch = new ScratchFolder();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    messages = scratch.path().resolve("messages");
    try {
      process = start();
    } catch (RuntimeException e) {
      scratch.close();
      throw e;
    }
  }

  private Process start() {
    try {
      // The runtime of ttnn writes reports into its working folder.
      return program
          .process(probes)
          .directory(scratch.path().toFile())
          .redirectError(messages.toFile())
          .start();
    } catch (IOException e) {
      throw program.stopped(FileFailure.words(program.folder(), e));
    }
  }

  /** Begins again, with empty states. */
  public void reset() {
    stop();
    process = start();
  }

  /**
   * Returns the outputs of a run of several tokens at once.
   *
   * @param inputs in the order of the inputs of the program's {@link ProgramInterface#chunk}
   * @throws PartitaException as {@link #run}
   */
  public List<Tensor> runChunk(List<Tensor> inputs) {
    return run(RUN_CHUNK, inputs, program.whole().chunk().orElseThrow().outputs());
  }

  /**
   * Returns the outputs of a run.
   *
   * @param inputs in the order of the program's inputs
   * @throws PartitaException P5104 if the program stops, as it does when a kernel breaks a rule, or
   *     exceeds the time limit
   */
  public List<Tensor> run(List<Tensor> inputs) {
    return run(RUN, inputs, program.whole().outputs());
  }

  private List<Tensor> run(float entry, List<Tensor> inputs, List<ProgramInterface.Port> outputs) {
    CompletableFuture<List<Tensor>> result = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                write(entry, inputs);
                result.complete(read(outputs));
              } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
              }
            });
    try {
      return result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      stop();
      throw program.late(limit);
    } catch (ExecutionException e) {
      throw failure();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw program.stopped("interrupted");
    }
  }

  private PartitaException failure() {
    try {
      process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      return program.failed(Files.readString(messages));
    } catch (IOException e) {
      return program.stopped(FileFailure.words(program.folder(), e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return program.stopped("interrupted");
    }
  }

  /** Stops the program, and compilers that it started. */
  private void stop() {
    ForcedEnd.of(process);
  }

  private void write(float entry, List<Tensor> tensors) throws IOException {
    OutputStream out = process.getOutputStream();
    if (program.whole().chunk().isPresent()) {
      ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      out.write(bytes.putFloat(entry).array());
    }
    for (Tensor tensor : tensors) {
      ByteBuffer bytes = ByteBuffer.allocate(4 * tensor.size()).order(ByteOrder.LITTLE_ENDIAN);
      for (double value : tensor.doubles()) {
        bytes.putFloat((float) value);
      }
      out.write(bytes.array());
    }
    out.flush();
  }

  private List<Tensor> read(List<ProgramInterface.Port> ports) throws IOException {
    List<Tensor> outputs = new ArrayList<>();
    for (ProgramInterface.Port port : ports) {
      TensorType type = port.type();
      double[] values = new double[Math.toIntExact(type.shape().elements())];
      byte[] read = process.getInputStream().readNBytes(4 * values.length);
      if (read.length != 4 * values.length) {
        throw new IOException("the program ended");
      }
      ByteBuffer bytes = ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < values.length; i++) {
        values[i] = bytes.getFloat();
      }
      outputs.add(Tensor.ofDoubles(type, values));
    }
    return outputs;
  }

  @Override
  public void close() {
    stop();
    scratch.close();
  }
}
