package io.partita.backend.java;

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
 * @param devices the devices; empty for a program for one device
 */
public record JavaDescription(
    ProgramInterface whole, String className, String weightsFile, Optional<DeviceGroup> devices) {
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

  /** The name of the method that runs the program. */
  public String method() {
    return whole.isDecoder() ? "step" : "run";
  }

  /** Returns the description as deterministic JSON. */
  public String json() {
    Map<String, Object> rest = new LinkedHashMap<>();
    rest.put("class", className);
    devices.ifPresentOrElse(
        group -> {
          rest.put("program", group.program());
          rest.put("devices", group.parts().stream().map(JavaDescription::fields).toList());
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
    return DESCRIPTION.read(
        folder,
        (whole, fields) ->
            new JavaDescription(
                whole,
                fields.text("class"),
                fields.has("devices") ? "" : fields.text("weights"),
                fields.has("devices") ? Optional.of(devices(fields)) : Optional.empty()));
  }

  private static DeviceGroup devices(DescriptionFields fields) {
    return new DeviceGroup(
        fields.text("program"),
        fields.objects("devices").stream()
            .map(part -> new DevicePart(part.text("class"), part.text("weights")))
            .toList());
  }
}
