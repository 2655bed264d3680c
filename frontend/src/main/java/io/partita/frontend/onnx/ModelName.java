package io.partita.frontend.onnx;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * Names a model. Exporters call most graphs {@code main_graph} or {@code torch_jit} and most files
 * {@code model.onnx}, so the first name that distinguishes the model counts: of the graph, of the
 * file, then of the nearest folders of the path as it was given. Neither the folder in which the
 * compiler runs nor the one that holds a project's {@code src} counts, so that emitted files don't
 * depend on where a project is checked out.
 */
final class ModelName {
  /** The number of folders around the file whose names are tried. */
  private static final int FOLDERS = 3;

  /** Words for the kind or the origin of a file, which do not identify the model. */
  private static final Set<String> GENERIC =
      Set.of(
          "main",
          "graph",
          "torch",
          "jit",
          "export",
          "exported",
          "tf",
          "onnx",
          "model",
          "models",
          "network",
          "net",
          "module",
          "decoder",
          "encoder",
          "decode",
          "prefill",
          "with",
          "past",
          "merged",
          "quantized",
          "quantised",
          "optimized",
          "optimised",
          "simplified",
          "inferred",
          "int",
          "uint",
          "fp",
          "bf",
          "f",
          "q",
          "float",
          "default",
          "function",
          "test",
          "resources",
          "unnamed");

  private ModelName() {}

  /**
   * Returns the name of a model; the graph's own name if no other is better.
   *
   * @param graph the graph's name in the file; may be empty
   */
  static String of(String graph, Path file) {
    if (!isGeneric(graph)) {
      return graph;
    }
    String stem = file.getFileName().toString().replaceFirst("\\.[A-Za-z]+$", "");
    if (!isGeneric(stem)) {
      return stem;
    }
    Path folder = file.normalize().getParent();
    for (int i = 0; i < FOLDERS && folder != null && folder.getFileName() != null; i++) {
      String name = folder.getFileName().toString();
      if (name.equals("src")) {
        break;
      }
      if (!isGeneric(name)) {
        return name;
      }
      folder = folder.getParent();
    }
    return graph.isEmpty() ? stem : graph;
  }

  /**
   * Whether each word is generic; digits, as in {@code tf2onnx} or {@code int8}, separate words.
   */
  static boolean isGeneric(String name) {
    return Arrays.stream(name.toLowerCase(Locale.ROOT).split("[\\P{L}]+"))
        .filter(word -> !word.isEmpty())
        .allMatch(GENERIC::contains);
  }
}
