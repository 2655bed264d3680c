package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Parses the distribution of a model over devices. */
public final class Distribution {
  private Distribution() {}

  /**
   * Returns the strategy of the given options; empty for one device.
   *
   * @param devices the number of devices, or null
   * @param text a strategy as in {@code tensor=8} or {@code pipeline=2,tensor=4}; one without
   *     number, as in {@code tensor,norm=root}, uses all devices; null for {@code tensor}
   * @throws PartitaException if they contradict each other
   */
  public static Optional<Strategy> strategy(Integer devices, String text) {
    if (devices == null && text == null) {
      return Optional.empty();
    }
    if (devices != null && devices < 1) {
      throw wrong(
          "--devices " + devices, "at least 1 device", devices.toString(), "choose --devices 2");
    }
    List<String> words = new ArrayList<>();
    for (String word : (text == null ? "tensor" : text).split(",", -1)) {
      boolean isKind = List.of("tensor", "sequence", "pipeline").contains(word.strip());
      if (isKind && devices == null) {
        throw wrong(
            "--strategy " + text,
            word.strip() + "=N, or --devices N",
            "no number",
            "add --devices 2, or another number");
      }
      words.add(isKind ? word.strip() + "=" + devices : word);
    }
    Strategy strategy = Strategy.parse(String.join(",", words));
    if (strategy.devices() > Mesh.MAX_DEVICES) {
      throw wrong(
          "--strategy " + text,
          "a strategy for at most " + Mesh.MAX_DEVICES + " devices",
          "one for " + strategy.devices(),
          "choose smaller numbers of devices");
    }
    if (devices != null && strategy.devices() != devices) {
      throw wrong(
          "--devices " + devices + " --strategy " + text,
          "a strategy for " + devices + " devices",
          "one for " + strategy.devices(),
          "choose --devices " + strategy.devices());
    }
    return strategy.devices() == 1 ? Optional.empty() : Optional.of(strategy);
  }

  private static PartitaException wrong(
      String where, String expected, String found, String remedy) {
    return new PartitaException(DriverCode.DEVICES, where, expected, found, remedy);
  }

  /** The programs of the devices of a module, like {@link Localization#of(Module, int)}. */
  public static Program program(Module module) {
    return programs(new Entries(module)).step();
  }

  /** Calls {@link #program} for each entry point; these share parts of weights. */
  public static Entries.Programs programs(Entries entries) {
    List<Module> modules = new ArrayList<>(List.of(entries.step()));
    entries.chunk().ifPresent(modules::add);
    List<Program> programs = Localization.of(modules, Localize.CAPACITY);
    return new Entries.Programs(
        programs.getFirst(),
        entries.chunk().isPresent() ? Optional.of(programs.getLast()) : Optional.empty());
  }

  /**
   * Like {@link #programs}, with messages that overlap with computation, as assumed by plans with
   * overlap. Exchanges that are skipped under a condition have no work beside them.
   */
  public static Entries.Programs overlapping(Entries entries) {
    Entries.Programs programs = programs(entries);
    if (isGuarded(entries.step()) || entries.chunk().filter(Distribution::isGuarded).isPresent()) {
      return programs;
    }
    return new Entries.Programs(
        DelayReceives.apply(programs.step(), Localize.CAPACITY),
        programs.chunk().map(chunk -> DelayReceives.apply(chunk, Localize.CAPACITY)));
  }

  private static boolean isGuarded(Module module) {
    return module.graph().nodes().stream()
        .anyMatch(node -> node.op() instanceof Communication.Gate);
  }
}
