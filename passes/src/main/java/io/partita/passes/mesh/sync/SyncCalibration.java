package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What was measured of the sums of a model on its devices.
 *
 * @param source where it comes from, for diagnostics
 * @param mesh the devices, as in {@code mesh(kv=4, group=2)}
 * @param sums of each sum, in the model's order
 */
public record SyncCalibration(String source, String mesh, List<Sum> sums) {
  /** Sums that a diagnostic names. */
  private static final int MOST_NAMED = 4;

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
   * The ranges of some sums of a module. A sum is found by its weights, and by its place among
   * those with equal ones; so a calibration of the whole model also serves one in which the sums of
   * other blocks were dropped.
   *
   * @param found the module's mesh
   * @param all the module's sums, in its order
   * @param wanted those of them whose ranges are needed
   * @throws PartitaException with {@link SyncCode#CALIBRATION} when they were not measured, or
   *     {@link SyncCode#RANGES}
   */
  List<FeatureRanges> ranges(String found, List<SumSync> all, List<SumSync> wanted) {
    String remedy = "calibrate this model on these devices with partita calibrate";
    if (!found.equals(mesh)) {
      throw SyncCode.CALIBRATION.at(source, "a calibration on " + found, "one on " + mesh, remedy);
    }
    List<Sum> left = new ArrayList<>(sums);
    List<FeatureRanges> ranges = new ArrayList<>();
    for (SumSync sync : all) {
      Optional<Sum> sum = measured(sync, left);
      sum.ifPresent(left::remove);
      if (wanted.contains(sync)) {
        ranges.add(ranges(sync, sum));
      }
    }
    return ranges;
  }

  /** The first with the same weights, and with the same name if there is one. */
  private static Optional<Sum> measured(SumSync sync, List<Sum> sums) {
    String weights = sync.weights();
    List<Sum> alike = sums.stream().filter(sum -> sum.weights().equals(weights)).toList();
    return alike.stream()
        .filter(sum -> sum.name().equals(sync.node().name()))
        .findFirst()
        .or(() -> alike.stream().findFirst());
  }

  private FeatureRanges ranges(SumSync sync, Optional<Sum> measured) {
    Optional<FeatureRanges> fitting =
        measured
            .map(Sum::ranges)
            .filter(each -> each.places() == sync.places() && each.features() == sync.features());
    if (fitting.isEmpty()) {
      throw SyncCode.CALIBRATION.at(
          source,
          "ranges of the sum at " + sync.node() + " in block " + sync.block(),
          "no sum with its weights and features; "
              + sums.stream().limit(MOST_NAMED).map(Sum::name).collect(Collectors.joining(", "))
              + (sums.size() > MOST_NAMED ? ", …" : ""),
          "calibrate this model on these devices with partita calibrate, and with the same --sync"
              + " if that drops syncs of the block");
    }
    int invalid = fitting.get().invalid();
    if (invalid >= 0) {
      throw SyncCode.RANGES.at(
          source + ", sum " + measured.get().name(),
          "a finite range for each feature",
          "none for feature " + invalid,
          "calibrate on data on which the model gives finite numbers");
    }
    return fitting.get();
  }
}
