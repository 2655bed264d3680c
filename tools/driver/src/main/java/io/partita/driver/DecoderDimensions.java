package io.partita.driver;

import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The dimensions of a decoder whose cache is passed in as inputs and returned, extended, as
 * outputs.
 *
 * @param past the symbols of the lengths of cache inputs
 * @param tokens the symbols of the number of added positions
 */
public record DecoderDimensions(SortedSet<String> past, SortedSet<String> tokens) {
  /** The dimensions of a module; empty if it has no such cache, or one of fixed length. */
  public static DecoderDimensions of(Module module) {
    Graph graph = module.graph();
    SortedSet<String> past = new TreeSet<>();
    SortedSet<String> tokens = new TreeSet<>();
    for (Value input : graph.inputs()) {
      for (Graph.Output output : graph.outputs()) {
        for (int axis = 0; axis < input.type().rank(); axis++) {
          Optional<Dim> longer = longer(input.type(), output.value().type(), axis);
          if (longer.isPresent()) {
            past.add(input.type().dim(axis).toString());
            tokens.addAll(longer.get().symbols());
          }
        }
      }
    }
    return new DecoderDimensions(past, tokens);
  }

  /**
   * The symbols of the lengths of a decoder's past, which grow with each step; if it can't be
   * imported yet, the symbols of inputs named past.
   */
  public static Set<String> cache(OnnxModel model) {
    return ModelFile.examine(model, Map.of(), Map.of())
        .module()
        .<Set<String>>map(module -> of(module).past())
        .orElseGet(() -> CacheAsState.lengths(model));
  }

  /** The number of positions added on an axis, if the types otherwise agree. */
  private static Optional<Dim> longer(TensorType before, TensorType after, int axis) {
    if (before.rank() < 3
        || after.rank() != before.rank()
        || !before.dim(axis).isSymbol()
        || !after.with(after.shape().with(axis, before.dim(axis))).equals(before)) {
      return Optional.empty();
    }
    Dim more = after.dim(axis).minus(before.dim(axis));
    boolean isFree = !more.symbols().contains(before.dim(axis).toString());
    return isFree && more.isAtLeast(1) ? Optional.of(more) : Optional.empty();
  }

  /** Whether the model is a decoder with a cache of dynamic length. */
  public boolean isDecoder() {
    return !past.isEmpty();
  }
}
