package io.partita.api;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The output of a compilation.
 *
 * @param folder the output folder
 * @param files all files in it, as relative paths with {@code /} between their parts
 * @param inputs the files it was made from: the model and its external data
 * @param kind the kind of entry point
 * @param className the qualified name of the class, for Java
 * @param devices the number of devices
 * @param mesh the mesh axes and their sizes, for several devices or chips
 * @param speculation the predicted latency of chips that speculate on attention
 * @param summary one line for people
 */
public record CompiledModel(
    Path folder,
    List<String> files,
    List<Path> inputs,
    Kind kind,
    Optional<String> className,
    int devices,
    Optional<String> mesh,
    Optional<Speculation> speculation,
    String summary) {
  /**
   * The predicted time of a run.
   *
   * @param hitSeconds if every attention hits
   * @param missSeconds if every attention misses
   */
  public record Speculation(double hitSeconds, double missSeconds) {}

  /** The kind of a program's entry point. */
  public enum Kind {
    /** Outputs depend only on the inputs of the run. */
    PREFILL,
    /** State, such as a KV cache, persists between runs. */
    DECODER
  }

  public CompiledModel {
    files = List.copyOf(files);
    inputs = List.copyOf(inputs);
  }
}
