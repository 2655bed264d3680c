package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/** How the user says over which devices a model is distributed. */
public final class Distribution {
  /** Messages that each channel between devices of an emitted program holds. */
  private static final int CAPACITY = 1;

  private Distribution() {}

  /**
   * The strategy that options ask for; none for one device.
   *
   * @param devices how many, or null
   * @param text a strategy as in {@code tensor=8} or {@code pipeline=2,tensor=4}; one without
   *     number, as in {@code sequence,norm=root}, is over all devices; null for {@code tensor}
   * @throws PartitaException when they don't fit together
   */
  public static Optional<Strategy> strategy(Integer devices, String text) {
    if (devices == null && text == null) {
      return Optional.empty();
    }
    if (devices != null && devices < 1) {
      throw wrong(
          "--devices " + devices, "1 device or more", devices.toString(), "choose --devices 2");
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

  /**
   * The programs of the devices of a module of the mesh dialect, or the one of a module that's on
   * no mesh. Syncs without an algorithm get one by {@link
   * io.partita.passes.mesh.sync.ChooseAlgorithms#byDeviceCount}.
   */
  public static Program program(Module module) {
    return programs(new Entries(module)).step();
  }

  /** {@link #program} of each entry point, which share parts of weights. */
  public static Entries.Programs programs(Entries entries) {
    if (entries.step().placement().isEmpty()) {
      return new Entries.Programs(alone(entries.step()), entries.chunk().map(Distribution::alone));
    }
    List<Module> modules = new ArrayList<>(List.of(entries.step()));
    entries.chunk().ifPresent(modules::add);
    List<Program> programs = Localization.of(modules, CAPACITY);
    return new Entries.Programs(
        programs.getFirst(),
        entries.chunk().isPresent() ? Optional.of(programs.getLast()) : Optional.empty());
  }

  private static Program alone(Module module) {
    Mesh mesh = Mesh.of();
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    module.graph().inputs().forEach(each -> inputs.put(each.name(), whole(mesh, each)));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    module.graph().outputs().forEach(each -> outputs.put(each.name(), whole(mesh, each.value())));
    return new Program(mesh, List.of(module), inputs, outputs);
  }

  private static ShardedType whole(Mesh mesh, Value value) {
    return new ShardedType(value.type(), Layout.replicated(mesh, value.type().rank()));
  }

  /**
   * As {@link #programs}, with messages on their way while devices compute: what a plan with
   * overlap reckons with.
   */
  public static Entries.Programs overlapping(Entries entries) {
    Entries.Programs programs = programs(entries);
    return new Entries.Programs(
        DelayReceives.apply(programs.step(), CAPACITY),
        programs.chunk().map(chunk -> DelayReceives.apply(chunk, CAPACITY)));
  }
}
