package io.partita.passes.mesh.sync;

import java.util.List;

/**
 * What was measured of the sums of a model on its devices.
 *
 * @param source where it comes from, for diagnostics
 * @param mesh the devices, as in {@code mesh(kv=4, group=2)}
 * @param sums of each sum, in the model's order
 */
public record SyncCalibration(String source, String mesh, List<Sum> sums) {
  /**
   * Of one sum.
   *
   * @param weights {@link SumSync#weights}
   */
  public record Sum(String name, String weights, FeatureRanges ranges) {}

  public SyncCalibration {
    sums = List.copyOf(sums);
  }

  /**
   * Refuses one of another model, or of other devices.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#CALIBRATION} or {@link
   *     SyncCode#RANGES}
   */
  void require(String found, List<SumSync> syncs) {
    String remedy = "calibrate this model on these devices with partita calibrate";
    if (!found.equals(mesh)) {
      throw SyncCode.CALIBRATION.at(source, "a calibration on " + found, "one on " + mesh, remedy);
    } else if (syncs.size() != sums.size()) {
      throw SyncCode.CALIBRATION.at(
          source, "a model with " + sums.size() + " sums in its blocks", syncs.size(), remedy);
    }
    for (int i = 0; i < sums.size(); i++) {
      Sum sum = sums.get(i);
      SumSync sync = syncs.get(i);
      boolean isAlike =
          sum.ranges().places() == sync.places() && sum.ranges().features() == sync.features();
      if (!isAlike || !sum.weights().equals(sync.weights())) {
        throw SyncCode.CALIBRATION.at(
            source + ", sum " + i + " (" + sum.name() + ")",
            "one of the model, with the same weights and features",
            "other weights than those of " + sync.node(),
            remedy);
      }
      int invalid = sum.ranges().invalid();
      if (invalid >= 0) {
        throw SyncCode.RANGES.at(
            source + ", sum " + i + " (" + sum.name() + ")",
            "a finite range for each feature",
            "none for feature " + invalid,
            "calibrate on data on which the model gives finite numbers");
      }
    }
  }
}
