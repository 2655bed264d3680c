package io.partita.ir.mesh;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses sharded types and layouts, in which extents are stars, with one token of lookahead:
 *
 * <pre>
 * sharded : WORD layout
 * layout  : '[' (dim (',' dim)*)? ']' ('partial' '(' WORD ':' names ')')? ('varying' '(' names ')')?
 *           ('at' '(' place (',' place)* ')')?
 * place   : WORD ':' NUMBER
 * dim     : (NUMBER | WORD | '*') ('{' names ('/' NUMBER | ':' numbers)? '}')?
 * names   : WORD (',' WORD)*
 * numbers : NUMBER (',' NUMBER)*
 * </pre>
 */
final class LayoutReader {
  private static final Pattern TOKEN =
      Pattern.compile("\\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]{1,18}|[\\[\\]{}(),:/*])");

  private final String text;
  private final Mesh mesh;
  private final List<String> tokens = new ArrayList<>();
  private int next;

  LayoutReader(String text, Mesh mesh) {
    this.text = text;
    this.mesh = mesh;
    Matcher matcher = TOKEN.matcher(text);
    int end = 0;
    while (matcher.find() && matcher.start() == end) {
      tokens.add(matcher.group(1));
      end = matcher.end();
    }
    if (!text.substring(end).isBlank()) {
      throw failure("names, numbers and []{}(),:/*", text.substring(end));
    }
  }

  private io.partita.ir.diagnostic.PartitaException failure(String expected, String found) {
    return MeshCode.LAYOUT_TEXT.at('"' + text + '"', expected, found, "");
  }

  private String peek() {
    return next < tokens.size() ? tokens.get(next) : "the end";
  }

  private boolean accept(String token) {
    boolean is = peek().equals(token);
    next += is ? 1 : 0;
    return is;
  }

  private void expect(String token) {
    if (!accept(token)) {
      throw failure(token, peek());
    }
  }

  private String word() {
    if (next == tokens.size() || !Character.isJavaIdentifierStart(peek().charAt(0))) {
      throw failure("a word", peek());
    }
    return tokens.get(next++);
  }

  private long number() {
    if (!Character.isDigit(peek().charAt(0))) {
      throw failure("a number", peek());
    }
    return Long.parseLong(tokens.get(next++));
  }

  private <T> List<T> list(Supplier<T> item) {
    List<T> items = new ArrayList<>(List.of(item.get()));
    while (accept(",")) {
      items.add(item.get());
    }
    return items;
  }

  ShardedType read() {
    String element = word();
    ElementType type =
        ElementType.of(element).orElseThrow(() -> failure("an element type", element));
    List<Dim> dims = new ArrayList<>();
    Layout layout = layout(() -> split(extent(dims)));
    return new ShardedType(new TensorType(type, new Shape(dims)), layout);
  }

  /** Reads the layout of a tensor of this shape. */
  Layout read(Shape shape) {
    Iterator<Dim> dims = shape.iterator();
    Layout layout =
        layout(
            () -> {
              expect("*");
              if (!dims.hasNext()) {
                throw failure(shape.rank() + " dimensions", "more");
              }
              return split(dims.next());
            });
    if (dims.hasNext()) {
      throw failure(shape.rank() + " dimensions", String.valueOf(layout.rank()));
    }
    return layout;
  }

  private Layout layout(Supplier<Split> dimension) {
    List<Split> splits = new ArrayList<>();
    expect("[");
    if (!accept("]")) {
      list(() -> splits.add(dimension.get()));
      expect("]");
    }
    Map<String, ReductionKind> partial = accept("partial") ? partial() : Map.of();
    List<String> varying = List.of();
    if (accept("varying")) {
      expect("(");
      varying = axes();
      expect(")");
    }
    Map<String, Integer> at = accept("at") ? at() : Map.of();
    if (next < tokens.size()) {
      throw failure("the end", peek());
    }
    return new Layout(mesh, splits, partial, varying, at);
  }

  /** Reads distinct axes: the parts of a split are counted before the layout exists. */
  private List<String> axes() {
    List<String> axes = list(this::word);
    axes.forEach(mesh::index);
    if (new HashSet<>(axes).size() < axes.size()) {
      throw failure("each axis once", axes.toString());
    }
    return axes;
  }

  private Dim extent(List<Dim> dims) {
    dims.add(Character.isDigit(peek().charAt(0)) ? Dim.of(number()) : Dim.symbol(word()));
    return dims.getLast();
  }

  /** Reads the split after an extent. */
  private Split split(Dim dim) {
    if (!accept("{")) {
      return Split.NONE;
    }
    List<String> axes = axes();
    if (!dim.isStatic()) {
      throw failure("an extent that is a number", dim.toString());
    }
    long extent = dim.value();
    Split split;
    if (accept("/")) {
      long unit = number();
      if (unit == 0) {
        throw failure("a unit of at least 1", "0");
      }
      split = Split.even(mesh, extent, unit, axes);
    } else if (accept(":")) {
      List<Long> cuts = new ArrayList<>(List.of(0L));
      cuts.addAll(list(this::number));
      cuts.add(extent);
      split = new Split(axes, cuts);
    } else {
      split = Split.even(mesh, extent, 1, axes);
    }
    expect("}");
    return split;
  }

  private Map<String, Integer> at() {
    expect("(");
    Map<String, Integer> at = new LinkedHashMap<>();
    do {
      String axis = word();
      expect(":");
      long place = number();
      if (place >= mesh.size(axis) || at.putIfAbsent(axis, (int) place) != null) {
        throw failure("each axis once, with a coordinate on it", axis + ": " + place);
      }
    } while (accept(","));
    expect(")");
    return at;
  }

  private Map<String, ReductionKind> partial() {
    expect("(");
    String name = word();
    Map<String, ReductionKind> partial = new LinkedHashMap<>();
    for (ReductionKind kind : ReductionKind.values()) {
      if (kind.joinsTerms() && kind.text().equals(name)) {
        expect(":");
        axes().forEach(axis -> partial.put(axis, kind));
        expect(")");
        return partial;
      }
    }
    throw failure("sum, max or min", name);
  }
}
