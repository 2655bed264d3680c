package io.partita.zoo;

import java.util.Locale;

/** The metadata of a file. */
record ModelHeader(String graphName, String description) {
  static ModelHeader of(ZooModel model, ZooOptions options) {
    String mode = options.mode().name().toLowerCase(Locale.ROOT);
    return new ModelHeader(
        model.name(), model.name() + ", " + mode + ", seeded weights of seed " + options.seed());
  }
}
