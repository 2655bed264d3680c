package io.partita.driver;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.EmittedProgram;
import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.report.ReportFile;
import io.partita.driver.report.ReportedProgram;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Compiles a model: reads it, runs passes, emits a program. */
public final class Compilation {
  /**
   * The model to compile, with its options.
   *
   * @param model an ONNX model or a module in text form
   * @param dims extents of dynamic dimensions; that of a KV cache's length is its capacity
   * @param values values of inputs that determine shapes
   * @param passes the pipeline, or null for the default one
   * @param chunk the number of prompt tokens that a decoder also takes at once; empty for one at a
   *     time
   * @param capacity positions of the KV cache, if the user sets it under that name
   * @param prompt an export of the same model without cache, for the entry point that takes {@code
   *     chunk} tokens
   * @param quantization the quantization of the ONNX model before it is compiled
   */
  public record Request(
      Path model,
      Map<String, Long> dims,
      Map<String, String> values,
      String passes,
      OptionalLong chunk,
      OptionalLong capacity,
      Optional<Path> prompt,
      Optional<QuantizationStep> quantization) {
    public Request {
      dims = Map.copyOf(dims);
      values = Map.copyOf(values);
    }

    /** A request with both entry points from one model. */
    public Request(
        Path model,
        Map<String, Long> dims,
        Map<String, String> values,
        String passes,
        OptionalLong chunk,
        OptionalLong capacity) {
      this(model, dims, values, passes, chunk, capacity, Optional.empty(), Optional.empty());
    }

    public Request(
        Path model,
        Map<String, Long> dims,
        Map<String, String> values,
        String passes,
        OptionalLong chunk) {
      this(model, dims, values, passes, chunk, OptionalLong.empty());
    }

    /** A request without chunks, with the default capacity. */
    public Request(Path model, Map<String, Long> dims, Map<String, String> values, String passes) {
      this(model, dims, values, passes, OptionalLong.empty(), OptionalLong.empty());
    }

    /** Returns the request with other extents. */
    public Request with(Map<String, Long> dims) {
      return new Request(model, dims, values, passes, chunk, capacity, prompt, quantization);
    }

    /** Returns the request with another capacity of the KV cache. */
    public Request withCapacity(OptionalLong positions) {
      return new Request(model, dims, values, passes, chunk, positions, prompt, quantization);
    }

    /** Returns the request with a quantization of the model, or without one. */
    public Request with(Optional<QuantizationStep> step) {
      return new Request(model, dims, values, passes, chunk, capacity, prompt, step);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Compilation(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * Compiles a model and writes the folder atomically.
   *
   * @param sharding the distribution; empty for one device
   * @param report what the program's report says of the request, when the program is made
   * @throws PartitaException if the model can't be compiled or doesn't fit the target, or the
   *     folder can't be written
   */
  public EmittedProgram compile(
      Request request,
      Optional<Sharding> sharding,
      CompilationTarget target,
      Path folder,
      Supplier<ReportFile.Request> report) {
    Entries whole = preparation().prepareEntries(request);
    Entries distributed = distributed(whole, sharding).map(target::withSyncs);
    Entries.Programs programs = target.programs(distributed, false);
    try {
      return emit(distributed, programs, target, folder, report);
    } catch (PartitaException failure) {
      throw target.withRemedies(failure, whole, programs, progress);
    }
  }

  /** Like {@link #compile}, with a report that says nothing of the request but the model. */
  public EmittedProgram compile(
      Request request, Optional<Sharding> sharding, CompilationTarget target, Path folder) {
    ReportFile.Request report =
        new ReportFile.Request(
            request.model().toString(), Optional.empty(), List.of(), Optional.empty());
    return compile(request, sharding, target, folder, () -> report);
  }

  /**
   * Emits the programs of the devices and writes the folder atomically.
   *
   * @param modules the modules from which the programs were made
   * @param report what the program's report says of the request
   * @throws PartitaException if they don't fit the target, or the folder can't be written
   */
  public EmittedProgram emit(
      Entries modules,
      Entries.Programs programs,
      CompilationTarget target,
      Path folder,
      Supplier<ReportFile.Request> report) {
    Backend backend = target.backend();
    ExpectedTimes times = ExpectedTimes.of(programs, backend.secondsPerOperation());
    EmittedProgram emitted =
        backend.emit(programs.step(), programs.chunk(), progress.part(0, times.emitted()));
    progress.part(times.emitted(), times.reported()).step("predicting its run", 0, 1);
    EmittedProgram reported =
        ReportedProgram.of(
            emitted,
            ReportFile.fields(
                report.get(), target.name(), modules.step(), programs.step(), emitted.schedule()));
    ProgressListener writing = progress.part(times.reported(), 1);
    writing.step("writing " + folder, 0, 1);
    backend.write(reported, folder, times.written(writing));
    return reported;
  }

  private Entries distributed(Entries entries, Optional<Sharding> sharding) {
    if (sharding.isPresent() && entries.isPrompt() && sharding.get().splitsTokens()) {
      return new Entries(
          sharding.get().onLastDevice(entries.step()),
          entries.chunk().map(prompt -> shard(prompt, sharding.get())));
    }
    return sharding.map(chosen -> entries.map(module -> shard(module, chosen))).orElse(entries);
  }

  private Module shard(Module module, Sharding sharding) {
    progress.step("sharding");
    return sharding.run(module);
  }

  /** Calls {@link Preparation#prepare(Request)}. */
  public Module prepare(Request request) {
    return preparation().prepare(request);
  }

  /** Calls {@link Preparation#prepare(Request, OnnxModel)}. */
  public Module prepare(Request request, OnnxModel model) {
    return preparation().prepare(request, model);
  }

  private Preparation preparation() {
    return new Preparation(notes, progress);
  }
}
