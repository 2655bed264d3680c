package io.partita.ir.mesh;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a value that varies over a mesh axis becomes one value of all devices. Exits do not
 * communicate: the result is split, partial or at one place, and a sync makes it whole where it is
 * needed.
 */
public sealed interface Exit {
  /** The value of one device; the result is at its place. */
  record Take(int place) implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      requireWhole(from, axis);
      if (place >= from.mesh().size(axis)) {
        throw MeshCode.EXIT.at(where(), "a place on axis " + axis, place, "");
      }
      return without(from, axis).withAt(axis, place);
    }

    @Override
    public String toString() {
      return "take(" + place + ")";
    }
  }

  /** The mean of the devices' values: a partial sum in which each device holds its share. */
  record Average() implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      requireWhole(from, axis);
      return sum(from, axis);
    }

    @Override
    public String toString() {
      return "average";
    }
  }

  /** The value of a device, or its term of a sum, becomes its term of one sum over all devices. */
  record Term() implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      if (from.splitBy(axis) >= 0) {
        throw MeshCode.EXIT.at(where(), "a value that isn't split over " + axis, from, "");
      } else if (from.partial().containsKey(axis)) {
        return without(from, axis);
      }
      return sum(from, axis);
    }

    @Override
    public String toString() {
      return "term";
    }
  }

  /** The part that a device holds of its value becomes its part of one value of all devices. */
  record Part() implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      if (from.splitBy(axis) < 0) {
        throw MeshCode.EXIT.at(where(), "a value that is split over " + axis, from, "");
      }
      return without(from, axis);
    }

    @Override
    public String toString() {
      return "part";
    }
  }

  /**
   * The devices' values, stacked along a new first dimension, which is split.
   *
   * @param devices the number of devices along the axis
   */
  record Stack(int devices) implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      requireWhole(from, axis);
      requireDevices(devices, from, axis, where());
      List<Split> splits = new ArrayList<>();
      splits.add(Split.even(from.mesh(), devices, axis));
      splits.addAll(from.splits());
      return new Layout(
          from.mesh(),
          splits,
          from.partial(),
          from.varying().stream().filter(other -> !other.equals(axis)).toList(),
          from.at());
    }

    @Override
    public String toString() {
      return "stack(" + devices + ")";
    }
  }

  /**
   * The value of the first accepted device, or of the last device if none is accepted: a partial
   * sum to which the others add zeros. The second operand, a whole {@code bool[devices]}, marks the
   * accepted devices.
   *
   * @param devices the number of devices along the axis
   */
  record Priority(int devices) implements Exit {
    @Override
    public Layout settled(Layout from, String axis) {
      requireWhole(from, axis);
      requireDevices(devices, from, axis, where());
      return sum(from, axis);
    }

    @Override
    public String toString() {
      return "priority(" + devices + ")";
    }
  }

  Pattern TEXT = Pattern.compile("([a-z]+)(?:\\(([0-9]{1,4})\\))?");

  /**
   * Returns the layout of the result.
   *
   * @param from the layout of a value that varies over {@code axis}
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#EXIT} if this exit needs
   *     another layout
   */
  Layout settled(Layout from, String axis);

  /** The attribute {@code by} in text form. */
  @Override
  String toString();

  /** Whether the exit is defined for an element type. */
  default boolean takes(ElementType element) {
    return switch (this) {
      case Average average -> element.isFloat();
      case Term term -> element != ElementType.BOOL;
      case Priority priority -> element != ElementType.BOOL;
      case Take take -> true;
      case Part part -> true;
      case Stack stack -> true;
    };
  }

  default String where() {
    return "settle by " + this;
  }

  /**
   * Reads what {@code toString} writes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}
   */
  static Exit parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      boolean hasNumber = matcher.group(2) != null;
      int number = hasNumber ? Integer.parseInt(matcher.group(2)) : 0;
      switch (matcher.group(1) + (hasNumber ? "()" : "")) {
        case "take()":
          return new Take(number);
        case "average":
          return new Average();
        case "term":
          return new Term();
        case "part":
          return new Part();
        case "stack()":
          return new Stack(number);
        case "priority()":
          return new Priority(number);
        default:
          break;
      }
    }
    String expected = "take(0) or another place, average, term, part, stack(2) or priority(2)";
    throw MeshCode.LAYOUT_TEXT.at("by", expected, text, "");
  }

  private static void requireWhole(Layout from, String axis) {
    if (from.splitBy(axis) >= 0 || from.partial().containsKey(axis)) {
      throw MeshCode.EXIT.at(
          "settle",
          "a value that is whole on each device along " + axis,
          from,
          "write by = \"" + (from.splitBy(axis) >= 0 ? "part" : "term") + '"');
    }
  }

  private static void requireDevices(int devices, Layout from, String axis, String where) {
    int found = from.mesh().size(axis);
    if (found != devices) {
      throw MeshCode.EXIT.at(where, found + " devices along " + axis, devices, "");
    }
  }

  private static Layout sum(Layout from, String axis) {
    Map<String, ReductionKind> partial = new LinkedHashMap<>(from.partial());
    partial.put(axis, ReductionKind.SUM);
    if (partial.containsValue(ReductionKind.MAX) || partial.containsValue(ReductionKind.MIN)) {
      throw MeshCode.EXIT.at("settle", "a value that isn't a partial maximum or minimum", from, "");
    }
    return without(from, axis).withPartial(partial);
  }

  private static Layout without(Layout from, String axis) {
    return from.withVarying(from.varying().stream().filter(other -> !other.equals(axis)).toList());
  }
}
