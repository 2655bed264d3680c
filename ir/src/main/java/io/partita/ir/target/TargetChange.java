package io.partita.ir.target;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.Connection.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Changes of a target beyond its parameters: fewer devices or cores, other sizes of memories, or
 * other registers.
 */
public final class TargetChange {
  private TargetChange() {}

  /**
   * Returns a target with only the first devices and the connections between them; a part of a ring
   * is a line.
   *
   * @param devices the number of devices, at least 1 and at most that of the target
   */
  public static TargetDescription first(TargetDescription target, int devices) {
    if (devices < 1 || devices > target.deviceCount()) {
      throw new IllegalArgumentException(devices + " of " + target.deviceCount() + " devices");
    }
    if (devices == target.deviceCount()) {
      return target;
    }
    List<DeviceGroup> groups = new ArrayList<>();
    int left = devices;
    for (DeviceGroup group : target.groups()) {
      int taken = Math.min(left, group.count());
      left -= taken;
      if (taken > 0) {
        groups.add(new DeviceGroup(group.chip(), count(group.figures(), taken)));
      }
    }
    return new TargetDescription(
        target.name(),
        target.purpose(),
        target.parameters(),
        target.sources(),
        target.chips(),
        groups,
        target.links(),
        target.connections().stream()
            .flatMap(connection -> between(connection, devices).stream())
            .toList());
  }

  private static Figures count(Figures figures, int devices) {
    return figures.map(figure -> new Figure(new Quantity(devices, Unit.ONE), figure.origin()));
  }

  private static Optional<Connection> between(Connection connection, int devices) {
    return switch (connection.shape()) {
      case PAIR ->
          Math.max(connection.number("first"), connection.number("second")) < devices
              ? Optional.of(connection)
              : Optional.empty();
      case RING ->
          Optional.of(
              new Connection(
                  Shape.LINE, connection.link(), connection.origin(), connection.figures()));
      case FULL, LINE, TREE, ROWS, COLUMNS, SWITCH, SHARED -> Optional.of(connection);
    };
  }

  /** Returns the parameter of the number of devices, if there is a single group. */
  public static Optional<Parameter> deviceParameter(TargetDescription target) {
    if (target.groups().size() != 1) {
      return Optional.empty();
    }
    Figure count = target.groups().getFirst().figures().find("count").orElseThrow();
    return count.value() instanceof FigureValue.ParameterUse use
        ? target.parameter(use.parameter())
        : Optional.empty();
  }

  /** Returns the parameter of the size of a memory of a chip. */
  public static Optional<Parameter> memoryParameter(TargetDescription target, Memory memory) {
    return memory.figures().find("bytes").orElseThrow().value()
            instanceof FigureValue.ParameterUse use
        ? target.parameter(use.parameter())
        : Optional.empty();
  }

  /**
   * Returns a target with other values of parameters. A name of a memory that is not a parameter
   * changes the size of that memory on each chip that has it.
   *
   * @throws PartitaException with {@link TargetCode#ARGUMENT} if a name is neither, or a value is
   *     invalid
   */
  public static TargetDescription set(TargetDescription target, Map<String, Quantity> values) {
    Map<String, Quantity> arguments = new LinkedHashMap<>(values);
    TargetDescription changed = target;
    for (Map.Entry<String, Quantity> value : values.entrySet()) {
      if (target.parameter(value.getKey()).isEmpty() && memories(target).contains(value.getKey())) {
        changed = withMemory(changed, value.getKey(), value.getValue());
        arguments.remove(value.getKey());
      }
    }
    for (String name : arguments.keySet()) {
      if (target.parameter(name).isEmpty()) {
        List<String> names = new ArrayList<>();
        target.parameters().forEach(parameter -> names.add(parameter.name()));
        names.addAll(memories(target));
        throw new PartitaException(
            TargetCode.ARGUMENT,
            "target " + target.name() + ", parameter " + name,
            "one of " + String.join(", ", names.stream().distinct().toList()),
            name,
            NearestName.remedy(name, names));
      }
    }
    return changed.with(arguments);
  }

  /** Returns a target whose chips have another grid of cores. */
  public static TargetDescription onGrid(TargetDescription target, int columns, int rows) {
    return with(target, target.chips().stream().map(chip -> chip.onGrid(columns, rows)).toList());
  }

  /** Returns a target whose chips sum products of elements of 16 bits in registers of so many. */
  public static TargetDescription withSumBits(TargetDescription target, int bits) {
    return with(target, target.chips().stream().map(chip -> chip.withSumBits(bits)).toList());
  }

  private static TreeSet<String> memories(TargetDescription target) {
    TreeSet<String> names = new TreeSet<>();
    target.chips().forEach(chip -> chip.memories().forEach(memory -> names.add(memory.name())));
    return names;
  }

  private static TargetDescription withMemory(
      TargetDescription target, String memory, Quantity size) {
    if (size.dimension() != Dimension.BYTES || size.value() < 1) {
      throw new PartitaException(
          TargetCode.ARGUMENT,
          "target " + target.name() + ", memory " + memory,
          "a size such as 256KiB",
          size.toString(),
          "correct the size");
    }
    return with(target, target.chips().stream().map(chip -> resized(chip, memory, size)).toList());
  }

  private static TargetDescription with(TargetDescription target, List<ChipKind> chips) {
    return new TargetDescription(
        target.name(),
        target.purpose(),
        target.parameters(),
        target.sources(),
        chips,
        target.groups(),
        target.links(),
        target.connections());
  }

  private static ChipKind resized(ChipKind chip, String memory, Quantity size) {
    return new ChipKind(
        chip.name(),
        chip.figures(),
        chip.memories().stream()
            .map(each -> each.name().equals(memory) ? each.resized(size) : each)
            .toList(),
        chip.channels(),
        chip.kernels(),
        chip.functions());
  }
}
