package io.partita.driver.evaluate;

import io.partita.ir.graph.Module;
import io.partita.ir.tensor.TensorHash;
import io.partita.passes.mesh.sync.BlockRanking;
import java.util.List;

/**
 * What a file of measurements belongs to. A command resumes a file only if its own is equal.
 *
 * @param mesh the devices
 * @param data a hash of the samples, and of their number and scaling
 * @param weights the weights of each block's sum after attention
 */
record MeasuredModel(String mesh, String data, List<String> weights) {
  MeasuredModel {
    weights = List.copyOf(weights);
  }

  /**
   * @param request the model and its data
   * @param sharded the model on its devices
   */
  static MeasuredModel of(Evaluation.Request request, Module sharded) {
    int samples = Math.min(request.data().count(), request.samples().orElse(Integer.MAX_VALUE));
    return new MeasuredModel(
        sharded.placement().orElseThrow().mesh().toString(),
        new TensorHash()
            .add(request.data().samples())
            .add(samples + " " + request.scaling())
            .text(),
        BlockRanking.weights(sharded));
  }
}
