package io.partita.driver.quantize;

/** What isn't a product, with codes of its operands. */
interface SiteCode {
  /** The name of a node. */
  String name();

  /** The relative L2 error of its result, if only it is quantized. */
  double error();

  /** Whether it is quantized; otherwise it stays float. */
  default boolean isUsed(Quantization.Settings settings) {
    return error() <= settings.largestError();
  }
}
