package io.partita.backend.java;

import io.partita.backend.java.ModelDescription.DeviceGroup;
import io.partita.backend.java.ModelDescription.DevicePart;
import io.partita.backend.java.ModelDescription.Kind;
import io.partita.backend.java.ModelDescription.Port;
import io.partita.backend.java.ModelDescription.StatePort;
import io.partita.backend.java.code.DeviceClasses;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Describes programs for several devices. */
final class DeviceDescriptions {
  private DeviceDescriptions() {}

  static ModelDescription of(ProgramPlan plan, DeviceClasses classes, String fingerprint) {
    Program program = plan.program();
    Set<Module.State> states = new LinkedHashSet<>();
    program.devices().forEach(device -> states.addAll(device.states()));
    List<DevicePart> parts = new ArrayList<>();
    for (int device = 0; device < plan.devices(); device++) {
      parts.add(
          new DevicePart(
              classes.roleOptions(plan.role(device)).qualifiedName(), classes.weightsFile(device)));
    }
    TreeMap<String, String> inputs = new TreeMap<>();
    program.inputs().forEach((name, type) -> inputs.put(name, type.toString()));
    TreeMap<String, String> outputs = new TreeMap<>();
    program.outputs().forEach((name, type) -> outputs.put(name, type.toString()));
    return new ModelDescription(
        program.name(),
        states.isEmpty() ? Kind.PREFILL : Kind.DECODER,
        classes.options().qualifiedName(),
        "",
        plan.signature().parameters().stream().map(p -> new Port(p.name(), p.type())).toList(),
        plan.signature().results().stream().map(r -> new Port(r.name(), r.type())).toList(),
        states.stream()
            .map(s -> new StatePort(s.input(), s.output(), program.inputs().get(s.input()).type()))
            .toList(),
        Module.room(List.copyOf(states)),
        plan.chunk().map(chunk -> ModelDescription.Chunk.of(chunk.signature())),
        Optional.of(
            new DeviceGroup(program.mesh().toString(), fingerprint, parts, inputs, outputs)));
  }
}
