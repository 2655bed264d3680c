package io.partita.backend.siracusa;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The model's order of inputs and outputs, which are by name on devices. Each device has them in
 * this order, though some of them only; states aren't ports.
 */
final class PortOrder {
  private PortOrder() {}

  static List<String> inputs(Program program) {
    Set<String> names = new LinkedHashSet<>();
    for (Module device : longestFirst(program)) {
      device.graph().inputs().forEach(input -> names.add(input.name()));
    }
    program.devices().forEach(device -> device.states().forEach(s -> names.remove(s.input())));
    return List.copyOf(names);
  }

  static List<String> outputs(Program program) {
    Set<String> names = new LinkedHashSet<>();
    for (Module device : longestFirst(program)) {
      device.graph().outputs().forEach(output -> names.add(output.name()));
    }
    program.devices().forEach(device -> device.states().forEach(s -> names.remove(s.output())));
    return List.copyOf(names);
  }

  /** A device that has all comes first, so that its order is the one. */
  private static List<Module> longestFirst(Program program) {
    List<Module> devices = new ArrayList<>(program.devices());
    devices.sort(
        java.util.Comparator.comparingInt(
            device ->
                -(int)
                    Stream.concat(
                            device.graph().inputs().stream(), device.graph().outputs().stream())
                        .count()));
    return devices;
  }
}
