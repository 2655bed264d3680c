package io.partita.backend.metalium;

import io.partita.backend.emitted.Description;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The description of a program in TT-Metalium.
 *
 * @param whole the interface in terms of the whole model
 * @param target the target, such as {@code n150}
 */
public record MetaliumDescription(ProgramInterface whole, String target) implements Description {
  private static final ProgramDescription DESCRIPTION =
      new ProgramDescription("partita-metalium-1", "n150", ProgramCode.DESCRIPTOR);

  @Override
  public int devices() {
    return whole.mesh().devices();
  }

  @Override
  public Optional<String> mainClass() {
    return Optional.empty();
  }

  @Override
  public String summary() {
    String chips = devices() == 1 ? "one chip" : devices() + " chips";
    return "TT-Metalium kernels for "
        + chips
        + " of "
        + target
        + ": 'make' builds them for the host";
  }

  /** Returns the description as deterministic JSON. */
  public String json() {
    return DESCRIPTION.json(whole, Map.of("target", target));
  }

  /** Whether the folder holds a program in TT-Metalium. */
  public static boolean isIn(Path folder) {
    return DESCRIPTION.isIn(folder, MetaliumDescription::of);
  }

  /**
   * Reads the description in an emitted folder.
   *
   * @throws io.partita.ir.diagnostic.PartitaException P5101 if there is none or it can't be read
   */
  public static MetaliumDescription read(Path folder) {
    return DESCRIPTION.read(folder, MetaliumDescription::of);
  }

  private static MetaliumDescription of(ProgramInterface whole, DescriptionFields fields) {
    return new MetaliumDescription(whole, fields.text("target"));
  }
}
