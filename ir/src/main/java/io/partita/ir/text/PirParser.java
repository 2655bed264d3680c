package io.partita.ir.text;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Op;
import io.partita.ir.op.OpReader;
import io.partita.ir.op.Source;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.program.Program;
import io.partita.ir.syntax.Places;
import io.partita.ir.syntax.SyntaxErrors;
import io.partita.ir.syntax.TextVersion;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenFactory;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.TokenStream;
import org.antlr.v4.runtime.UnbufferedTokenStream;
import org.antlr.v4.runtime.tree.TerminalNode;

/**
 * Parses the text of {@link PirPrinter}. The first error ends parsing with a diagnostic of file,
 * line and column. The time is linear in the length of the text.
 *
 * <p>Written types and layouts are compared with the inferred ones. Values may have any numbers or
 * names, if each is defined once and before its use.
 */
public final class PirParser {
  private final Locator locator;
  private final TypeReader types;
  private final ConstantReader constants;
  private final TokenStream tokens;
  private final PirSyntaxParser syntax;
  private final Map<String, Value> values = new HashMap<>();
  private LayoutChecker layouts;

  private PirParser(String text, String file, MemorySegment weights) {
    locator = new Locator(file);
    types = new TypeReader(locator);
    constants = new ConstantReader(locator, types, weights);
    PirSyntaxLexer lexer = new PirSyntaxLexer(CharStreams.fromString(text, file));
    SyntaxErrors errors = new SyntaxErrors(TextCode.SYNTAX, new Places(file));
    errors.listen(lexer);
    // An unbuffered stream needs tokens that hold their text.
    lexer.setTokenFactory(new CommonTokenFactory(true));
    tokens = new UnbufferedTokenStream<>(lexer);
    syntax = new PirSyntaxParser(tokens);
    errors.listen(syntax, types -> types.stream().map(PirParser::name).toList());
  }

  private static String name(int type) {
    return switch (type) {
      case Token.EOF -> "the end of the text";
      case PirSyntaxParser.VALUE -> "a value such as %0";
      case PirSyntaxParser.GLOBAL -> "a graph name such as @main";
      case PirSyntaxParser.NAN_BITS -> "a NaN";
      case PirSyntaxParser.WORD -> "a word";
      case PirSyntaxParser.INTEGER, PirSyntaxParser.DECIMAL -> "a number";
      case PirSyntaxParser.STRING -> "a string";
      default -> PirSyntaxParser.VOCABULARY.getDisplayName(type);
    };
  }

  /**
   * Parses a text without a weights file.
   *
   * @throws PartitaException with a {@link TextCode}
   */
  public static Module parse(String text) {
    return parse(text, "text", MemorySegment.NULL);
  }

  /**
   * Parses a text whose weights are parts of {@code weights}.
   *
   * @param file the name of the text in messages
   * @throws PartitaException with a {@link TextCode}
   */
  public static Module parse(String text, String file, MemorySegment weights) {
    return new PirParser(text, file, weights).whole();
  }

  /**
   * Parses the text of a program.
   *
   * @param file the name of the text in messages
   * @throws PartitaException with a {@link TextCode}
   */
  public static Program parseProgram(String text, String file, MemorySegment weights) {
    return new PirParser(text, file, weights).program();
  }

  /** Whether a text begins like that of a program. */
  public static boolean isProgram(String text) {
    PirSyntaxLexer lexer = new PirSyntaxLexer(CharStreams.fromString(text));
    lexer.removeErrorListeners();
    Token first = lexer.nextToken();
    if (TextVersion.PIR.begins(first)) {
      lexer.nextToken();
      first = lexer.nextToken();
    }
    return "program".equals(first.getText());
  }

  private void version() {
    TextVersion.PIR.require(
        tokens,
        (token, expected, found, remedy) ->
            locator.error(TextCode.VERSION, token, expected, found, remedy));
    syntax.version();
  }

  private Module whole() {
    version();
    Module module = module();
    syntax.end();
    return module;
  }

  private Program program() {
    version();
    PirSyntaxParser.ProgramHeaderContext header = syntax.programHeader();
    LayoutChecker whole = new LayoutChecker(locator, types, header.mesh());
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    header.programInput().forEach(each -> port(inputs, each.STRING(), each.type(), whole));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    header.programOutput().forEach(each -> port(outputs, each.STRING(), each.type(), whole));
    int devices = whole.mesh().devices();
    List<Module> modules = new ArrayList<>();
    while (modules.size() < devices) {
      values.clear();
      Token start = tokens.LT(1);
      Module module = module();
      Graph graph = module.graph();
      for (Value input : graph.inputs()) {
        port(start, modules.size(), "input", input.name(), input.type(), inputs);
      }
      for (Graph.Output output : graph.outputs()) {
        port(start, modules.size(), "output", output.name(), output.value().type(), outputs);
      }
      modules.add(module);
    }
    syntax.programEnding();
    syntax.end();
    try {
      return new Program(whole.mesh(), modules, inputs, outputs);
    } catch (PartitaException e) {
      Diagnostic wrong = e.diagnostics().getFirst();
      throw locator.error(
          TextCode.LAYOUT, header.start, wrong.expected(), wrong.found(), wrong.remedy());
    }
  }

  private void port(
      SequencedMap<String, ShardedType> ports,
      TerminalNode name,
      PirSyntaxParser.TypeContext type,
      LayoutChecker whole) {
    if (ports.putIfAbsent(types.string(name.getSymbol()), whole.sharded(type)) != null) {
      throw locator.error(TextCode.DUPLICATE, name.getSymbol(), "unique names", "use another name");
    }
  }

  /** Checks that a device's part of an input or output agrees with the program. */
  private void port(
      Token start,
      int device,
      String kind,
      String name,
      TensorType part,
      Map<String, ShardedType> ports) {
    ShardedType whole = ports.get(name);
    if (whole == null || !whole.localType(device).equals(part)) {
      throw locator.error(
          TextCode.TYPE,
          start,
          "on device %d, the part of an %s of the program: %s"
              .formatted(device, kind, whole == null ? ports.keySet() : whole),
          kind + " \"" + name + "\": " + part,
          "write the device's part");
    }
  }

  private Module module() {
    PirSyntaxParser.ModuleHeaderContext header = syntax.moduleHeader();
    layouts = new LayoutChecker(locator, types, header.mesh());
    PirSyntaxParser.GraphHeaderContext graph = header.graphHeader();
    GraphBuilder builder = new GraphBuilder(types.name(graph.GLOBAL().getSymbol()));
    for (PirSyntaxParser.ParameterContext parameter : graph.parameter()) {
      Token token = parameter.VALUE().getSymbol();
      Value input = builder.input(types.name(token), types.type(parameter.type()));
      define(token, input);
      layouts.input(input, parameter.type());
    }
    while (tokens.LA(1) == PirSyntaxParser.VALUE) {
      statement(builder, syntax.statement());
    }
    outputs(builder, graph.output(), syntax.ending());
    Graph built = builder.finish();
    StateReader states = new StateReader(locator, types, layouts);
    return new Module(
        built,
        states.states(header.state(), built),
        layouts.placement(),
        states.ranges(header.range(), built));
  }

  /** Names and numbers are distinct: {@code %"0"} is an input named 0. */
  private String key(Token token) {
    String text = token.getText();
    return Character.isDigit(text.charAt(1)) ? text : types.name(token);
  }

  private void define(Token token, Value value) {
    if (values.putIfAbsent(key(token), value) != null) {
      throw locator.error(TextCode.DUPLICATE, token, "a new value", "use another name");
    }
  }

  private Value resolve(TerminalNode reference) {
    Token token = reference.getSymbol();
    Value value = values.get(key(token));
    if (value == null) {
      throw locator.error(
          TextCode.UNDEFINED,
          token,
          "an input of the graph or a result of an earlier statement",
          "define the value earlier");
    }
    return value;
  }

  private List<Value> resolveAll(List<TerminalNode> references) {
    List<Value> resolved = new ArrayList<>(references.size());
    references.forEach(reference -> resolved.add(resolve(reference)));
    return resolved;
  }

  private void statement(GraphBuilder builder, PirSyntaxParser.StatementContext tree) {
    builder.at(origin(tree));
    List<PirSyntaxParser.TypeContext> written;
    Node node;
    if (tree.constant() != null) {
      written = List.of(tree.constant().type());
      node = builder.addNode(new Source.Constant(constants.inline(tree.constant())), List.of());
    } else if (tree.weight() != null) {
      written = List.of(tree.weight().type());
      node = builder.addNode(new Source.Constant(constants.weight(tree.weight())), List.of());
    } else {
      written = tree.operation().type();
      node = operation(builder, tree.operation());
    }
    layouts.node(node, tree.getChild(ParserRuleContext.class, 0).start);
    requireTypes(tree, written, node.results());
    for (int i = 0; i < tree.VALUE().size(); i++) {
      define(tree.VALUE(i).getSymbol(), node.results().get(i));
    }
  }

  private Origin origin(PirSyntaxParser.StatementContext tree) {
    Origin origin =
        tree.STRING() == null ? Origin.NONE : Origin.named(types.string(tree.STRING().getSymbol()));
    if (tree.GLOBAL() == null) {
      return origin;
    }
    Token part = tree.GLOBAL().getSymbol();
    return origin
        .withPart(types.name(part))
        .orElseThrow(
            () ->
                locator.error(
                    TextCode.PART, part, "a block, a role or both, as in @block0.query", ""));
  }

  private Node operation(GraphBuilder builder, PirSyntaxParser.OperationContext tree) {
    Token mnemonic = tree.start;
    List<Value> operands = resolveAll(tree.VALUE());
    AttributeParser attributes =
        new AttributeParser(
            locator,
            types,
            mnemonic,
            tree.attributes(),
            (place, text) -> layouts.attribute(place, text, operands));
    Op op = OpReader.read(mnemonic.getText(), attributes);
    if (op == null) {
      throw locator.error(TextCode.UNKNOWN_OPERATION, mnemonic, "an operation", "");
    }
    attributes.requireAllRead();
    try {
      return builder.addNode(op, operands);
    } catch (TypeMismatch e) {
      throw locator.error(
          TextCode.OPERANDS, mnemonic, e.expected(), e.found(), "change operands or attributes");
    } catch (ArithmeticException e) {
      throw locator.error(TextCode.LIMIT, mnemonic, "64-bit extents", e.getMessage(), "");
    }
  }

  private void requireTypes(
      PirSyntaxParser.StatementContext tree,
      List<PirSyntaxParser.TypeContext> written,
      List<Value> results) {
    int names = tree.VALUE().size();
    if (names != results.size()) {
      throw locator.error(
          TextCode.TYPE, tree.start, "a name for each result: " + results.size(), "" + names, "");
    }
    if (written.size() != results.size()) {
      throw locator.error(
          TextCode.TYPE,
          written.getFirst().start,
          "a type for each result: " + results.size(),
          "" + written.size(),
          "");
    }
    for (int i = 0; i < written.size(); i++) {
      layouts.require(results.get(i), written.get(i));
    }
  }

  private void outputs(
      GraphBuilder builder,
      List<PirSyntaxParser.OutputContext> declared,
      PirSyntaxParser.EndingContext ending) {
    List<Value> returned = resolveAll(ending.VALUE());
    if (returned.size() != declared.size()) {
      throw locator.error(
          TextCode.TYPE,
          ending.start,
          "a value for each output of the graph: " + declared.size(),
          "" + returned.size(),
          "");
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < declared.size(); i++) {
      Token token = declared.get(i).STRING().getSymbol();
      String name = types.string(token);
      if (!names.add(name)) {
        throw locator.error(TextCode.DUPLICATE, token, "unique output names", "use another name");
      }
      layouts.output(returned.get(i), declared.get(i).type());
      builder.output(name, returned.get(i));
    }
  }
}
