package io.partita.api;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a compilation wrote.
 *
 * @param folder the output folder
 * @param files all files in it, as relative paths with {@code /} between their parts
 * @param inputs the files that it was made from: the model and its external data
 * @param kind how the program is called
 * @param className the qualified name of the class, for Java
 * @param devices on how many devices it runs
 * @param mesh the axes of the devices and their sizes, where there are several or chips
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
    String summary) {
  /** How a program is called. */
  public enum Kind {
    /** Outputs depend on the inputs of the run alone. */
    PREFILL,
    /** There is state, such as a KV cache, from run to run. */
    DECODER
  }

  public CompiledModel {
    files = List.copyOf(files);
    inputs = List.copyOf(inputs);
  }
}
