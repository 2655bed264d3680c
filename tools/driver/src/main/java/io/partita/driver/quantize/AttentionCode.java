package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.QuantizedGraph;

/**
 * An attention with codes of its operands.
 *
 * @param error the relative L2 error of its result, if only it is quantized
 */
record AttentionCode(QuantizedGraph.AttentionChoice choice, double error) implements SiteCode {
  @Override
  public String name() {
    return choice.site().name();
  }
}
