package io.partita.backend.emitted;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The description of a program in C: what its callers must know to run it.
 *
 * @param whole the interface in terms of the whole model
 * @param target the target, such as {@code siracusa:chips=4}
 * @param chips the streams of each chip
 * @param chunk the streams of each chip for several tokens at once; empty without such an entry
 *     point
 */
public record ChipDescription(
    ProgramInterface whole, String target, List<Chip> chips, List<Chip> chunk)
    implements Description {
  private static final ProgramDescription DESCRIPTION =
      new ProgramDescription("partita-c-2", "siracusa", ProgramCode.DESCRIPTOR);

  /** A chip's part of an input, output or state. */
  public record Port(String name, TensorType type) {}

  /** Inputs in the order in which the program reads them, and outputs as it writes them. */
  public record Chip(List<Port> inputs, List<Port> outputs, List<Port> states) {
    public Chip {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
      states = List.copyOf(states);
    }
  }

  public ChipDescription {
    chips = List.copyOf(chips);
    chunk = List.copyOf(chunk);
  }

  @Override
  public int devices() {
    return chips.size();
  }

  @Override
  public Optional<String> mainClass() {
    return Optional.empty();
  }

  @Override
  public String summary() {
    return "C for %d chip%s of %s: 'make host' builds it"
        .formatted(chips.size(), chips.size() == 1 ? "" : "s", target);
  }

  /** Returns the description as if the entry point for several tokens were the only one. */
  public Optional<ChipDescription> ofChunk() {
    return whole.ofChunk().map(own -> new ChipDescription(own, target, chunk, List.of()));
  }

  /** Returns the description of a schedule, with that of its second entry point, if any. */
  public static ChipDescription of(Schedule schedule, Optional<Schedule> chunk) {
    return new ChipDescription(
        ProgramInterface.of(schedule.program(), chunk.map(Schedule::program)),
        schedule.target(),
        chips(schedule),
        chunk.map(ChipDescription::chips).orElse(List.of()));
  }

  private static List<Chip> chips(Schedule schedule) {
    List<Chip> chips = new ArrayList<>();
    for (int chip = 0; chip < schedule.program().devices().size(); chip++) {
      int number = chip;
      ChipSchedule role =
          schedule.roles().stream()
              .filter(each -> each.devices().contains(number))
              .findFirst()
              .orElseThrow();
      chips.add(new Chip(ports(role.inputs()), ports(role.outputs()), ports(role.states())));
    }
    return chips;
  }

  private static List<Port> ports(List<ChipSchedule.Port> ports) {
    return ports.stream().map(port -> new Port(port.name(), port.type())).toList();
  }

  /** Returns the description as deterministic JSON. */
  public String json() {
    Map<String, Object> rest = new LinkedHashMap<>();
    rest.put("target", target);
    rest.put("chips", chips.stream().map(ChipDescription::fields).toList());
    if (!chunk.isEmpty()) {
      rest.put("chunk_chips", chunk.stream().map(ChipDescription::fields).toList());
    }
    return DESCRIPTION.json(whole, rest);
  }

  private static Map<String, Object> fields(Chip chip) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("inputs", fields(chip.inputs()));
    fields.put("outputs", fields(chip.outputs()));
    fields.put("states", fields(chip.states()));
    return fields;
  }

  private static List<Object> fields(List<Port> ports) {
    List<Object> rows = new ArrayList<>();
    for (Port port : ports) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("name", port.name());
      row.putAll(ProgramInterface.fields(port.type()));
      rows.add(row);
    }
    return rows;
  }

  /** Whether the folder holds a program in C. */
  public static boolean isIn(Path folder) {
    return DESCRIPTION.isIn(folder, ChipDescription::of);
  }

  /**
   * Reads the description in an emitted folder.
   *
   * @throws PartitaException P5101 if there is none or it can't be read
   */
  public static ChipDescription read(Path folder) {
    return DESCRIPTION.read(folder, ChipDescription::of);
  }

  private static ChipDescription of(ProgramInterface whole, DescriptionFields fields) {
    return new ChipDescription(
        whole,
        fields.text("target"),
        chips(fields, "chips"),
        fields.has("chunk_chips") ? chips(fields, "chunk_chips") : List.of());
  }

  private static List<Chip> chips(DescriptionFields fields, String name) {
    return fields.objects(name).stream()
        .map(
            chip ->
                new Chip(
                    read(chip.objects("inputs")),
                    read(chip.objects("outputs")),
                    read(chip.objects("states"))))
        .toList();
  }

  private static List<Port> read(List<DescriptionFields> ports) {
    return ports.stream().map(port -> new Port(port.text("name"), port.type())).toList();
  }
}
