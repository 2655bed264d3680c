package io.partita.ir.text;

import io.partita.ir.op.AttributeWriter;
import io.partita.ir.type.Dim;
import java.util.List;

/** Prints {@code {k = 5, axis = 1, largest}}, and nothing without attributes. */
final class AttributePrinter implements AttributeWriter {
  private final StringBuilder out;
  private boolean open;

  AttributePrinter(StringBuilder out) {
    this.out = out;
  }

  private StringBuilder name(String name) {
    out.append(open ? ", " : " {").append(name);
    open = true;
    return out;
  }

  @Override
  public void integer(String name, long value) {
    name(name).append(" = ").append(value);
  }

  @Override
  public void number(String name, double value) {
    name(name).append(" = ");
    if (Double.isInfinite(value)) {
      out.append(value > 0 ? "inf" : "-inf");
    } else {
      out.append(Double.isNaN(value) ? "nan" : Double.toString(value));
    }
  }

  @Override
  public void flag(String name, boolean value) {
    if (value) {
      name(name);
    }
  }

  @Override
  public void word(String name, String value) {
    name(name).append(" = ").append(value);
  }

  @Override
  public void text(String name, String value) {
    QuotedText.write(name(name).append(" = "), value);
  }

  @Override
  public void dims(String name, List<Dim> dims) {
    PirPrinter.writeDims(name(name).append(" = "), dims, ", ");
  }

  void close() {
    if (open) {
      out.append('}');
    }
  }
}
