package io.partita.ir.target;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.syntax.SyntaxErrors;
import io.partita.ir.syntax.TextVersion;
import io.partita.ir.target.TargetSyntaxParser.ChipContext;
import io.partita.ir.target.TargetSyntaxParser.ConnectContext;
import io.partita.ir.target.TargetSyntaxParser.DevicesContext;
import io.partita.ir.target.TargetSyntaxParser.ParameterContext;
import io.partita.ir.target.TargetSyntaxParser.SettingContext;
import io.partita.ir.target.TargetSyntaxParser.SourceContext;
import io.partita.ir.target.TargetSyntaxParser.StatementContext;
import io.partita.ir.target.TargetSyntaxParser.TargetContext;
import io.partita.ir.target.TargetSyntaxParser.ValueContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.Token;

/**
 * Parses and verifies a {@code .target} text with the syntax of {@code TargetSyntax.g4}. Parameters
 * have their default values.
 */
public final class TargetParser {
  private static final int MAX_TEXT_LENGTH = 1 << 20;

  private final TargetPlaces places;
  private final Map<String, Parameter> parameters = new LinkedHashMap<>();
  private final SequencedMap<String, String> sources = new LinkedHashMap<>();
  private final List<ChipKind> chips = new ArrayList<>();
  private final List<DeviceGroup> groups = new ArrayList<>();
  private final List<Link> links = new ArrayList<>();
  private final List<Connection> connections = new ArrayList<>();

  private TargetParser(String file) {
    places = new TargetPlaces(file);
  }

  /**
   * @param file the name of the text in messages
   * @throws PartitaException with {@link TargetCode}s: one for the first syntax error, or one for
   *     each error that the verifier finds
   */
  public static TargetDescription parse(String text, String file) {
    if (text.length() > MAX_TEXT_LENGTH) {
      throw new PartitaException(
          TargetCode.FILE,
          file,
          "at most " + MAX_TEXT_LENGTH + " characters",
          text.length() + " characters",
          "not a target description");
    }
    return new TargetParser(file).target(text);
  }

  private static String name(int type) {
    return switch (type) {
      case Token.EOF -> "the end of the text";
      case TargetSyntaxParser.WORD -> "a name";
      case TargetSyntaxParser.INTEGER, TargetSyntaxParser.DECIMAL, TargetSyntaxParser.HEXADECIMAL ->
          "a number";
      case TargetSyntaxParser.STRING -> "a quoted text";
      default -> TargetSyntaxParser.VOCABULARY.getDisplayName(type);
    };
  }

  private TargetDescription target(String text) {
    TargetSyntaxLexer lexer = new TargetSyntaxLexer(CharStreams.fromString(text));
    SyntaxErrors errors = new SyntaxErrors(TargetCode.SYNTAX, places.places());
    errors.listen(lexer);
    CommonTokenStream tokens = new CommonTokenStream(lexer);
    TargetSyntaxParser syntax = new TargetSyntaxParser(tokens);
    errors.listen(syntax, types -> types.stream().map(TargetParser::name).toList());
    TextVersion.TARGET.require(
        tokens,
        (token, expected, found, remedy) ->
            new PartitaException(TargetCode.VERSION, places.at(token), expected, found, remedy));
    syntax.version();
    TargetContext tree = syntax.target();
    places.put("", tree.WORD().getSymbol());
    if (tree.parameters() != null) {
      tree.parameters().parameter().forEach(this::parameter);
    }
    tree.statement().forEach(this::statement);
    TargetDescription target =
        new TargetDescription(
            tree.WORD().getText(),
            string(tree.STRING().getSymbol()),
            List.copyOf(parameters.values()),
            sources,
            chips,
            groups,
            links,
            connections);
    TargetVerifier.verify(target, places::of);
    return target;
  }

  private void parameter(ParameterContext tree) {
    Token name = tree.WORD().getSymbol();
    Quantity standard = quantity(tree.quantity(0));
    Parameter parameter =
        new Parameter(
            name.getText(),
            standard,
            standard,
            quantity(tree.quantity(1)),
            quantity(tree.quantity(2)),
            origin(tree.origin()));
    places.put("parameter " + name.getText(), name);
    if (parameters.put(name.getText(), parameter) != null) {
      throw duplicate(name);
    }
  }

  private void statement(StatementContext tree) {
    if (tree.source() != null) {
      source(tree.source());
    } else if (tree.chip() != null) {
      chip(tree.chip());
    } else if (tree.devices() != null) {
      devices(tree.devices());
    } else if (tree.link() != null) {
      Token name = tree.link().WORD().getSymbol();
      String path = "link " + name.getText();
      places.put(path, name);
      links.add(new Link(name.getText(), figures(tree.link().block().setting(), path)));
    } else {
      connect(tree.connect());
    }
  }

  private void source(SourceContext tree) {
    Token name = tree.WORD().getSymbol();
    if (sources.put(name.getText(), string(tree.STRING().getSymbol())) != null) {
      throw duplicate(name);
    }
  }

  private void chip(ChipContext tree) {
    Token name = tree.WORD(0).getSymbol();
    String path = "chip " + name.getText();
    places.put(path, name);
    ChipReader reader = new ChipReader(this, path);
    if (tree.WORD().size() > 1) {
      Token like = tree.WORD(1).getSymbol();
      reader.copy(
          chips.stream()
              .filter(each -> each.name().equals(like.getText()))
              .findFirst()
              .orElseThrow(() -> undefined(like, "a chip that is defined earlier")));
    }
    chips.add(reader.read(name.getText(), tree));
  }

  private void devices(DevicesContext tree) {
    String path = "devices " + (groups.size() + 1);
    places.put(path, tree.WORD().getSymbol());
    SequencedMap<String, Figure> figures = new LinkedHashMap<>();
    figures.put("count", new Figure(value(tree.value()), origin(tree.origin())));
    groups.add(new DeviceGroup(tree.WORD().getText(), new Figures(figures)));
  }

  private void connect(ConnectContext tree) {
    String path = "connect " + (connections.size() + 1);
    Origin origin = origin(tree.origin());
    places.put(path, tree.getStart());
    Figures figures = tree.block() == null ? Figures.NONE : figures(tree.block().setting(), path);
    Connection.Shape shape = Connection.Shape.PAIR;
    if (tree.INTEGER().isEmpty()) {
      Token word = tree.WORD(0).getSymbol();
      shape =
          Connection.Shape.of(word.getText())
              .filter(each -> each != Connection.Shape.PAIR)
              .orElseThrow(
                  () ->
                      undefined(
                          word, "full, line, ring, tree, rows, columns, switch, shared, or 0 - 1"));
    } else {
      SequencedMap<String, Figure> ends = new LinkedHashMap<>();
      ends.put("first", new Figure(number(tree.INTEGER(0).getSymbol()), origin));
      ends.put("second", new Figure(number(tree.INTEGER(1).getSymbol()), origin));
      ends.putAll(figures.byName());
      figures = new Figures(ends);
    }
    String link = tree.WORD(tree.WORD().size() - 1).getText();
    connections.add(new Connection(shape, link, origin, figures));
  }

  Figures figures(List<SettingContext> settings, String path) {
    SequencedMap<String, Figure> figures = new LinkedHashMap<>();
    for (SettingContext setting : settings) {
      Token name = setting.WORD().getSymbol();
      Figure figure = new Figure(value(setting.value()), origin(setting.origin()));
      place(path + ", " + name.getText(), name);
      if (figures.put(name.getText(), figure) != null) {
        throw duplicate(name);
      }
    }
    return new Figures(figures);
  }

  void place(String path, Token token) {
    places.put(path, token);
  }

  private FigureValue value(ValueContext tree) {
    if (tree.quantity() != null) {
      return quantity(tree.quantity());
    }
    if (tree.STRING() != null) {
      return new FigureValue.Text(string(tree.STRING().getSymbol()));
    }
    Token word = tree.WORD().getSymbol();
    Parameter parameter = parameters.get(word.getText());
    if (parameter == null) {
      throw undefined(word, "a parameter of this target, a quantity, or a quoted text");
    }
    return new FigureValue.ParameterUse(word.getText(), parameter.value());
  }

  private Quantity quantity(TargetSyntaxParser.QuantityContext tree) {
    Quantity number = number(tree.getStart());
    if (tree.unit() == null) {
      return number;
    }
    String text = tree.unit().getText();
    Unit unit =
        Unit.of(text)
            .filter(each -> !each.text().isEmpty())
            .orElseThrow(
                () ->
                    new PartitaException(
                        TargetCode.UNIT,
                        places.at(tree.unit().getStart()),
                        "a unit such as KiB, MHz, cycles, B/cycle, MAC/cycle, GB/s, pJ/B, mW, us",
                        text,
                        "correct the unit"));
    return new Quantity(number.number(), unit);
  }

  private Quantity number(Token token) {
    String text = token.getText();
    double number;
    if (text.startsWith("0x")) {
      number = text.length() > 18 ? Double.POSITIVE_INFINITY : hexadecimal(text.substring(2));
    } else {
      number = Double.parseDouble(text);
    }
    if (Double.isInfinite(number)) {
      throw new PartitaException(
          TargetCode.RANGE, places.at(token), "a number", text, "use a smaller number");
    }
    return new Quantity(number, Unit.ONE);
  }

  private static double hexadecimal(String digits) {
    return new java.math.BigInteger(digits, 16).doubleValue();
  }

  private Origin origin(TargetSyntaxParser.OriginContext tree) {
    String place = tree.STRING() == null ? "" : string(tree.STRING().getSymbol());
    return new Origin(tree.WORD().getText(), place);
  }

  /** The grammar permits a backslash only before a quote or another backslash. */
  private static String string(Token token) {
    String text = token.getText();
    return text.substring(1, text.length() - 1).replaceAll("\\\\(.)", "$1");
  }

  PartitaException duplicate(Token name) {
    return new PartitaException(
        TargetCode.DUPLICATE,
        places.at(name),
        "unique names",
        name.getText(),
        "remove one, or rename it");
  }

  PartitaException undefined(Token word, String expected) {
    return new PartitaException(
        TargetCode.UNDEFINED, places.at(word), expected, word.getText(), "correct the name");
  }
}
