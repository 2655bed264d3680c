package io.partita.backend.metalium;

import io.partita.ir.diagnostic.PartitaException;
import java.util.Map;
import java.util.Optional;

/**
 * What a user chooses of emitted kernels.
 *
 * @param release the release of TT-Metalium whose names kernels use
 * @param weights how the weights of products are stored
 */
public record MetaliumOptions(String release, WeightFormat weights) {
  /** For the release that all tests are for, with weights as the model has them. */
  public static final MetaliumOptions STANDARD =
      new MetaliumOptions(Release.PINNED.version(), WeightFormat.MODEL);

  /**
   * @throws PartitaException P5205 if there is no table of the names of the release
   */
  public MetaliumOptions {
    Release.of(release);
  }

  /**
   * Removes the options from settings that also name quantities of a target.
   *
   * @throws PartitaException P5205 for a release without names, P5206 for an unknown format
   */
  public static MetaliumOptions takeFrom(Map<String, String> settings) {
    return new MetaliumOptions(
        Optional.ofNullable(settings.remove("release")).orElse(STANDARD.release),
        Optional.ofNullable(settings.remove("weights"))
            .map(WeightFormat::of)
            .orElse(STANDARD.weights));
  }
}
