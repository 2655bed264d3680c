package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CircularBuffer;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.tree.ParseTree;
import org.antlr.v4.runtime.tree.TerminalNode;

/** Parses a loop over tiles, and resolves names to numbers. */
final class LoopReader {
  private final ScheduleParser parser;
  private final ScheduleSyntaxParser.LoopContext tree;
  private final Map<String, Integer> axes = new HashMap<>();
  private final Map<String, Integer> operands = new HashMap<>();
  private final Map<String, Integer> scratch = new HashMap<>();

  LoopReader(ScheduleParser parser, ScheduleSyntaxParser.LoopContext tree) {
    this.parser = parser;
    this.tree = tree;
    tree.tileAxis().forEach(axis -> define(axes, axis.name()));
    tree.operand().forEach(operand -> define(operands, operand.name(0)));
    tree.scratch().forEach(memory -> define(scratch, memory.name()));
  }

  private void define(Map<String, Integer> names, ScheduleSyntaxParser.NameContext name) {
    if (names.putIfAbsent(name.getText(), names.size()) != null) {
      throw parser.locator().error(TextCode.DUPLICATE, name.start, "a new name", "");
    }
  }

  private PartitaException wrong(ParserRuleContext place, String expected) {
    return parser.locator().error(TextCode.ATTRIBUTE, place.start, expected, "");
  }

  private int resolve(
      Map<String, Integer> names, ScheduleSyntaxParser.NameContext name, String what) {
    Integer found = names.get(name.getText());
    if (found == null) {
      throw parser.locator().error(TextCode.UNDEFINED, name.start, what, "");
    }
    return found;
  }

  TiledKernel loop() {
    return new TiledKernel(
        tree.name().getText(),
        tree.tileAxis().stream().map(this::axis).toList(),
        tree.operand().stream().map(this::operand).toList(),
        tree.scratch().stream()
            .map(
                memory ->
                    new TileScratch(
                        memory.name().getText(),
                        parser.offset(memory.place().address(), ChipSchedule.WORKING),
                        parser.bytes(memory.bytes())))
            .toList(),
        tree.call().stream().map(this::call).toList(),
        tree.stage().stream().map(this::stage).toList(),
        parser.bytes(tree.bytes()));
  }

  private TileAxis axis(ScheduleSyntaxParser.TileAxisContext axis) {
    try {
      return new TileAxis(
          axis.name().getText(),
          parser.integer(axis.integer(0)),
          parser.integer(axis.integer(1)),
          Optional.ofNullable(axis.expression()).map(this::expression),
          Optional.ofNullable(axis.over()).map(over -> gridAxis(over.name())));
    } catch (IllegalArgumentException e) {
      throw wrong(axis, "an extent, and a tile that isn't larger");
    }
  }

  private TileOperand operand(ScheduleSyntaxParser.OperandContext operand) {
    boolean isNear = operand.place() == null;
    return new TileOperand(
        operand.name(0).getText(),
        parser.element(operand.name(1)),
        operand.name().size() > 2 ? packing(operand.name(2)) : Packing.PLAIN,
        Direction.valueOf(operand.start.getText().toUpperCase(Locale.ROOT)),
        operand.box().stream()
            .map(
                box ->
                    new BoxDimension(
                        expression(box.expression(0)),
                        expression(box.expression(1)),
                        parser.integer(box.integer(0)),
                        parser.integer(box.integer(1))))
            .toList(),
        isNear ? 0 : parser.offset(operand.place().address(), ChipSchedule.WORKING),
        isNear ? 0 : parser.bytes(operand.bytes()),
        isNear ? 0 : parser.small(operand.integer()),
        Optional.ofNullable(operand.multicast()).map(along -> gridAxis(along.name())),
        Optional.ofNullable(operand.buffer())
            .map(
                buffer ->
                    new CircularBuffer(
                        parser.small(buffer.integer()), parser.bytes(buffer.bytes()))));
  }

  private Packing packing(ScheduleSyntaxParser.NameContext name) {
    return Packing.of(name.getText()).orElseThrow(() -> wrong(name, "bf8_b or nothing"));
  }

  private CoreGrid.Axis gridAxis(ScheduleSyntaxParser.NameContext name) {
    return switch (name.getText()) {
      case "rows" -> CoreGrid.Axis.ROWS;
      case "columns" -> CoreGrid.Axis.COLUMNS;
      case "cores" -> CoreGrid.Axis.CORES;
      default -> throw wrong(name, "rows, columns or cores");
    };
  }

  private Stage stage(ScheduleSyntaxParser.StageContext stage) {
    return new Stage(stage.name().getText(), stage.action().stream().map(this::action).toList());
  }

  private Stage.Action action(ScheduleSyntaxParser.ActionContext action) {
    if (action.integer() != null) {
      List<Stage.LoadNext> meanwhile = new ArrayList<>();
      for (ScheduleSyntaxParser.ActionContext each : action.action()) {
        if (!(action(each) instanceof Stage.LoadNext next)) {
          throw wrong(each, "a load for the next tile");
        }
        meanwhile.add(next);
      }
      return new Stage.Call(parser.small(action.integer()), meanwhile);
    }
    int operand = resolve(operands, action.name(), "an operand of the loop");
    return switch (action.start.getText()) {
      case "await" -> new Stage.Await(operand);
      case "load" -> new Stage.Load(operand);
      case "next" -> new Stage.LoadNext(operand);
      default -> new Stage.Store(operand);
    };
  }

  private KernelCall call(ScheduleSyntaxParser.CallContext call) {
    Kernel kernel =
        KernelTable.find(call.name().getText())
            .orElseThrow(() -> wrong(call.name(), "a kernel of the runtime"));
    List<Argument> arguments = fields(call.fields());
    try {
      return new KernelCall(kernel, arguments, axes(call.onFirst), axes(call.onLast));
    } catch (IllegalArgumentException e) {
      throw wrong(call.fields(), "fields of " + kernel.struct().name() + ": " + e.getMessage());
    }
  }

  private List<Integer> axes(ScheduleSyntaxParser.WhereContext where) {
    return where == null
        ? List.of()
        : where.name().stream().map(axis -> resolve(axes, axis, "an axis of the loop")).toList();
  }

  private List<Argument> fields(ScheduleSyntaxParser.FieldsContext fields) {
    return fields.field().stream()
        .map(field -> new Argument(field.name().getText(), value(field.value())))
        .toList();
  }

  private List<TileExpression> list(ScheduleSyntaxParser.ListContext list) {
    return list.expression().stream().map(this::expression).toList();
  }

  private Value value(ScheduleSyntaxParser.ValueContext value) {
    if (value.element() != null) {
      return new Value.Float(
          Float.intBitsToFloat((int) parser.bits(ElementType.F32, value.element())));
    } else if (value.fields() != null) {
      return new Value.Struct(fields(value.fields()));
    } else if (value.list() != null) {
      return new Value.Integers(list(value.list()));
    } else if (value.pointer() != null) {
      return pointer(value.pointer());
    }
    return value.expression() != null
        ? new Value.Integer(expression(value.expression()))
        : new Value.Null();
  }

  private Value pointer(ScheduleSyntaxParser.PointerContext pointer) {
    List<TileExpression> expressions = pointer.expression().stream().map(this::expression).toList();
    boolean hasOffset = pointer.getChildCount() > 2 && pointer.getChild(2).getText().equals("[");
    TileExpression offset = hasOffset ? expressions.getFirst() : TileExpression.of(0);
    String name = pointer.name().getText();
    Value value =
        operands.containsKey(name)
            ? new Value.OperandPointer(operands.get(name), offset)
            : new Value.ScratchPointer(
                resolve(scratch, pointer.name(), "an operand or scratch memory of the loop"),
                offset);
    for (TileExpression condition : expressions.subList(hasOffset ? 1 : 0, expressions.size())) {
      value = new Value.PointerWhen(condition, value);
    }
    return value;
  }

  /** Parses an expression without simplification. */
  private TileExpression expression(ScheduleSyntaxParser.ExpressionContext expression) {
    TileExpression sum = null;
    boolean isDifference = false;
    for (ParseTree part : expression.children) {
      if (part instanceof ScheduleSyntaxParser.TermContext term) {
        TileExpression next = term(term);
        sum =
            sum == null
                ? next
                : isDifference
                    ? new TileExpression.Difference(sum, next)
                    : new TileExpression.Sum(sum, next);
      } else {
        isDifference = part.getText().equals("-");
      }
    }
    return sum;
  }

  private TileExpression term(ScheduleSyntaxParser.TermContext term) {
    TileExpression product = null;
    boolean isQuotient = false;
    for (ParseTree part : term.children) {
      if (part instanceof ScheduleSyntaxParser.FactorContext factor) {
        TileExpression next = factor(factor);
        product = product == null ? next : new TileExpression.Product(product, next);
      } else if (isQuotient) {
        product = new TileExpression.Quotient(product, literal(term, part.getText()));
        isQuotient = false;
      } else {
        isQuotient = part instanceof TerminalNode && part.getText().equals("/");
      }
    }
    return product;
  }

  private long literal(ParserRuleContext place, String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw wrong(place, "a 64-bit number");
    }
  }

  private TileExpression factor(ScheduleSyntaxParser.FactorContext factor) {
    if (factor.INTEGER() != null) {
      return new TileExpression.Literal(literal(factor, factor.getText()));
    } else if (factor.name().isEmpty()) {
      return expression(factor.expression(0));
    } else if (!factor.expression().isEmpty()) {
      TileExpression left = expression(factor.expression(0));
      TileExpression right = expression(factor.expression(1));
      return switch (factor.name(0).getText()) {
        case "min" -> new TileExpression.Minimum(left, right);
        case "max" -> new TileExpression.Maximum(left, right);
        default -> throw wrong(factor, "min or max");
      };
    }
    String property = factor.name().size() == 1 ? "start" : factor.name(1).getText();
    if (property.equals("value")) {
      return new TileExpression.Scalar(resolve(operands, factor.name(0), "an operand of the loop"));
    }
    int axis = resolve(axes, factor.name(0), "an axis of the loop");
    return switch (property) {
      case "start" -> new TileExpression.Start(axis);
      case "size" -> new TileExpression.Size(axis);
      case "first" -> new TileExpression.First(axis);
      case "last" -> new TileExpression.Last(axis);
      default -> throw wrong(factor.name(1), "start, size, first, last or value");
    };
  }
}
