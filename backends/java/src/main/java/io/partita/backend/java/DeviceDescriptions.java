package io.partita.backend.java;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.JavaDescription.DeviceGroup;
import io.partita.backend.java.JavaDescription.DevicePart;
import io.partita.backend.java.code.DeviceClasses;
import io.partita.backend.java.plan.ProgramPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Describes programs for several devices. */
final class DeviceDescriptions {
  private DeviceDescriptions() {}

  static JavaDescription of(
      ProgramPlan plan, ProgramInterface whole, DeviceClasses classes, String fingerprint) {
    List<DevicePart> parts = new ArrayList<>();
    for (int device = 0; device < plan.devices(); device++) {
      parts.add(
          new DevicePart(
              classes.roleOptions(plan.role(device)).qualifiedName(), classes.weightsFile(device)));
    }
    return new JavaDescription(
        whole,
        classes.options().qualifiedName(),
        "",
        Optional.of(new DeviceGroup(fingerprint, parts)));
  }
}
