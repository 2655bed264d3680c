package io.partita.driver;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.ProgramFolder;
import io.partita.backend.siracusa.EmittedC;
import io.partita.driver.chip.ChipRemedies;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

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
   */
  public record Request(
      Path model,
      Map<String, Long> dims,
      Map<String, String> values,
      String passes,
      OptionalLong chunk,
      OptionalLong capacity) {
    public Request {
      dims = Map.copyOf(dims);
      values = Map.copyOf(values);
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
      return new Request(model, dims, values, passes, chunk, capacity);
    }

    /** Returns the request with another capacity of the KV cache. */
    public Request withCapacity(OptionalLong positions) {
      return new Request(model, dims, values, passes, chunk, positions);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final Consumer<String> progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Compilation(Consumer<Diagnostic> notes, Consumer<String> progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * Compiles to Java and writes the folder atomically.
   *
   * @param sharding the distribution; empty for one device
   * @throws PartitaException if the model can't be compiled or the folder can't be written
   */
  public EmittedProgram toJava(
      Request request, Optional<Sharding> sharding, JavaOptions options, Path folder) {
    return toJava(distributed(preparation().prepareEntries(request), sharding), options, folder);
  }

  /**
   * Emits a prepared module of the graph or mesh dialect as Java.
   *
   * @throws PartitaException if the folder can't be written
   */
  public EmittedProgram toJava(Module module, JavaOptions options, Path folder) {
    return toJava(new Entries(module), options, folder);
  }

  /**
   * Like {@link #toJava(Module, JavaOptions, Path)}, with all entry points.
   *
   * @throws PartitaException if the folder can't be written
   */
  public EmittedProgram toJava(Entries entries, JavaOptions options, Path folder) {
    if (entries.step().placement().isPresent()) {
      return toJava(Distribution.programs(entries), options, folder);
    }
    progress.accept("emitting Java");
    return write(JavaBackend.emit(entries.step(), entries.chunk(), options), folder);
  }

  /**
   * Emits the programs of several devices as Java.
   *
   * @throws PartitaException if the folder can't be written
   */
  public EmittedProgram toJava(Entries.Programs programs, JavaOptions options, Path folder) {
    progress.accept("emitting Java");
    return write(JavaBackend.emit(programs.step(), programs.chunk(), options), folder);
  }

  private EmittedProgram write(EmittedProgram program, Path folder) {
    progress.accept("writing " + folder);
    ProgramFolder.write(program, folder);
    return program;
  }

  /**
   * Compiles to C and writes the folder atomically.
   *
   * @param sharding the distribution; empty for one chip
   * @throws PartitaException if the model can't be compiled or the folder can't be written
   */
  public EmittedC toC(
      Request request, Optional<Sharding> sharding, ChipTarget target, Path folder) {
    Entries whole = preparation().prepareEntries(request);
    Entries.Programs programs = Distribution.programs(distributed(whole, sharding));
    try {
      return toC(programs, target, folder);
    } catch (PartitaException tooLarge) {
      if (!ChipRemedies.mayHelp(tooLarge)) {
        throw tooLarge;
      }
      progress.accept("looking for changes that make it fit");
      throw new ChipRemedies(whole, programs.step().devices().size(), target)
          .named(tooLarge, programs);
    }
  }

  /**
   * Emits a prepared module of the graph or mesh dialect as C.
   *
   * @throws PartitaException if it doesn't fit the target, or the folder can't be written
   */
  public EmittedC toC(Module module, ChipTarget target, Path folder) {
    return toC(Distribution.program(module), target, folder);
  }

  /**
   * Emits the programs of several chips as C.
   *
   * @throws PartitaException if they don't fit the target, or the folder can't be written
   */
  public EmittedC toC(Program program, ChipTarget target, Path folder) {
    return toC(new Entries.Programs(program), target, folder);
  }

  /**
   * Like {@link #toC(Program, ChipTarget, Path)}, with all entry points.
   *
   * @throws PartitaException if they don't fit the target, or the folder can't be written
   */
  public EmittedC toC(Entries.Programs programs, ChipTarget target, Path folder) {
    progress.accept("scheduling and emitting C");
    EmittedC emitted = target.emit(programs);
    progress.accept("writing " + folder);
    OutputFolder.write(emitted.files(), folder, ChipDescription::isIn);
    return emitted;
  }

  private Entries distributed(Entries entries, Optional<Sharding> sharding) {
    return sharding.map(chosen -> entries.map(module -> shard(module, chosen))).orElse(entries);
  }

  private Module shard(Module module, Sharding sharding) {
    progress.accept("sharding");
    return sharding.run(module);
  }

  /** Calls {@link Preparation#prepare(Request)}. */
  public Module prepare(Request request) {
    return preparation().prepare(request);
  }

  private Preparation preparation() {
    return new Preparation(notes, progress);
  }
}
