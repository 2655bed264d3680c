package io.partita.ir.mesh;

import io.partita.ir.type.Divisors;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Prints layouts; {@link LayoutReader} parses them. */
final class LayoutText {
  private LayoutText() {}

  static String print(ShardedType sharded) {
    return sharded.type().element().text()
        + print(sharded.layout(), dim -> sharded.type().dim(dim).toString());
  }

  /** Prints dimensions as stars if there is no type. */
  static String print(Layout layout) {
    return print(layout, dim -> "*");
  }

  private static String print(Layout layout, IntFunction<String> extent) {
    StringBuilder text = new StringBuilder();
    text.append(
        IntStream.range(0, layout.rank())
            .mapToObj(dim -> extent.apply(dim) + print(layout.mesh(), layout.splits().get(dim)))
            .collect(Collectors.joining(",", "[", "]")));
    if (!layout.partial().isEmpty()) {
      text.append(" partial(").append(layout.reduction().text()).append(": ");
      text.append(String.join(",", layout.partial().keySet())).append(')');
    }
    if (!layout.varying().isEmpty()) {
      text.append(" varying(").append(String.join(",", layout.varying())).append(')');
    }
    if (!layout.at().isEmpty()) {
      text.append(
          layout.at().entrySet().stream()
              .map(entry -> entry.getKey() + ": " + entry.getValue())
              .collect(Collectors.joining(", ", " at(", ")")));
    }
    return text.toString();
  }

  private static String print(Mesh mesh, Split split) {
    if (split.isNone()) {
      return "";
    }
    String axes = String.join(",", split.axes());
    if (split.equals(Split.even(mesh, split.extent(), 1, split.axes()))) {
      return "{" + axes + "}";
    }
    List<Long> inner = split.cuts().subList(1, split.cuts().size() - 1);
    long unit = inner.stream().reduce(0L, Divisors::greatestCommon);
    if (unit > 1 && split.equals(Split.even(mesh, split.extent(), unit, split.axes()))) {
      return "{" + axes + "/" + unit + "}";
    }
    String cuts = inner.stream().map(String::valueOf).collect(Collectors.joining(","));
    return "{" + axes + ": " + cuts + "}";
  }
}
