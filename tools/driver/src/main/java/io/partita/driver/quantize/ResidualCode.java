package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.ResidualSite;

/**
 * A sum of the residual stream with its code.
 *
 * @param error the relative L2 error of the sum, if only it is quantized
 */
record ResidualCode(ResidualSite site, Affine code, double error) implements SiteCode {
  /**
   * @param rows some rows of the sum
   */
  static ResidualCode of(ResidualSite site, Affine code, SampledRows rows) {
    float[] numbers = rows.numbers();
    return new ResidualCode(site, code, RelativeError.of(numbers, code.rounded(numbers)));
  }

  @Override
  public String name() {
    return site.name();
  }
}
