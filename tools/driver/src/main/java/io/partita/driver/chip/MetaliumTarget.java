package io.partita.driver.chip;

import io.partita.backend.metalium.EmulatedProgram;
import io.partita.backend.metalium.Grid;
import io.partita.backend.metalium.MetaliumBackend;
import io.partita.backend.metalium.MetaliumCode;
import io.partita.backend.metalium.MetaliumOptions;
import io.partita.backend.metalium.SumFormat;
import io.partita.driver.DriverCode;
import io.partita.driver.Entries;
import io.partita.driver.Sharding;
import io.partita.driver.cases.MetaliumRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Tenstorrent chips, for which a model is compiled to TT-Metalium kernels.
 *
 * @param card the chips with all of their memories
 * @param description the chips as they're set, with as much of a memory or less
 * @param usualDevices the chips that a program uses if the user doesn't say how many; empty for one
 */
public record MetaliumTarget(
    TargetDescription card,
    TargetDescription description,
    OptionalInt usualDevices,
    MetaliumBackend backend)
    implements RemediedTarget {
  private static final Duration EMULATION_LIMIT = Duration.ofMinutes(10);

  /** A card with several chips, all of which a program uses. */
  private static final String SEVERAL = "n300";

  /**
   * Returns the target of a reference such as {@code n150} or {@code n150:chips=4}.
   *
   * @throws PartitaException with {@link io.partita.ir.target.TargetCode}s
   */
  public static MetaliumTarget of(String reference) {
    return of(reference, new TargetSettings(Map.of()));
  }

  /**
   * As above.
   *
   * @param settings quantities of the target, such as {@code l1}, its {@link Grid}, the type of
   *     sums ({@link SumFormat}), and {@link MetaliumOptions}
   * @throws PartitaException with {@link io.partita.ir.target.TargetCode}s, or with {@link
   *     io.partita.backend.metalium.MetaliumCode}s for wrong options
   */
  public static MetaliumTarget of(String reference, TargetSettings settings) {
    Map<String, String> rest = new LinkedHashMap<>(settings.values());
    MetaliumOptions options = MetaliumOptions.takeFrom(rest);
    TargetDescription found = TargetLibrary.find(reference);
    TargetDescription whole =
        Optional.ofNullable(rest.remove("sums"))
            .map(type -> SumFormat.set(found, type))
            .orElse(found);
    Optional<Grid> grid =
        Optional.ofNullable(rest.remove("grid"))
            .map(text -> Grid.of(text, whole.devices().getFirst()));
    TargetDescription card =
        grid.map(each -> TargetChange.onGrid(whole, each.columns(), each.rows())).orElse(whole);
    TargetDescription description = TargetChange.set(card, new TargetSettings(rest).quantities());
    verifyMemories(card, description);
    boolean isAll = reference.contains("=") || reference.equals(SEVERAL);
    return new MetaliumTarget(
        card,
        description,
        isAll && description.deviceCount() > 1
            ? OptionalInt.of(description.deviceCount())
            : OptionalInt.empty(),
        new MetaliumBackend(description, options));
  }

  /** A card has the memories that it has: with more, kernels wouldn't run. */
  private static void verifyMemories(TargetDescription card, TargetDescription description) {
    ChipKind chip = card.devices().getFirst();
    for (Memory memory : description.devices().getFirst().memories()) {
      long most = chip.memory(memory.name()).orElseThrow().bytes();
      if (memory.bytes() > most) {
        throw new PartitaException(
            MetaliumCode.MEMORY,
            "--set " + memory.name(),
            "at most " + most + " bytes, those of a chip of " + card.name(),
            memory.bytes() + " bytes",
            "leave --set " + memory.name() + " out, for all of them");
      }
    }
  }

  @Override
  public void verifyDevices(int count) {
    if (count > description.deviceCount()) {
      throw new PartitaException(
          DriverCode.DEVICES,
          "--devices " + count,
          "at most " + description.deviceCount() + " devices, the number in the target",
          Integer.toString(count),
          "choose --devices "
              + description.deviceCount()
              + " or fewer, or a target with more: n150:chips="
              + count);
    }
  }

  @Override
  public long workingBytes() {
    return description.devices().getFirst().working().bytes();
  }

  @Override
  public long most(Memory memory) {
    return card.devices().getFirst().memory(memory.name()).orElseThrow().bytes();
  }

  @Override
  public RemediedTarget withWorkingBytes(long bytes) {
    return with(description.devices().getFirst().working(), bytes);
  }

  @Override
  public MetaliumTarget with(TargetDescription changed) {
    return new MetaliumTarget(
        card, changed, usualDevices, new MetaliumBackend(changed, backend.options()));
  }

  @Override
  public void verifyFit(Entries.Programs programs) {
    verifyDevices(programs.step().devices().size());
    backend.emit(programs.step(), programs.chunk());
  }

  @Override
  public String name() {
    return description.name();
  }

  @Override
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return new MetaliumRunner(this, sharding, EmulatedProgram::build, EMULATION_LIMIT);
  }
}
