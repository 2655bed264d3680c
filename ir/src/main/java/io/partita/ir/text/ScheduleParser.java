package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.syntax.Places;
import io.partita.ir.syntax.SyntaxErrors;
import io.partita.ir.syntax.TextVersion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.tree.TerminalNode;

/**
 * Parses the text form of schedules. Every mistake is a diagnostic with a {@link TextCode}, file,
 * line and column. {@link io.partita.ir.schedule.ScheduleVerifier} verifies the schedule itself.
 *
 * <p>The text contains the work of devices, but not its origin: the program of a parsed schedule
 * has graphs without nodes, and the meaning of steps is unknown.
 */
public final class ScheduleParser {
  /** The largest depth of brackets. */
  private static final int MAX_DEPTH = 64;

  private final Locator locator;
  private final MemorySegment weights;

  /** The numbers of the memories of the current role, by name. */
  private Map<String, Integer> names = Map.of();

  /** The tensors of parts of the weights file, which are shared. */
  private final Map<List<Object>, Tensor> known = new HashMap<>();

  private ScheduleParser(Locator locator, MemorySegment weights) {
    this.locator = locator;
    this.weights = weights;
  }

  /**
   * Parses a text without a weights file.
   *
   * @throws PartitaException with a {@link TextCode}
   */
  public static Schedule parse(String text) {
    return parse(text, "text", MemorySegment.NULL);
  }

  /**
   * Parses a text whose larger constants are parts of {@code weights}.
   *
   * @param file the name of the text in messages
   * @throws PartitaException with a {@link TextCode}
   */
  public static Schedule parse(String text, String file, MemorySegment weights) {
    Locator locator = new Locator(file);
    ScheduleSyntaxLexer lexer = new ScheduleSyntaxLexer(CharStreams.fromString(text, file));
    SyntaxErrors errors = new SyntaxErrors(TextCode.SYNTAX, new Places(file));
    errors.listen(lexer);
    CommonTokenStream tokens = new CommonTokenStream(lexer);
    tokens.fill();
    requireShallow(locator, tokens.getTokens());
    ScheduleSyntaxParser syntax = new ScheduleSyntaxParser(tokens);
    errors.listen(syntax, ScheduleParser::names);
    TextVersion.SCHEDULE.require(
        tokens,
        (token, expected, found, remedy) ->
            locator.error(TextCode.VERSION, token, expected, found, remedy));
    syntax.version();
    return new ScheduleParser(locator, weights).schedule(syntax.schedule());
  }

  /** If any name is allowed, keywords are not listed. */
  private static List<String> names(List<Integer> types) {
    boolean isName = types.contains(ScheduleSyntaxParser.WORD);
    return types.stream()
        .map(ScheduleParser::name)
        .map(name -> isName && name.matches("'\\w+'") ? "a name" : name)
        .toList();
  }

  private static String name(int type) {
    return switch (type) {
      case Token.EOF -> "the end of the text";
      case ScheduleSyntaxParser.WORD -> "a name";
      case ScheduleSyntaxParser.INTEGER,
          ScheduleSyntaxParser.HEXADECIMAL,
          ScheduleSyntaxParser.DECIMAL ->
          "a number";
      case ScheduleSyntaxParser.NAN_BITS -> "a NaN";
      case ScheduleSyntaxParser.STRING -> "a string";
      default -> ScheduleSyntaxParser.VOCABULARY.getDisplayName(type);
    };
  }

  private static void requireShallow(Locator locator, List<Token> tokens) {
    int depth = 0;
    for (Token token : tokens) {
      if (token.getType() != ScheduleSyntaxLexer.STRING) {
        depth += "([{".contains(token.getText()) ? 1 : ")]}".contains(token.getText()) ? -1 : 0;
      }
      if (depth > MAX_DEPTH) {
        throw locator.error(TextCode.LIMIT, token, "at most " + MAX_DEPTH + " nested brackets", "");
      }
    }
  }

  private PartitaException wrong(ParserRuleContext tree, String expected) {
    return locator.error(TextCode.ATTRIBUTE, tree.start, expected, "");
  }

  private Schedule schedule(ScheduleSyntaxParser.ScheduleContext tree) {
    List<MeshAxis> axes = new ArrayList<>();
    for (ScheduleSyntaxParser.AxisContext axis : tree.mesh().axis()) {
      axes.add(new MeshAxis(axis.name().getText(), (int) integer(axis.integer())));
    }
    Mesh mesh = new Mesh(axes);
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    for (ScheduleSyntaxParser.InputContext input : tree.input()) {
      inputs.put(text(input.STRING(0)), whole(input.STRING(1), mesh));
    }
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    for (ScheduleSyntaxParser.OutputContext output : tree.output()) {
      outputs.put(text(output.STRING(0)), whole(output.STRING(1), mesh));
    }
    List<ChipSchedule> roles = tree.role().stream().map(this::role).toList();
    int devices = roles.stream().mapToInt(role -> role.devices().size()).sum();
    Module empty = new Module(new GraphBuilder(text(tree.STRING(1))).finish());
    Program program = new Program(mesh, Collections.nCopies(devices, empty), inputs, outputs);
    return new Schedule(program, text(tree.STRING(0)), roles, inputs, outputs);
  }

  private ShardedType whole(TerminalNode written, Mesh mesh) {
    try {
      return ShardedType.parse(text(written), mesh);
    } catch (PartitaException e) {
      throw locator.error(
          TextCode.LAYOUT, written.getSymbol(), e.diagnostics().getFirst().expected(), "");
    }
  }

  String text(TerminalNode string) {
    String text = QuotedText.read(string.getText());
    if (text == null) {
      throw locator.error(
          TextCode.SYNTAX,
          string.getSymbol(),
          "one of the escapes \\\" \\\\ \\n \\r \\t \\u{2028}",
          "");
    }
    return text;
  }

  /** Parses a decimal or hexadecimal number. */
  long integer(ScheduleSyntaxParser.IntegerContext tree) {
    try {
      return Long.decode(tree.getText().replaceFirst("^(-?)0+(?=[0-9])", "$1"));
    } catch (NumberFormatException e) {
      throw wrong(tree, "a 64-bit number");
    }
  }

  int small(ScheduleSyntaxParser.IntegerContext tree) {
    long value = integer(tree);
    if (value != (int) value) {
      throw wrong(tree, "a 32-bit number");
    }
    return (int) value;
  }

  long bytes(ScheduleSyntaxParser.BytesContext tree) {
    return integer(tree.integer());
  }

  ElementType element(ScheduleSyntaxParser.NameContext tree) {
    return ElementType.of(tree.getText()).orElseThrow(() -> wrong(tree, "an element type"));
  }

  private TensorType type(ScheduleSyntaxParser.TypeContext tree) {
    List<Dim> dims = tree.integer().stream().map(extent -> Dim.of(integer(extent))).toList();
    return new TensorType(element(tree.name()), new Shape(dims));
  }

  private ChipSchedule role(ScheduleSyntaxParser.RoleContext tree) {
    List<MemoryUse> memories = tree.memory().stream().map(this::memory).toList();
    if (memories.size() <= ChipSchedule.HOME) {
      throw wrong(tree, "a working memory and a home memory");
    }
    names = new HashMap<>();
    for (ScheduleSyntaxParser.MemoryContext memory : tree.memory()) {
      if (names.put(memory.name().getText(), names.size()) != null) {
        throw locator.error(TextCode.DUPLICATE, memory.name().start, "unique memories", "");
      }
    }
    List<TiledKernel> loops = new ArrayList<>();
    Map<String, Integer> numbers = new HashMap<>();
    for (ScheduleSyntaxParser.LoopContext loop : tree.loop()) {
      if (numbers.put(loop.name().getText(), loops.size()) != null) {
        throw locator.error(TextCode.DUPLICATE, loop.name().start, "unique loops", "");
      }
      loops.add(new LoopReader(this, loop).loop());
    }
    StepTreeReader steps = new StepTreeReader(this, locator, numbers);
    return new ChipSchedule(
        tree.integer().stream().map(this::small).toList(),
        cores(tree.cores()),
        memories,
        loops,
        steps.steps(tree.steps(0)),
        steps.steps(tree.steps(1)),
        ports(tree, "in"),
        ports(tree, "out"),
        ports(tree, "state"),
        tree.constant().stream().map(this::constant).toList(),
        tree.residence().stream().map(this::residence).toList(),
        Optional.empty());
  }

  private CoreGrid cores(ScheduleSyntaxParser.CoresContext tree) {
    int rows = small(tree.integer(0));
    int columns = small(tree.integer(1));
    if (rows < 1 || columns < 1) {
      throw wrong(tree, "at least one core");
    }
    ElementType sums = tree.name() == null ? ElementType.F32 : element(tree.name());
    if (sums != ElementType.F32 && sums != ElementType.BF16) {
      throw wrong(tree.name(), "sums of f32 or bf16");
    }
    return new CoreGrid(rows, columns, sums);
  }

  private MemoryUse memory(ScheduleSyntaxParser.MemoryContext tree) {
    return new MemoryUse(
        tree.name().getText(),
        tree.getChild(2).getText().equals("private"),
        bytes(tree.bytes(0)),
        bytes(tree.bytes(1)),
        bytes(tree.bytes(2)),
        bytes(tree.bytes(3)));
  }

  private List<Port> ports(ScheduleSyntaxParser.RoleContext tree, String kind) {
    return tree.port().stream()
        .filter(port -> port.start.getText().equals(kind))
        .map(
            port ->
                new Port(
                    text(port.STRING()),
                    type(port.type()),
                    address(port.place().address()),
                    range(port)))
        .toList();
  }

  private Optional<InputRange> range(ScheduleSyntaxParser.PortContext port) {
    return port.integer().isEmpty()
        ? Optional.empty()
        : Optional.of(
            new InputRange(
                text(port.STRING()), integer(port.integer(0)), integer(port.integer(1))));
  }

  Address address(ScheduleSyntaxParser.AddressContext tree) {
    Integer memory = names.get(tree.name().getText());
    if (memory == null) {
      throw locator.error(TextCode.UNDEFINED, tree.name().start, "a memory of the role", "");
    }
    return new Address(memory, integer(tree.integer()));
  }

  /**
   * Parses an offset in the only possible memory.
   *
   * @param memory the number of the memory
   */
  long offset(ScheduleSyntaxParser.AddressContext tree, int memory) {
    Address at = address(tree);
    if (at.memory() != memory) {
      throw wrong(tree.name(), memory == ChipSchedule.HOME ? "the second memory" : "the first");
    }
    return at.offset();
  }

  Origin origin(ScheduleSyntaxParser.OriginContext tree) {
    Origin named = Origin.named(text(tree.STRING()));
    if (tree.PART() == null) {
      return named;
    }
    return named
        .withPart(tree.PART().getText().substring(1))
        .orElseThrow(
            () ->
                locator.error(
                    TextCode.ATTRIBUTE,
                    tree.PART().getSymbol(),
                    "a part such as @block0.query or @embedding",
                    ""));
  }

  private Residence residence(ScheduleSyntaxParser.ResidenceContext tree) {
    return new Residence(
        text(tree.STRING()),
        address(tree.place().address()),
        bytes(tree.bytes()),
        small(tree.integer(0)),
        small(tree.integer(1)));
  }

  private StoredConstant constant(ScheduleSyntaxParser.ConstantContext tree) {
    return new StoredConstant(
        origin(tree.origin()),
        text(tree.STRING()),
        address(tree.place().address()),
        bytes(tree.bytes()),
        tree.data().stream().map(this::data).toList());
  }

  private Tensor data(ScheduleSyntaxParser.DataContext tree) {
    TensorType type = type(tree.type());
    if (tree.integer() != null) {
      return weight(tree, type, integer(tree.integer()));
    }
    if (tree.element().size() != type.shape().elements()) {
      throw wrong(tree, type.shape().elements() + " elements for " + type);
    }
    long[] bits = new long[tree.element().size()];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = bits(type.element(), tree.element(i));
    }
    return ElementText.tensor(type, bits);
  }

  long bits(ElementType element, ScheduleSyntaxParser.ElementContext tree) {
    try {
      return ElementText.read(element, tree.getText());
    } catch (NumberFormatException e) {
      throw locator.error(
          TextCode.CONSTANT, tree.start, "an element of type " + element, tree.getText(), "");
    }
  }

  private Tensor weight(ScheduleSyntaxParser.DataContext tree, TensorType type, long offset) {
    if (weights.equals(MemorySegment.NULL)
        || offset < 0
        || offset > weights.byteSize() - type.bytes()) {
      throw locator.error(
          TextCode.WEIGHT,
          tree.start,
          type.bytes() + " bytes at offset " + offset,
          weights.equals(MemorySegment.NULL)
              ? "no weights file"
              : "a weights file of " + weights.byteSize() + " bytes",
          "put the .weights file that was written with the text in the same folder");
    }
    return known.computeIfAbsent(
        List.of(type, offset), key -> Tensor.of(type, weights.asSlice(offset, type.bytes())));
  }

  Locator locator() {
    return locator;
  }
}
