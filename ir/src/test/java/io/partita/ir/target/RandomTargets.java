package io.partita.ir.target;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Random valid target descriptions. */
final class RandomTargets {
  private static final List<String> TEXTS = List.of("", "II-B", "a \"quoted\" \\ word", "Größe 規模");

  private final Draw draw;
  private final List<Parameter> parameters = new ArrayList<>();

  private RandomTargets(long seed) {
    draw = new Draw(seed);
  }

  static TargetDescription draw(long seed) {
    return new RandomTargets(seed).target();
  }

  private TargetDescription target() {
    SequencedMap<String, String> sources = new LinkedHashMap<>();
    sources.put("s", "a source");
    sources.put("two-words", draw.one(TEXTS));
    Quantity low = new Quantity(1, Unit.ONE);
    Quantity standard = new Quantity(draw.from(1, 9), Unit.ONE);
    parameters.add(
        new Parameter("n", standard, standard, low, new Quantity(20, Unit.ONE), origin()));
    List<ChipKind> chips = new ArrayList<>();
    for (int i = draw.from(1, 3); i > 0; i--) {
      chips.add(chip("chip" + i));
    }
    List<DeviceGroup> groups = new ArrayList<>();
    for (ChipKind chip : chips) {
      groups.add(new DeviceGroup(chip.name(), figures(DeviceGroup.FIELDS)));
    }
    List<Link> links = List.of(new Link("wire", figures(Link.FIELDS)));
    List<Connection> connections = new ArrayList<>();
    connections.add(new Connection(Connection.Shape.LINE, "wire", origin(), Figures.NONE));
    Connection.Shape shape = draw.one(Connection.Shape.values());
    if (shape != Connection.Shape.PAIR) {
      connections.add(new Connection(shape, "wire", origin(), figures(shape.fields())));
    }
    return new TargetDescription(
        "random", draw.one(TEXTS), parameters, sources, chips, groups, links, connections);
  }

  private ChipKind chip(String name) {
    List<Memory> memories = new ArrayList<>();
    List<DmaChannel> channels = new ArrayList<>();
    for (int i = 0; i < draw.from(1, 4); i++) {
      memories.add(new Memory("m" + i, figures(Memory.FIELDS)));
      if (i > 0) {
        channels.add(new DmaChannel("m" + i, "m" + (i - 1), true, figures(DmaChannel.FIELDS)));
      }
    }
    List<KernelThroughput> kernels = new ArrayList<>();
    for (KernelClass kernel : KernelClass.values()) {
      kernels.add(
          new KernelThroughput(
              kernel, draw.one(ElementType.values()), figures(KernelThroughput.fields(kernel))));
    }
    return new ChipKind(name, figures(ChipKind.FIELDS), memories, channels, kernels);
  }

  private Figures figures(List<Field> fields) {
    SequencedMap<String, Figure> figures = new LinkedHashMap<>();
    for (Field field : fields) {
      if (field.required() || draw.flag()) {
        figures.put(field.name(), new Figure(value(field), origin()));
      }
    }
    return new Figures(figures);
  }

  private FigureValue value(Field field) {
    if (field.dimension().isEmpty()) {
      return new FigureValue.Text(draw.one(field.choices().isEmpty() ? TEXTS : field.choices()));
    }
    boolean isCount =
        field.dimension().get() == Dimension.COUNT && field.range() != Field.Range.FRACTION;
    if (isCount && draw.oneIn(3)) {
      return new FigureValue.ParameterUse("n", parameters.getFirst().value());
    }
    List<Unit> units =
        List.of(Unit.values()).stream()
            .filter(unit -> unit.dimension() == field.dimension().get())
            .toList();
    return switch (field.range()) {
      case FRACTION -> new Quantity(draw.one(0.0, 0.1, 1 / 3.0, 1.0), units.getFirst());
      case ANY, POSITIVE -> new Quantity(draw.one(1e-9, 0.1, 1 / 3.0, 7.0, 1e20), draw.one(units));
      case WHOLE, POSITIVE_WHOLE -> new Quantity(draw.from(1, 9), units.getFirst());
      case POWER_OF_TWO -> new Quantity(1 << draw.from(0, 9), units.getFirst());
    };
  }

  private Origin origin() {
    return new Origin(draw.one("s", "two-words"), draw.one(TEXTS));
  }
}
