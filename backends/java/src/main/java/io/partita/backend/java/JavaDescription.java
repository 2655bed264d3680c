package io.partita.backend.java;

import io.partita.backend.emitted.Description;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.diagnostic.PartitaException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The description of a program in Java: what its callers must know to load and run it.
 *
 * @param whole the interface
 * @param className the qualified name of the class
 * @param weightsFile the file of weights; empty for a program for several devices
 * @param group the devices; empty for a program for one device
 */
public record JavaDescription(
    ProgramInterface whole, String className, String weightsFile, Optional<DeviceGroup> group)
    implements Description {
  /** The method of a decoder that takes several tokens at once. */
  public static final String CHUNK = "chunk";

  private static final ProgramDescription DESCRIPTION =
      new ProgramDescription("partita-java-2", "java", BackendCode.DESCRIPTOR);

  /**
   * The part of a program that one device runs.
   *
   * @param className the qualified name of its role's class
   */
  public record DevicePart(String className, String weightsFile) {}

  /**
   * The devices of a program.
   *
   * @param program the fingerprint that all devices must share
   * @param parts by device
   */
  public record DeviceGroup(String program, List<DevicePart> parts) {
    public DeviceGroup {
      parts = List.copyOf(parts);
    }
  }

  @Override
  public int devices() {
    return group.map(own -> own.parts().size()).orElse(1);
  }

  @Override
  public Optional<String> mainClass() {
    return Optional.of(className);
  }

  @Override
  public String summary() {
    return kind()
        + (group.isPresent() ? ", on %d devices: %s".formatted(devices(), whole.mesh()) : "");
  }

  private String kind() {
    if (!whole.isDecoder()) {
      return "class %s: a function, run(…)".formatted(className);
    }
    return "class %s: a decoder with step(…)%s and reset(), and a state of %,d bytes"
        .formatted(
            className,
            whole.chunk().isPresent() ? ", chunk(…)" : "",
            whole.states().stream().mapToLong(state -> state.type().bytes()).sum());
  }

  /** The name of the method that runs the program. */
  public String method() {
    return whole.isDecoder() ? "step" : "run";
  }

  /** Returns the description as deterministic JSON. */
  public String json() {
    Map<String, Object> rest = new LinkedHashMap<>();
    rest.put("class", className);
    group.ifPresentOrElse(
        own -> {
          rest.put("program", own.program());
          rest.put("devices", own.parts().stream().map(JavaDescription::fields).toList());
        },
        () -> rest.put("weights", weightsFile));
    return DESCRIPTION.json(whole, rest);
  }

  private static Map<String, Object> fields(DevicePart part) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("class", part.className());
    fields.put("weights", part.weightsFile());
    return fields;
  }

  /**
   * Reads the description in an emitted folder.
   *
   * @throws PartitaException P5004 if there is none or it can't be read
   */
  public static JavaDescription read(Path folder) {
    return DESCRIPTION.read(folder, JavaDescription::of);
  }

  /** Whether the folder holds a program in Java. */
  public static boolean isIn(Path folder) {
    return DESCRIPTION.isIn(folder, JavaDescription::of);
  }

  private static JavaDescription of(ProgramInterface whole, DescriptionFields fields) {
    boolean isGroup = fields.has("devices");
    return new JavaDescription(
        whole,
        fields.text("class"),
        isGroup ? "" : fields.text("weights"),
        isGroup ? Optional.of(group(fields)) : Optional.empty());
  }

  private static DeviceGroup group(DescriptionFields fields) {
    return new DeviceGroup(
        fields.text("program"),
        fields.objects("devices").stream()
            .map(part -> new DevicePart(part.text("class"), part.text("weights")))
            .toList());
  }
}
