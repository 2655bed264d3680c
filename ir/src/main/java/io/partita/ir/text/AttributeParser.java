package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.AttributeReader;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.antlr.v4.runtime.Token;

/** Parses the attributes of a statement; missing or ill-typed ones are diagnostics. */
final class AttributeParser implements AttributeReader {
  private static final String NO_VALUE = "no value";
  private final Locator locator;
  private final TypeReader types;
  private final Token owner;
  private final BiFunction<Token, String, Layout> layouts;
  private final Map<String, PirSyntaxParser.AttributeContext> unread = new LinkedHashMap<>();

  /**
   * @param owner the token of the operation, the location of missing attributes
   * @param tree the attributes, or null if there are none
   * @param layouts parses the text of a layout at a location
   */
  AttributeParser(
      Locator locator,
      TypeReader types,
      Token owner,
      PirSyntaxParser.AttributesContext tree,
      BiFunction<Token, String, Layout> layouts) {
    this.layouts = layouts;
    this.locator = locator;
    this.types = types;
    this.owner = owner;
    if (tree != null) {
      for (PirSyntaxParser.AttributeContext attribute : tree.attribute()) {
        if (unread.put(attribute.word().getText(), attribute) != null) {
          throw locator.error(TextCode.DUPLICATE, attribute.start, "each attribute once", "");
        }
      }
    }
  }

  /** Checks, after all attributes have been read, that none is left. */
  void requireAllRead() {
    for (PirSyntaxParser.AttributeContext attribute : unread.values()) {
      throw locator.error(
          TextCode.ATTRIBUTE,
          attribute.start,
          "attributes of " + owner.getText() + " only",
          "remove the attribute");
    }
  }

  boolean has(String name) {
    return unread.containsKey(name);
  }

  private PirSyntaxParser.AttributeContext take(String name, String expected) {
    PirSyntaxParser.AttributeContext attribute = unread.remove(name);
    if (attribute == null) {
      throw locator.error(
          TextCode.ATTRIBUTE,
          owner,
          "attribute " + name + ", " + expected,
          "none",
          "write {" + name + " = …} after the operands");
    }
    return attribute;
  }

  private RuntimeException wrong(PirSyntaxParser.AttributeContext attribute, String expected) {
    Token last = attribute.stop;
    String found =
        attribute.dims() != null
            ? "a list"
            : attribute.scalar() != null
                ? attribute.scalar().getText()
                : attribute.STRING() != null ? Locator.text(last) : NO_VALUE;
    String name = attribute.word().getText();
    return locator.error(TextCode.ATTRIBUTE, attribute.start, name + " = " + expected, found, "");
  }

  private String scalar(String name, String expected) {
    PirSyntaxParser.AttributeContext attribute = take(name, expected);
    if (attribute.scalar() == null) {
      throw wrong(attribute, expected);
    }
    return attribute.scalar().getText();
  }

  @Override
  public long integer(String name) {
    return integer(name, ElementType.I64);
  }

  @Override
  public int smallInteger(String name) {
    return (int) integer(name, ElementType.I32);
  }

  private long integer(String name, ElementType range) {
    String expected = "an integer from " + range.minimum() + " to " + range.maximum();
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    try {
      return ElementText.read(range, scalar(name, expected));
    } catch (NumberFormatException e) {
      throw wrong(attribute, expected);
    }
  }

  @Override
  public double number(String name) {
    String expected = "a number";
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    try {
      return Double.longBitsToDouble(ElementText.read(ElementType.F64, scalar(name, expected)));
    } catch (NumberFormatException e) {
      throw wrong(attribute, expected);
    }
  }

  @Override
  public boolean flag(String name) {
    PirSyntaxParser.AttributeContext attribute = unread.remove(name);
    if (attribute != null && attribute.getChildCount() > 1) {
      throw locator.error(
          TextCode.ATTRIBUTE,
          attribute.start,
          name + " without a value, which means true",
          name + " with a value",
          "remove the value, or the whole attribute for false");
    }
    return attribute != null;
  }

  @Override
  public <E extends Enum<E>> E word(String name, Class<E> values) {
    List<String> names = new ArrayList<>();
    for (E value : values.getEnumConstants()) {
      names.add(value.name().toLowerCase(Locale.ROOT));
    }
    String expected = "one of " + String.join(", ", names);
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    int index = names.indexOf(scalar(name, expected));
    if (index < 0) {
      throw wrong(attribute, expected);
    }
    return values.getEnumConstants()[index];
  }

  @Override
  public ElementType element(String name) {
    String expected = "an element type";
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    return ElementType.of(scalar(name, expected)).orElseThrow(() -> wrong(attribute, expected));
  }

  @Override
  public String text(String name) {
    PirSyntaxParser.AttributeContext attribute = take(name, "a string");
    if (attribute.STRING() == null) {
      throw wrong(attribute, "a string");
    }
    return types.string(attribute.STRING().getSymbol());
  }

  @Override
  public <T> T parsed(String name, Function<String, T> parser) {
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    String text = text(name);
    try {
      return parser.apply(text);
    } catch (PartitaException e) {
      throw wrong(attribute, e.diagnostics().getFirst().expected());
    } catch (IllegalArgumentException e) {
      throw wrong(attribute, e.getMessage());
    }
  }

  @Override
  public <T> Optional<T> optional(String name, Function<String, T> parser) {
    return unread.containsKey(name) ? Optional.of(parsed(name, parser)) : Optional.empty();
  }

  @Override
  public Layout layout(String name) {
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    return layouts.apply(attribute == null ? owner : attribute.start, text(name));
  }

  /** Returns the hash of a weight, which is optional. */
  String textOrEmpty(String name) {
    return unread.containsKey(name) ? text(name) : "";
  }

  @Override
  public List<Dim> dims(String name) {
    return list(name, "a list of dimensions");
  }

  private List<Dim> list(String name, String expected) {
    PirSyntaxParser.AttributeContext attribute = take(name, expected);
    if (attribute.dims() == null) {
      throw wrong(attribute, expected);
    }
    return types.dims(attribute.dims());
  }

  @Override
  public Dim dim(String name) {
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    List<Dim> dims = list(name, "a list of one dimension");
    if (dims.size() != 1) {
      throw wrong(attribute, "a list of one dimension");
    }
    return dims.getFirst();
  }

  @Override
  public List<Long> longs(String name) {
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    List<Dim> dims = list(name, "a list of integers");
    if (!dims.stream().allMatch(Dim::isStatic)) {
      throw wrong(attribute, "a list of integers");
    }
    return dims.stream().map(Dim::value).toList();
  }

  @Override
  public List<Integer> integers(String name) {
    PirSyntaxParser.AttributeContext attribute = unread.get(name);
    List<Long> longs = longs(name);
    if (!longs.stream().allMatch(value -> value == value.intValue())) {
      throw wrong(attribute, "a list of 32-bit integers");
    }
    return longs.stream().map(Long::intValue).toList();
  }
}
