package io.partita.backend.metalium;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Packing;
import java.util.Arrays;
import java.util.List;

/** How the weights of products are stored. */
public enum WeightFormat {
  /** As all elements of the model. */
  MODEL("model"),
  /** Blocks of 16 elements that share an exponent, 8.5 bits for each. */
  BF8_B("bf8_b");

  private final String text;

  WeightFormat(String text) {
    this.text = text;
  }

  /**
   * Returns the format of a name.
   *
   * @throws PartitaException P5206 if there is none
   */
  static WeightFormat of(String name) {
    List<String> names = Arrays.stream(values()).map(format -> format.text).toList();
    return Arrays.stream(values())
        .filter(format -> format.text.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new PartitaException(
                    MetaliumCode.WEIGHTS,
                    "--set weights=" + name,
                    "one of " + String.join(", ", names),
                    name,
                    NearestName.remedy(name, names)));
  }

  /** How schedules store such weights. */
  public Packing packing() {
    return this == BF8_B ? Packing.BF8_B : Packing.PLAIN;
  }

  TileFormat tiles(TileFormat elements) {
    return this == BF8_B ? TileFormat.BF8_B : elements;
  }
}
