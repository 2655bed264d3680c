package io.partita.frontend.onnx;

import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Common extents of models, and common names of dimensions. */
public final class DefaultSizes {
  /** Heights and widths of images, in the order of trials. */
  public static final List<Long> IMAGES =
      List.of(
          224L, 256L, 384L, 512L, 32L, 28L, 30L, 64L, 96L, 128L, 192L, 240L, 288L, 299L, 320L, 336L,
          378L, 448L, 480L, 518L, 640L, 768L, 1024L);

  /** Numbers of tokens, frames and samples, in the order of trials. */
  public static final List<Long> LENGTHS =
      List.of(128L, 3000L, 512L, 1024L, 2048L, 256L, 64L, 16000L, 4096L, 32L, 16L, 8L);

  /** Numbers of sequences, in the order of trials. */
  public static final List<Long> BATCHES = List.of(1L, 2L, 3L, 4L, 8L);

  private DefaultSizes() {}

  /** Whether the name of a dimension denotes a batch. */
  public static boolean isBatch(String symbol) {
    return symbol.toLowerCase(Locale.ROOT).contains("batch");
  }

  /**
   * Whether a dimension of inputs is a batch: by its name, or because inputs have it only as their
   * first of several dimensions, and it isn't named as a length.
   */
  public static boolean isBatch(String symbol, Collection<TensorType> inputs) {
    String name = symbol.toLowerCase(Locale.ROOT);
    if (isBatch(symbol)) {
      return true;
    }
    if (name.contains("seq") || name.contains("len")) {
      return false;
    }
    List<List<Dim>> shapes =
        inputs.stream()
            .map(input -> input.shape().dims())
            .filter(dims -> contain(dims, symbol))
            .toList();
    return !shapes.isEmpty()
        && shapes.stream()
            .allMatch(dims -> dims.size() > 1 && !contain(dims.subList(1, dims.size()), symbol));
  }

  private static boolean contain(List<Dim> dims, String symbol) {
    return dims.stream().anyMatch(dim -> dim.symbols().contains(symbol));
  }
}
