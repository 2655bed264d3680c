package io.partita.ir.target;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Finds all errors of a target description: figures that are missing, unknown, out of range or have
 * a wrong unit; undefined names; memories and devices that can't be reached.
 */
public final class TargetVerifier {
  /** Four times the number of devices of the largest target in the papers. */
  static final int MAX_DEVICES = 256;

  private final TargetDescription target;
  private final UnaryOperator<String> places;
  private final List<Diagnostic> found = new ArrayList<>();

  private TargetVerifier(TargetDescription target, UnaryOperator<String> places) {
    this.target = target;
    this.places = places;
  }

  /**
   * @throws PartitaException with a diagnostic for each error
   */
  public static void verify(TargetDescription target) {
    verify(target, path -> "target " + target.name() + (path.isEmpty() ? "" : ", " + path));
  }

  /**
   * @param places maps a path such as {@code chip siracusa, memory l2, bytes} to its location in
   *     messages
   */
  static void verify(TargetDescription target, UnaryOperator<String> places) {
    TargetVerifier verifier = new TargetVerifier(target, places);
    verifier.parameters();
    verifier.parts();
    verifier.chips();
    if (verifier.found.isEmpty()) {
      // The following checks need valid figures.
      verifier.devices();
    }
    if (!verifier.found.isEmpty()) {
      throw new PartitaException(verifier.found);
    }
  }

  private void report(TargetCode code, String path, String expected, String is, String remedy) {
    found.add(new Diagnostic(code, places.apply(path), expected, is, remedy));
  }

  private void parameters() {
    Set<String> names = new HashSet<>();
    for (Parameter each : target.parameters()) {
      String path = "parameter " + each.name();
      unique(names, each.name(), path);
      origin(each.origin(), path);
      Dimension dimension = each.standard().dimension();
      if (each.low().dimension() != dimension || each.high().dimension() != dimension) {
        report(
            TargetCode.UNIT,
            path,
            "a range in " + dimension.text(),
            each.low() + " to " + each.high(),
            "use units of the same dimension for the value and its range");
      } else if (!each.allows(each.standard()) || !each.allows(each.value())) {
        report(
            TargetCode.RANGE,
            path,
            each.range(),
            each.allows(each.standard()) ? each.value().toString() : each.standard().toString(),
            "choose a value in the range");
      }
    }
  }

  private void parts() {
    if (target.chips().isEmpty() || target.groups().isEmpty()) {
      report(
          TargetCode.INCOMPLETE,
          "",
          "at least one chip and one device",
          target.chips().size() + " chips, " + target.groups().size() + " groups of devices",
          "add 'chip NAME {…}' and 'devices 1 of NAME'");
    }
    Set<String> names = new HashSet<>();
    for (Link link : target.links()) {
      String path = "link " + link.name();
      unique(names, link.name(), path);
      fields(Link.FIELDS, link.figures(), path);
    }
    for (int i = 0; i < target.groups().size(); i++) {
      DeviceGroup group = target.groups().get(i);
      String path = "devices " + (i + 1);
      fields(DeviceGroup.FIELDS, group.figures(), path);
      defined(target.chip(group.chip()).isPresent(), "a chip", group.chip(), path);
    }
    for (int i = 0; i < target.connections().size(); i++) {
      Connection connection = target.connections().get(i);
      String path = "connect " + (i + 1);
      fields(connection.shape().fields(), connection.figures(), path);
      defined(target.link(connection.link()).isPresent(), "a link", connection.link(), path);
      origin(connection.origin(), path);
    }
  }

  private void chips() {
    Set<String> names = new HashSet<>();
    for (ChipKind chip : target.chips()) {
      String path = "chip " + chip.name();
      unique(names, chip.name(), path);
      fields(ChipKind.FIELDS, chip.figures(), path);
      Set<String> parts = new HashSet<>();
      for (Memory memory : chip.memories()) {
        String part = path + ", memory " + memory.name();
        unique(parts, memory.name(), part);
        fields(Memory.FIELDS, memory.figures(), part);
      }
      for (DmaChannel channel : chip.channels()) {
        String part = path + ", dma " + channel.name();
        fields(DmaChannel.FIELDS, channel.figures(), part);
        for (String end : List.of(channel.from(), channel.to())) {
          defined(chip.memory(end).isPresent(), "a memory", end, part);
        }
        unique(parts, channel.from() + ">" + channel.to(), part);
        if (channel.bothWays()) {
          unique(parts, channel.to() + ">" + channel.from(), part);
        }
      }
      for (KernelThroughput kernel : chip.kernels()) {
        String name = kernel.kernel().text() + " " + kernel.element();
        String part = path + ", kernel " + name;
        unique(parts, name, part);
        fields(KernelThroughput.fields(kernel.kernel()), kernel.figures(), part);
      }
      for (FunctionThroughput function : chip.functions()) {
        String part = path + ", kernel " + function.kernel().text() + " " + function.function();
        unique(parts, function.function(), part);
        fields(FunctionThroughput.fields(function.kernel()), function.figures(), part);
      }
      memories(chip, path);
    }
  }

  /** Checks that transfers can reach each memory from the working memory, and return. */
  private void memories(ChipKind chip, String path) {
    if (chip.memories().isEmpty() || chip.kernels().isEmpty()) {
      report(
          TargetCode.INCOMPLETE,
          path,
          "at least one memory and one kernel",
          chip.memories().size() + " memories, " + chip.kernels().size() + " kernels",
          "add 'memory NAME {…}' and 'kernel matmul f32 {…}'");
      return;
    }
    Set<String> reading = reached(chip, true);
    Set<String> writing = reached(chip, false);
    for (Memory memory : chip.memories()) {
      boolean reads = reading.contains(memory.name());
      if (!reads || !writing.contains(memory.name())) {
        String working = chip.working().name();
        report(
            TargetCode.NO_WAY_TO_MEMORY,
            path + ", memory " + memory.name(),
            "DMA channels from "
                + (reads ? working + " to " + memory.name() : memory.name() + " to " + working),
            "none",
            "add a channel, or remove the memory");
      }
    }
  }

  private static Set<String> reached(ChipKind chip, boolean towardsCores) {
    String working = chip.working().name();
    Set<String> seen = new HashSet<>(Set.of(working));
    Deque<String> open = new ArrayDeque<>(seen);
    while (!open.isEmpty()) {
      String at = open.remove();
      for (DmaChannel channel : chip.channels()) {
        for (boolean back : channel.bothWays() ? new boolean[] {false, true} : new boolean[1]) {
          String from = back ? channel.to() : channel.from();
          String to = back ? channel.from() : channel.to();
          String near = towardsCores ? to : from;
          String far = towardsCores ? from : to;
          if (near.equals(at) && seen.add(far)) {
            open.add(far);
          }
        }
      }
    }
    return seen;
  }

  private void devices() {
    long devices = target.groups().stream().mapToLong(g -> g.figures().whole("count")).sum();
    if (devices > MAX_DEVICES) {
      report(
          TargetCode.RANGE,
          "devices 1",
          "at most " + MAX_DEVICES + " devices",
          devices + " devices",
          "describe fewer");
      return;
    }
    for (int i = 0; i < target.connections().size(); i++) {
      Connection connection = target.connections().get(i);
      if (connection.shape() == Connection.Shape.PAIR) {
        long first = connection.figures().whole("first");
        long second = connection.figures().whole("second");
        if (Math.max(first, second) >= devices || first == second) {
          report(
              TargetCode.RANGE,
              "connect " + (i + 1),
              "two devices from 0 to " + (devices - 1),
              first + " - " + second,
              "correct the device numbers");
          return;
        }
      }
    }
    List<Integer> cut = Topology.of(target).unreachable();
    if (!cut.isEmpty()) {
      report(
          TargetCode.UNREACHABLE,
          "",
          "a path from device 0 to each of the " + devices + " devices",
          "none to " + cut,
          "add a connection");
    }
  }

  private void fields(List<Field> fields, Figures figures, String path) {
    for (Field field : fields) {
      if (field.required() && figures.find(field.name()).isEmpty()) {
        report(
            TargetCode.MISSING_FIGURE,
            path,
            field.name() + field.dimension().map(d -> ", " + d.text()).orElse(", a text"),
            String.join(", ", figures.byName().keySet()),
            "add '" + field.name() + " = … from SOURCE'");
      }
    }
    for (Map.Entry<String, Figure> entry : figures.byName().entrySet()) {
      String place = path + ", " + entry.getKey();
      origin(entry.getValue().origin(), place);
      fields.stream()
          .filter(field -> field.name().equals(entry.getKey()))
          .findFirst()
          .ifPresentOrElse(
              field -> figure(field, entry.getValue(), place),
              () ->
                  report(
                      TargetCode.UNKNOWN_FIGURE,
                      place,
                      String.join(", ", fields.stream().map(Field::name).toList()),
                      entry.getKey(),
                      "correct the name, or remove it"));
    }
  }

  private void figure(Field field, Figure figure, String path) {
    if (field.dimension().isEmpty()) {
      text(field, figure, path);
      return;
    }
    Dimension dimension = field.dimension().get();
    if (figure.value() instanceof FigureValue.Text(String text)) {
      report(TargetCode.UNIT, path, dimension.text(), "the text " + text, remedy(dimension));
      return;
    }
    if (figure.value() instanceof FigureValue.ParameterUse(String name, Quantity current)) {
      boolean same = target.parameter(name).filter(p -> p.value().equals(current)).isPresent();
      defined(same, "a parameter", name, path);
    }
    Quantity quantity = figure.quantity();
    if (quantity.dimension() != dimension) {
      report(TargetCode.UNIT, path, dimension.text(), quantity.toString(), remedy(dimension));
    } else if (!field.range().holds(quantity)) {
      report(
          TargetCode.RANGE, path, field.range().text(), quantity.toString(), "correct the figure");
    }
  }

  private void text(Field field, Figure figure, String path) {
    if (!(figure.value() instanceof FigureValue.Text(String text))) {
      report(TargetCode.UNIT, path, "a text", figure.quantity().toString(), "quote it");
    } else if (!field.choices().isEmpty() && !field.choices().contains(text)) {
      report(
          TargetCode.RANGE, path, String.join(", ", field.choices()), text, "choose one of these");
    }
  }

  private static String remedy(Dimension dimension) {
    String units = Unit.choices(dimension);
    return units.isEmpty() ? "remove the unit" : "use one of the units " + units;
  }

  private void origin(Origin origin, String path) {
    defined(target.sources().containsKey(origin.source()), "a source", origin.source(), path);
  }

  private void defined(boolean is, String what, String name, String path) {
    if (!is) {
      report(
          TargetCode.UNDEFINED,
          path,
          what + " of this target",
          name,
          "define it, or correct the name");
    }
  }

  private void unique(Set<String> names, String name, String path) {
    if (!names.add(name)) {
      report(TargetCode.DUPLICATE, path, "unique names", name, "use another name");
    }
  }
}
