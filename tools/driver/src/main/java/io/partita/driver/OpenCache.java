package io.partita.driver;

import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.state.KvStatePass;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Reads ONNX models for passes that the user chose. If one of them turns the KV cache into state,
 * the length of the past stays dynamic: {@code --dim past=256} is the capacity, which the pass
 * states too.
 */
final class OpenCache {
  private OpenCache() {}

  /** The capacity that a pipeline states; empty if it keeps no cache. */
  static OptionalLong stated(Pipeline pipeline) {
    return pipeline.passes().stream()
        .filter(KvStatePass.class::isInstance)
        .mapToLong(pass -> ((KvStatePass) pass).capacity())
        .findFirst();
  }

  /**
   * Imports the model for the passes; other dimensions that aren't given stay symbolic.
   *
   * @throws PartitaException if it can't be imported, or the capacities differ
   */
  static Module imported(
      OnnxModel model, Map<String, Long> dims, Map<String, String> values, Pipeline pipeline) {
    OptionalLong capacity = stated(pipeline);
    if (capacity.isEmpty()) {
      return ModelFile.explained(model, dims, values).orThrow();
    }
    Map<String, Long> rest = new LinkedHashMap<>(dims);
    for (String past : DecoderDimensions.cache(model)) {
      if (rest.containsKey(past)) {
        requireEqual(capacity.getAsLong(), rest.remove(past));
      }
    }
    return ModelFile.examine(model, rest, values).orThrow();
  }

  /**
   * @param stated the capacity in the pass
   * @param given the capacity in other options
   */
  static void requireEqual(long stated, long given) {
    if (stated != given) {
      throw new PartitaException(
          DriverCode.DIMENSION_CONFLICT,
          "kv-state(capacity=" + stated + ")",
          given + " positions, as the length of the past is given",
          stated + " positions",
          "choose kv-state(capacity=" + given + "), or leave the other option out");
    }
  }
}
