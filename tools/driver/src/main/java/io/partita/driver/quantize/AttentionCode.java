package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.AttentionSite;
import io.partita.frontend.onnx.quantize.QuantizedGraph;

/**
 * An attention with codes of its operands.
 *
 * @param error the relative L2 error of its result, if only it is quantized
 */
record AttentionCode(QuantizedGraph.AttentionChoice choice, double error) {
  AttentionSite site() {
    return choice.site();
  }

  /** Whether its operands are quantized; otherwise they stay float. */
  boolean isUsed(Quantization.Settings settings) {
    return error <= settings.largestError();
  }
}
