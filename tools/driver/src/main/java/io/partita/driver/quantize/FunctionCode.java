package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.FunctionSite;
import io.partita.frontend.onnx.quantize.QuantizableModel;

/**
 * An activation function with a code of its argument.
 *
 * @param error the relative L2 error of its result, if only the argument is quantized
 */
record FunctionCode(FunctionSite site, Affine code, double error) implements SiteCode {
  /**
   * @param rows some rows of the argument
   */
  static FunctionCode of(QuantizableModel model, FunctionSite site, Affine code, SampledRows rows) {
    float[] numbers = rows.numbers();
    float[] wanted = model.values(site, numbers);
    float[] found = model.values(site, code.rounded(numbers));
    return new FunctionCode(site, code, RelativeError.of(wanted, found));
  }

  @Override
  public String name() {
    return site.name();
  }
}
