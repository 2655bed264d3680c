package io.partita.ir.target;

import io.partita.ir.syntax.TextVersion;
import java.util.Map;

/** Prints a target description; {@link TargetParser} parses its output to an equal description. */
public final class TargetPrinter {
  private final StringBuilder out = new StringBuilder();

  private TargetPrinter() {}

  public static String print(TargetDescription target) {
    TargetPrinter printer = new TargetPrinter();
    printer.target(target);
    return printer.out.toString();
  }

  private void target(TargetDescription target) {
    out.append(TextVersion.TARGET.line()).append("target ").append(target.name());
    if (!target.parameters().isEmpty()) {
      out.append('(');
      for (Parameter parameter : target.parameters()) {
        out.append(parameter == target.parameters().getFirst() ? "\n    " : ",\n    ");
        out.append(parameter.name()).append(" = ").append(parameter.standard());
        out.append(" in ").append(parameter.low()).append(" .. ").append(parameter.high());
        origin(parameter.origin());
      }
      out.append(')');
    }
    out.append("\n  ").append(quoted(target.purpose())).append(" {\n");
    target.sources().forEach((name, text) -> line(1, "source " + name + " = " + quoted(text)));
    target.chips().forEach(this::chip);
    out.append('\n');
    for (DeviceGroup group : target.groups()) {
      Figure count = group.figures().find("count").orElseThrow();
      out.append("  devices ").append(value(count.value())).append(" of ").append(group.chip());
      origin(count.origin());
      out.append('\n');
    }
    for (Link link : target.links()) {
      block(1, "\n  link " + link.name(), link.figures());
    }
    out.append(target.connections().isEmpty() ? "" : "\n");
    target.connections().forEach(this::connection);
    out.append("}\n");
  }

  private void chip(ChipKind chip) {
    out.append("\n  chip ").append(chip.name()).append(" {\n");
    figures(2, chip.figures());
    chip.memories().forEach(each -> block(2, "    memory " + each.name(), each.figures()));
    chip.channels().forEach(each -> block(2, "    dma " + each.name(), each.figures()));
    chip.kernels()
        .forEach(
            each ->
                block(
                    2,
                    "    kernel " + each.kernel().text() + " " + each.element(),
                    each.figures()));
    chip.functions()
        .forEach(
            each ->
                block(
                    2,
                    "    kernel " + each.kernel().text() + " " + each.function(),
                    each.figures()));
    line(1, "}");
  }

  private void connection(Connection connection) {
    out.append("  connect ").append(connection.name());
    origin(connection.origin());
    if (connection.shape() == Connection.Shape.PAIR || connection.figures().byName().isEmpty()) {
      out.append('\n');
    } else {
      block(1, "", connection.figures());
    }
  }

  private void block(int depth, String head, Figures figures) {
    out.append(head).append(" {\n");
    figures(depth + 1, figures);
    line(depth, "}");
  }

  private void figures(int depth, Figures figures) {
    for (Map.Entry<String, Figure> entry : figures.byName().entrySet()) {
      out.append("  ".repeat(depth)).append(entry.getKey()).append(" = ");
      out.append(value(entry.getValue().value()));
      origin(entry.getValue().origin());
      out.append('\n');
    }
  }

  private static String value(FigureValue value) {
    return switch (value) {
      case Quantity quantity -> quantity.toString();
      case FigureValue.Text(String text) -> quoted(text);
      case FigureValue.ParameterUse use -> use.parameter();
    };
  }

  private void origin(Origin origin) {
    out.append(" from ").append(origin.source());
    if (!origin.place().isEmpty()) {
      out.append(' ').append(quoted(origin.place()));
    }
  }

  private void line(int depth, String text) {
    out.append("  ".repeat(depth)).append(text).append('\n');
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
