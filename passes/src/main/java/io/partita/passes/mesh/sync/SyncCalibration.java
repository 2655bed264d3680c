package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What was measured of what the devices of a model send.
 *
 * @param source the file, for diagnostics
 * @param mesh the devices, such as {@code mesh(kv=4, group=2)}
 * @param sums the sums in the order of the model
 * @param codebooks of tokens that are gathered, in the model's order; they serve any number of
 *     devices
 */
public record SyncCalibration(
    String source, String mesh, List<Sum> sums, List<Codebook> codebooks) {
  /** The number of sums that a diagnostic names. */
  private static final int MAX_NAMED = 4;

  /**
   * The ranges of one sum.
   *
   * @param weights {@link SumSync#weights}
   * @param errors the errors of its encodings, if they were measured
   */
  public record Sum(String name, String weights, FeatureRanges ranges, SumErrors errors) {
    /** A sum whose errors weren't measured. */
    public Sum(String name, String weights, FeatureRanges ranges) {
      this(name, weights, ranges, SumErrors.NONE);
    }
  }

  public SyncCalibration {
    sums = List.copyOf(sums);
    codebooks = List.copyOf(codebooks);
  }

  /** A calibration of sums. */
  public SyncCalibration(String source, String mesh, List<Sum> sums) {
    this(source, mesh, sums, List.of());
  }

  /**
   * The codebook for the tokens of a sync.
   *
   * @throws PartitaException with {@link SyncCode#CALIBRATION} if there is none
   */
  Codebook codebook(TokenSync sync, SyncMethod.Width.Vector method) {
    List<Codebook> alike =
        codebooks.stream()
            .filter(each -> each.features() == sync.features())
            .filter(each -> each.weights().equals(sync.weights()))
            .toList();
    List<Codebook> fitting =
        alike.stream()
            .filter(each -> each.size() == method.size() && each.groups() == method.groups())
            .toList();
    return fitting.stream()
        .filter(each -> each.name().equals(sync.node().name()))
        .findFirst()
        .or(() -> fitting.stream().findFirst())
        .orElseThrow(
            () ->
                SyncCode.CALIBRATION.at(
                    source,
                    "a codebook %s for the tokens at %s in block %d"
                        .formatted(method, sync.node(), sync.block()),
                    alike.isEmpty()
                        ? codebooks.isEmpty() ? "no codebooks" : "codebooks of other tokens"
                        : "vq(k=%d,groups=%d)"
                            .formatted(alike.getFirst().size(), alike.getFirst().groups()),
                    "calibrate this model with partita calibrate --strategy sequence --sync"
                        + " '"
                        + method
                        + "'"));
  }

  /**
   * Returns the measurements of some sums of a module. A sum is identified by its weights, and by
   * its position among those with equal weights. So a calibration of the whole model also applies
   * to one in which sums of other blocks are dropped.
   *
   * @param found the mesh of the module
   * @param all the sums of the module, in order
   * @param wanted the sums whose ranges are needed
   * @throws PartitaException with {@link SyncCode#CALIBRATION} if they were not measured, or {@link
   *     SyncCode#RANGES}
   */
  List<Sum> sums(String found, List<SumSync> all, List<SumSync> wanted) {
    String remedy = "calibrate this model on these devices with partita calibrate";
    if (!found.equals(mesh)) {
      throw SyncCode.CALIBRATION.at(source, "a calibration on " + found, "one on " + mesh, remedy);
    }
    List<Sum> left = new ArrayList<>(sums);
    List<Sum> chosen = new ArrayList<>();
    for (SumSync sync : all) {
      Optional<Sum> sum = measured(sync, left);
      sum.ifPresent(left::remove);
      if (wanted.contains(sync)) {
        chosen.add(valid(sync, sum));
      }
    }
    return chosen;
  }

  /** Returns the first sum with the same weights, preferably with the same name. */
  private static Optional<Sum> measured(SumSync sync, List<Sum> sums) {
    String weights = sync.weights();
    List<Sum> alike = sums.stream().filter(sum -> sum.weights().equals(weights)).toList();
    return alike.stream()
        .filter(sum -> sum.name().equals(sync.node().name()))
        .findFirst()
        .or(() -> alike.stream().findFirst());
  }

  private Sum valid(SumSync sync, Optional<Sum> measured) {
    Optional<Sum> fitting =
        measured
            .filter(each -> each.ranges().places() == sync.places())
            .filter(each -> each.ranges().features() == sync.features());
    if (fitting.isEmpty()) {
      throw SyncCode.CALIBRATION.at(
          source,
          "ranges of the sum at " + sync.node() + " in block " + sync.block(),
          "no sum with its weights and features; "
              + sums.stream().limit(MAX_NAMED).map(Sum::name).collect(Collectors.joining(", "))
              + (sums.size() > MAX_NAMED ? ", …" : ""),
          "calibrate this model on these devices with partita calibrate, and with the same --sync"
              + " if that drops syncs of the block");
    }
    int invalid = fitting.get().ranges().invalid();
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
