package io.partita.ir.target;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;

/**
 * The target of a compilation: devices, their chips and the links between them, at the current
 * values of the parameters.
 *
 * @param purpose a sentence that describes the target
 * @param sources the sources of figures, by short name
 */
public record TargetDescription(
    String name,
    String purpose,
    List<Parameter> parameters,
    SequencedMap<String, String> sources,
    List<ChipKind> chips,
    List<DeviceGroup> groups,
    List<Link> links,
    List<Connection> connections) {
  public TargetDescription {
    parameters = List.copyOf(parameters);
    sources = java.util.Collections.unmodifiableSequencedMap(new LinkedHashMap<>(sources));
    chips = List.copyOf(chips);
    groups = List.copyOf(groups);
    links = List.copyOf(links);
    connections = List.copyOf(connections);
  }

  public int deviceCount() {
    return groups.stream().mapToInt(DeviceGroup::count).sum();
  }

  /** Returns the chip of each device. */
  public List<ChipKind> devices() {
    List<ChipKind> devices = new ArrayList<>();
    for (DeviceGroup group : groups) {
      ChipKind chip = chip(group.chip()).orElseThrow();
      for (int i = group.count(); i > 0; i--) {
        devices.add(chip);
      }
    }
    return devices;
  }

  public Optional<ChipKind> chip(String chip) {
    return chips.stream().filter(each -> each.name().equals(chip)).findFirst();
  }

  public Optional<Link> link(String link) {
    return links.stream().filter(each -> each.name().equals(link)).findFirst();
  }

  public Optional<Parameter> parameter(String parameter) {
    return parameters.stream().filter(each -> each.name().equals(parameter)).findFirst();
  }

  /**
   * Returns this target with other values of some parameters.
   *
   * @throws PartitaException if there is no such parameter, its value is out of range, or the
   *     target is invalid with it
   */
  public TargetDescription with(Map<String, Quantity> arguments) {
    arguments.forEach(this::requireFits);
    TargetDescription changed = substitute(arguments);
    TargetVerifier.verify(changed, path -> "target " + name + (path.isEmpty() ? "" : ", " + path));
    return changed;
  }

  private void requireFits(String argument, Quantity quantity) {
    String where = "target " + name + ", parameter " + argument;
    Parameter parameter =
        parameter(argument)
            .orElseThrow(
                () ->
                    new PartitaException(
                        TargetCode.ARGUMENT,
                        where,
                        parameters.isEmpty()
                            ? "no parameters"
                            : "one of "
                                + String.join(
                                    ", ", parameters.stream().map(Parameter::name).toList()),
                        argument,
                        NearestName.remedy(
                            argument, parameters.stream().map(Parameter::name).toList())));
    if (!parameter.allows(quantity)) {
      throw new PartitaException(
          TargetCode.ARGUMENT,
          where,
          parameter.range(),
          quantity.toString(),
          "choose a value in the range");
    }
  }

  private TargetDescription substitute(Map<String, Quantity> arguments) {
    UnaryOperator<Figure> change =
        figure ->
            figure.value() instanceof FigureValue.ParameterUse use
                    && arguments.containsKey(use.parameter())
                ? new Figure(
                    new FigureValue.ParameterUse(use.parameter(), arguments.get(use.parameter())),
                    figure.origin())
                : figure;
    return new TargetDescription(
        name,
        purpose,
        parameters.stream()
            .map(each -> each.with(arguments.getOrDefault(each.name(), each.value())))
            .toList(),
        sources,
        chips.stream().map(chip -> map(chip, change)).toList(),
        groups.stream()
            .map(group -> new DeviceGroup(group.chip(), group.figures().map(change)))
            .toList(),
        links.stream().map(link -> new Link(link.name(), link.figures().map(change))).toList(),
        connections.stream()
            .map(
                each ->
                    new Connection(
                        each.shape(), each.link(), each.origin(), each.figures().map(change)))
            .toList());
  }

  private static ChipKind map(ChipKind chip, UnaryOperator<Figure> change) {
    return new ChipKind(
        chip.name(),
        chip.figures().map(change),
        chip.memories().stream()
            .map(each -> new Memory(each.name(), each.figures().map(change)))
            .toList(),
        chip.channels().stream()
            .map(
                each ->
                    new DmaChannel(
                        each.from(), each.to(), each.bothWays(), each.figures().map(change)))
            .toList(),
        chip.kernels().stream()
            .map(
                each ->
                    new KernelThroughput(each.kernel(), each.element(), each.figures().map(change)))
            .toList(),
        chip.functions().stream()
            .map(
                each ->
                    new FunctionThroughput(
                        each.kernel(), each.function(), each.figures().map(change)))
            .toList());
  }
}
