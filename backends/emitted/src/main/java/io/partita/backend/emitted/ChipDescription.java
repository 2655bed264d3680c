package io.partita.backend.emitted;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.DescriptionFields;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What a caller must know to run an emitted program: {@code model.json} in its folder.
 *
 * @param model the graph's name
 * @param target what it was compiled for
 * @param inputs of the whole model, in its order
 * @param outputs of the whole model, in its order
 * @param chips by number
 * @param room for how many tokens it keeps keys and values
 * @param chunk how it takes several tokens at once, if it does
 */
public record ChipDescription(
    String model,
    String target,
    Mesh mesh,
    List<WholePort> inputs,
    List<WholePort> outputs,
    List<Chip> chips,
    Optional<Module.Room> room,
    Optional<Chunk> chunk) {
  /** The file's name. */
  public static final String FILE = "model.json";

  /** The text that says whose file it is. */
  private static final String FORMAT = "partita-c-1";

  private static final JSON WRITER =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build())
          .enable(JSON.Feature.PRETTY_PRINT_OUTPUT)
          .build();

  /** An input or output of the whole model, and how it lies on the chips. */
  public record WholePort(String name, ShardedType type) {}

  /** What a chip has of an input, output or state. */
  public record Port(String name, TensorType type) {}

  /** Inputs in the order in which the program reads them, and outputs as it writes them. */
  public record Chip(List<Port> inputs, List<Port> outputs, List<Port> states) {
    public Chip {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
      states = List.copyOf(states);
    }
  }

  /** Inputs and outputs of a run for several tokens at once; chips' states are left out. */
  public record Chunk(List<WholePort> inputs, List<WholePort> outputs, List<Chip> chips) {
    public Chunk {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
      chips = List.copyOf(chips);
    }
  }

  /** The description as if runs for several tokens at once were the only ones. */
  public Optional<ChipDescription> ofChunk() {
    return chunk.map(
        own ->
            new ChipDescription(
                model,
                target,
                mesh,
                own.inputs(),
                own.outputs(),
                own.chips(),
                room,
                Optional.empty()));
  }

  public ChipDescription {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    chips = List.copyOf(chips);
  }

  /** Whether something is kept from run to run. */
  public boolean hasState() {
    return chips.stream().anyMatch(chip -> !chip.states().isEmpty());
  }

  /** Returns the description of a schedule, with that of its second entry point, if any. */
  public static ChipDescription of(Schedule schedule, Optional<Schedule> chunk) {
    ChipDescription several = chunk.map(own -> of(own, Optional.empty())).orElse(null);
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
    return new ChipDescription(
        schedule.program().name(),
        schedule.target(),
        schedule.program().mesh(),
        whole(schedule.inputs(), states(schedule, Module.State::input)),
        whole(schedule.outputs(), states(schedule, Module.State::output)),
        chips,
        Module.room(
            schedule.program().devices().stream()
                .flatMap(device -> device.states().stream())
                .toList()),
        several == null
            ? Optional.empty()
            : Optional.of(
                new Chunk(
                    several.inputs,
                    several.outputs,
                    several.chips.stream()
                        .map(chip -> new Chip(chip.inputs(), chip.outputs(), List.of()))
                        .toList())));
  }

  private static List<Port> ports(List<ChipSchedule.Port> ports) {
    return ports.stream().map(port -> new Port(port.name(), port.type())).toList();
  }

  private static Set<String> states(Schedule schedule, Function<Module.State, String> name) {
    return schedule.program().devices().stream()
        .flatMap(device -> device.states().stream())
        .map(name)
        .collect(Collectors.toSet());
  }

  /** In the model's order; states aren't ports. */
  private static List<WholePort> whole(
      SequencedMap<String, ShardedType> types, Set<String> states) {
    return types.entrySet().stream()
        .filter(each -> !states.contains(each.getKey()))
        .map(each -> new WholePort(each.getKey(), each.getValue()))
        .toList();
  }

  /** The description as JSON, the same bytes each time. */
  public String json() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", FORMAT);
    fields.put("model", model);
    fields.put("target", target);
    Map<String, Object> axes = new LinkedHashMap<>();
    mesh.axes().forEach(axis -> axes.put(axis.name(), axis.size()));
    fields.put("mesh", axes);
    fields.put("inputs", inputs.stream().map(ChipDescription::json).toList());
    fields.put("outputs", outputs.stream().map(ChipDescription::json).toList());
    fields.put("chips", chips.stream().map(ChipDescription::json).toList());
    room.ifPresent(
        own -> {
          fields.put("capacity", own.capacity());
          own.positions().ifPresent(most -> fields.put("positions", most));
        });
    chunk.ifPresent(own -> fields.put("chunk", json(own)));
    try {
      return WRITER.asString(fields) + "\n";
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Map<String, Object> json(Chunk chunk) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("inputs", chunk.inputs().stream().map(ChipDescription::json).toList());
    fields.put("outputs", chunk.outputs().stream().map(ChipDescription::json).toList());
    fields.put("chips", chunk.chips().stream().map(ChipDescription::json).toList());
    return fields;
  }

  private static Map<String, Object> json(WholePort port) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", port.name());
    fields.put("type", port.type().toString());
    return fields;
  }

  private static Map<String, Object> json(Chip chip) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("inputs", chip.inputs().stream().map(ChipDescription::json).toList());
    fields.put("outputs", chip.outputs().stream().map(ChipDescription::json).toList());
    fields.put("states", chip.states().stream().map(ChipDescription::json).toList());
    return fields;
  }

  private static Map<String, Object> json(Port port) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", port.name());
    fields.put("element", port.type().element().text());
    fields.put("shape", port.type().shape().dims().stream().map(dim -> dim.value()).toList());
    return fields;
  }

  /** Whether the folder holds a program of this backend. */
  public static boolean isIn(Path folder) {
    try {
      return Files.exists(folder.resolve(FILE)) && read(folder) != null;
    } catch (PartitaException other) {
      return false;
    }
  }

  /**
   * Reads the description in an emitted folder.
   *
   * @throws PartitaException P5101 when there is none or it isn't one
   */
  public static ChipDescription read(Path folder) {
    Path file = folder.resolve(FILE);
    try {
      return of(DescriptionFields.of(JSON.std.anyFrom(DescriptionFields.text(file)), FORMAT));
    } catch (NoSuchFileException e) {
      throw unreadable(file, "no such file");
    } catch (JacksonException e) {
      throw unreadable(file, e.getOriginalMessage());
    } catch (IOException | IllegalArgumentException | ArithmeticException e) {
      throw unreadable(file, String.valueOf(e.getMessage()));
    }
  }

  private static PartitaException unreadable(Path file, String found) {
    return new PartitaException(
        ProgramCode.DESCRIPTOR,
        file.toString(),
        "a folder that 'partita compile --target siracusa' wrote",
        found,
        "name such a folder, or compile the model again");
  }

  private static ChipDescription of(DescriptionFields fields) {
    List<MeshAxis> axes = new ArrayList<>();
    DescriptionFields sizes = fields.object("mesh");
    sizes.names().forEach(name -> axes.add(new MeshAxis(name, (int) sizes.extent(name))));
    Mesh mesh = new Mesh(axes);
    return new ChipDescription(
        fields.text("model"),
        fields.text("target"),
        mesh,
        wholes(fields.objects("inputs"), mesh),
        wholes(fields.objects("outputs"), mesh),
        chips(fields),
        fields.room(),
        fields.has("chunk") ? Optional.of(chunk(fields.object("chunk"), mesh)) : Optional.empty());
  }

  private static Chunk chunk(DescriptionFields fields, Mesh mesh) {
    return new Chunk(
        wholes(fields.objects("inputs"), mesh),
        wholes(fields.objects("outputs"), mesh),
        chips(fields));
  }

  private static List<Chip> chips(DescriptionFields fields) {
    return fields.objects("chips").stream()
        .map(
            chip ->
                new Chip(
                    portsOf(chip.objects("inputs")),
                    portsOf(chip.objects("outputs")),
                    portsOf(chip.objects("states"))))
        .toList();
  }

  private static List<WholePort> wholes(List<DescriptionFields> ports, Mesh mesh) {
    return ports.stream().map(port -> whole(port, mesh)).toList();
  }

  private static WholePort whole(DescriptionFields port, Mesh mesh) {
    return new WholePort(port.text("name"), ShardedType.parse(port.text("type"), mesh));
  }

  private static List<Port> portsOf(List<DescriptionFields> ports) {
    return ports.stream().map(port -> new Port(port.text("name"), port.type())).toList();
  }
}
