package io.partita.backend.metalium;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.type.ElementType;
import java.util.List;

/** The types in which destination registers hold sums of products of elements of bf16. */
public final class SumFormat {
  private static final List<String> NAMES = List.of("f32", "bf16");

  private SumFormat() {}

  /**
   * Returns a target whose chips sum in a type.
   *
   * @param name {@code bf16} or {@code f32}
   * @throws PartitaException P5209 if there is no such type, or chips don't tell theirs
   */
  public static TargetDescription set(TargetDescription target, String name) {
    if (!NAMES.contains(name)) {
      throw new PartitaException(
          MetaliumCode.SUMS,
          "--set sums=" + name,
          "one of " + String.join(", ", NAMES),
          name,
          NearestName.remedy(name, NAMES));
    }
    int bits = ElementType.of(name).orElseThrow().bits();
    TargetDescription changed = TargetChange.withSumBits(target, bits);
    if (changed.devices().stream().anyMatch(chip -> chip.sumBits() != bits)) {
      throw new PartitaException(
          MetaliumCode.SUMS,
          "--set sums=" + name,
          "chips whose description has 'sum-bits'",
          "target " + target.name() + " without it",
          "add 'sum-bits = " + bits + " from SOURCE' to its chip, or leave --set sums out");
    }
    return changed;
  }

  /** Returns P5209 for a model of other elements. */
  static PartitaException unsupported(String model, ElementType element) {
    return new PartitaException(
        MetaliumCode.SUMS,
        "model \"" + model + "\"",
        "elements of bf16, for sums of bf16",
        element.text(),
        "add the pass bf16 to --passes, or leave --set sums out");
  }
}
