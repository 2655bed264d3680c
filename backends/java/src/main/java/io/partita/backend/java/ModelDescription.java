package io.partita.backend.java;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.java.plan.Signature;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.DescriptionFields;
import io.partita.ir.graph.Module;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The description with which a caller loads and runs an emitted program: {@code model.json}.
 *
 * @param model the graph's name
 * @param kind whether it keeps state between runs
 * @param className the qualified name of the class
 * @param weightsFile the file of weights; empty for a program for several devices
 * @param room the decoder's number of cache positions
 * @param chunk the decoder's entry point for several tokens at once, if any
 * @param devices the devices; empty for a program for one device
 */
public record ModelDescription(
    String model,
    Kind kind,
    String className,
    String weightsFile,
    List<Port> inputs,
    List<Port> outputs,
    List<StatePort> states,
    Optional<Module.Room> room,
    Optional<Chunk> chunk,
    Optional<DeviceGroup> devices) {
  /** The file's name. */
  public static final String FILE = "model.json";

  /** The method of a decoder that takes several tokens at once. */
  public static final String CHUNK = "chunk";

  /** The text that identifies a file of this backend. */
  static final String FORMAT = "partita-java-1";

  private static final JSON ASCII =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build()).build();

  /** The kind of a program's entry point. */
  public enum Kind {
    /** {@code run} computes outputs from inputs alone. */
    PREFILL("run"),
    /** {@code step} also reads and updates the state. */
    DECODER("step");

    private final String method;

    Kind(String method) {
      this.method = method;
    }

    /** The name of the method. */
    public String method() {
      return method;
    }
  }

  /** An input or output. */
  public record Port(String name, TensorType type) {}

  /** A state: the names of the model's input and output that it replaces. */
  public record StatePort(String input, String output, TensorType type) {}

  /** The inputs and outputs of {@link #CHUNK}. */
  public record Chunk(List<Port> inputs, List<Port> outputs) {
    public Chunk {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
    }

    static Chunk of(Signature signature) {
      return new Chunk(
          signature.parameters().stream().map(p -> new Port(p.name(), p.type())).toList(),
          signature.results().stream().map(r -> new Port(r.name(), r.type())).toList());
    }
  }

  /**
   * The part of a program that one device runs.
   *
   * @param className the qualified name of its role's class
   */
  public record DevicePart(String className, String weightsFile) {}

  /**
   * The devices of a program.
   *
   * @param mesh in the form {@code mesh(x=4, y=2)}
   * @param program the fingerprint that all devices must share
   * @param parts by device
   * @param inputs the types and layouts of the whole model's inputs by name, including states, in
   *     the form of {@link io.partita.ir.mesh.ShardedType}: how they are split over the devices
   * @param outputs the same for outputs: how the devices' parts are assembled
   */
  public record DeviceGroup(
      String mesh,
      String program,
      List<DevicePart> parts,
      SortedMap<String, String> inputs,
      SortedMap<String, String> outputs) {
    public DeviceGroup {
      parts = List.copyOf(parts);
      inputs = Collections.unmodifiableSortedMap(new TreeMap<>(inputs));
      outputs = Collections.unmodifiableSortedMap(new TreeMap<>(outputs));
    }
  }

  public ModelDescription {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
  }

  /** Returns the description as JSON; deterministic. */
  public String json() {
    List<String> fields = new ArrayList<>();
    fields.add("\"format\": " + quote(FORMAT));
    fields.add("\"model\": " + quote(model));
    fields.add("\"kind\": " + quote(kind.name().toLowerCase(Locale.ROOT)));
    fields.add("\"class\": " + quote(className));
    if (devices.isEmpty()) {
      fields.add("\"weights\": " + quote(weightsFile));
    }
    fields.add(array("inputs", inputs.stream().map(ModelDescription::port).toList()));
    fields.add(array("outputs", outputs.stream().map(ModelDescription::port).toList()));
    fields.add(array("states", states.stream().map(ModelDescription::state).toList()));
    room.ifPresent(
        own -> {
          fields.add("\"capacity\": " + own.capacity());
          own.positions().ifPresent(most -> fields.add("\"positions\": " + most));
        });
    chunk.ifPresent(
        own -> {
          List<String> ports =
              List.of(
                  array("inputs", own.inputs().stream().map(ModelDescription::port).toList()),
                  array("outputs", own.outputs().stream().map(ModelDescription::port).toList()));
          fields.add("\"chunk\": {" + lines(ports) + "}");
        });
    devices.ifPresent(group -> fields.add("\"devices\": " + json(group)));
    return "{\n  " + String.join(",\n  ", fields) + "\n}\n";
  }

  private static String array(String name, List<String> items) {
    return quote(name) + ": [" + lines(items) + "]";
  }

  private static String json(DeviceGroup group) {
    List<String> parts =
        group.parts().stream()
            .map(
                part ->
                    "{\"class\": %s, \"weights\": %s}"
                        .formatted(quote(part.className()), quote(part.weightsFile())))
            .toList();
    List<String> fields = new ArrayList<>();
    fields.add("\"mesh\": " + quote(group.mesh()));
    fields.add("\"program\": " + quote(group.program()));
    fields.add("\"parts\": [\n      " + String.join(",\n      ", parts) + "\n    ]");
    fields.add("\"inputs\": " + json(group.inputs()));
    fields.add("\"outputs\": " + json(group.outputs()));
    return "{\n    " + String.join(",\n    ", fields) + "\n  }";
  }

  private static String json(SortedMap<String, String> types) {
    return types.entrySet().stream()
        .map(entry -> quote(entry.getKey()) + ": " + quote(entry.getValue()))
        .collect(Collectors.joining(",\n      ", "{\n      ", "\n    }"));
  }

  private static String quote(String value) {
    try {
      return ASCII.asString(value);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static String lines(List<String> items) {
    return items.isEmpty() ? "" : "\n    " + String.join(",\n    ", items) + "\n  ";
  }

  private static String port(Port port) {
    return "{\"name\": " + quote(port.name()) + ", " + type(port.type()) + "}";
  }

  private static String state(StatePort state) {
    return "{\"input\": %s, \"output\": %s, %s}"
        .formatted(quote(state.input()), quote(state.output()), type(state.type()));
  }

  private static String type(TensorType type) {
    String shape =
        type.shape().dims().stream().map(Object::toString).collect(Collectors.joining(", "));
    return "\"element\": \"" + type.element().text() + "\", \"shape\": [" + shape + "]";
  }

  /**
   * Reads the description in an emitted folder.
   *
   * @throws PartitaException P5004 when there is none or it isn't one
   */
  public static ModelDescription read(Path folder) {
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
        BackendCode.DESCRIPTOR,
        file.toString(),
        "a folder that 'partita compile --target java' wrote",
        found,
        "name such a folder, or compile the model again");
  }

  private static ModelDescription of(DescriptionFields fields) {
    String kind = fields.text("kind").toUpperCase(Locale.ROOT);
    Optional<DeviceGroup> devices =
        fields.has("devices") ? Optional.of(devices(fields.object("devices"))) : Optional.empty();
    return new ModelDescription(
        fields.text("model"),
        Kind.valueOf(kind),
        fields.text("class"),
        devices.isPresent() ? "" : fields.text("weights"),
        ports(fields.objects("inputs")),
        ports(fields.objects("outputs")),
        fields.objects("states").stream()
            .map(state -> new StatePort(state.text("input"), state.text("output"), state.type()))
            .toList(),
        fields.room(),
        fields.has("chunk") ? Optional.of(chunk(fields.object("chunk"))) : Optional.empty(),
        devices);
  }

  private static Chunk chunk(DescriptionFields fields) {
    return new Chunk(ports(fields.objects("inputs")), ports(fields.objects("outputs")));
  }

  private static List<Port> ports(List<DescriptionFields> ports) {
    return ports.stream().map(port -> new Port(port.text("name"), port.type())).toList();
  }

  private static DeviceGroup devices(DescriptionFields fields) {
    return new DeviceGroup(
        fields.text("mesh"),
        fields.text("program"),
        fields.objects("parts").stream()
            .map(part -> new DevicePart(part.text("class"), part.text("weights")))
            .toList(),
        texts(fields.object("inputs")),
        texts(fields.object("outputs")));
  }

  private static SortedMap<String, String> texts(DescriptionFields fields) {
    SortedMap<String, String> texts = new TreeMap<>();
    fields.names().forEach(name -> texts.put(name, fields.text(name)));
    return texts;
  }
}
