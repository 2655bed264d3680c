package io.partita.ir.text;

import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints a loop over tiles. */
final class LoopText {
  private final TiledKernel loop;
  private final String memory;
  private final StringBuilder out = new StringBuilder();

  /**
   * @param memory the name of the working memory
   */
  LoopText(TiledKernel loop, String memory) {
    this.loop = loop;
    this.memory = memory;
  }

  String print() {
    line(2, "loop %s {", loop.name());
    loop.axes().forEach(this::axis);
    loop.operands().forEach(this::operand);
    for (TileScratch each : loop.scratch()) {
      line(3, "scratch %s at %s %d, %d B", each.name(), memory, each.offset(), each.bytes());
    }
    loop.calls().forEach(this::call);
    loop.stages().forEach(this::stage);
    line(2, "} %d B", loop.workingBytes());
    return out.toString();
  }

  private void line(int depth, String format, Object... arguments) {
    out.append("  ".repeat(depth)).append(format.formatted(arguments)).append('\n');
  }

  private void axis(TileAxis axis) {
    String limit = axis.limit().map(expression -> " until " + print(expression)).orElse("");
    String over = axis.over().map(each -> " over " + name(each)).orElse("");
    line(3, "axis %s %d by %d%s%s", axis.name(), axis.extent(), axis.tile(), limit, over);
  }

  private void operand(TileOperand operand) {
    String box =
        operand.box().stream()
            .map(
                dimension ->
                    "%s for %s of %d step %d"
                        .formatted(
                            print(dimension.start()),
                            print(dimension.size()),
                            dimension.extent(),
                            dimension.stride()))
            .collect(Collectors.joining(", "));
    line(
        3,
        "%s %s: %s%s [%s] %s%s%s",
        operand.direction().name().toLowerCase(Locale.ROOT),
        operand.name(),
        operand.element(),
        operand.packing() == Packing.PLAIN ? "" : " " + operand.packing().text(),
        box,
        operand.isNear()
            ? "in place"
            : "at %s %d, %d x %d B"
                .formatted(memory, operand.offset(), operand.slots(), operand.slotBytes()),
        operand
            .buffer()
            .map(each -> " in buffer %d of %d B pages".formatted(each.id(), each.pageBytes()))
            .orElse(""),
        operand.multicast().map(along -> " multicast along " + name(along)).orElse(""));
  }

  private static String name(CoreGrid.Axis axis) {
    return axis.name().toLowerCase(Locale.ROOT);
  }

  private void stage(Stage stage) {
    String actions = stage.actions().stream().map(this::print).collect(Collectors.joining(", "));
    line(3, "stage %s { %s }", stage.name(), actions);
  }

  private String print(Stage.Action action) {
    return switch (action) {
      case Stage.Await(int operand) -> "await " + operandName(operand);
      case Stage.Load(int operand) -> "load " + operandName(operand);
      case Stage.LoadNext(int operand) -> "next " + operandName(operand);
      case Stage.Store(int operand) -> "store " + operandName(operand);
      case Stage.Call(int call, var meanwhile) ->
          "call "
              + call
              + (meanwhile.isEmpty()
                  ? ""
                  : meanwhile.stream()
                      .map(this::print)
                      .collect(Collectors.joining(", ", " { ", " }")));
    };
  }

  private String operandName(int operand) {
    return loop.operands().get(operand).name();
  }

  private void call(KernelCall call) {
    String first = where("first", call.onFirst());
    line(3, "call %s%s%s {", call.kernel().name(), first, where("last", call.onLast()));
    for (int i = 0; i < call.arguments().size(); i++) {
      Argument argument = call.arguments().get(i);
      String end = i + 1 < call.arguments().size() ? "," : "";
      line(4, "%s = %s%s", argument.field(), print(argument.value()), end);
    }
    line(3, "}");
  }

  private String where(String end, List<Integer> axes) {
    return axes.isEmpty()
        ? ""
        : axes.stream()
            .map(axis -> loop.axes().get(axis).name())
            .collect(Collectors.joining(", ", " " + end + " ", ""));
  }

  private String list(List<TileExpression> expressions) {
    return expressions.stream().map(this::print).collect(Collectors.joining(", ", "[", "]"));
  }

  private String print(Value value) {
    return switch (value) {
      case Value.OperandPointer(var operand, var offset) ->
          pointer(loop.operands().get(operand).name(), offset);
      case Value.ScratchPointer(var scratch, var offset) ->
          pointer(loop.scratch().get(scratch).name(), offset);
      case Value.Null none -> "null";
      case Value.PointerWhen(var condition, var pointer) ->
          print(pointer) + " when " + print(condition);
      case Value.Integer(var number) -> print(number);
      case Value.Float(var number) -> "number(" + ElementText.write32(number) + ")";
      case Value.Integers(var numbers) -> list(numbers);
      case Value.Struct(var fields) ->
          fields.stream()
              .map(field -> field.field() + " = " + print(field.value()))
              .collect(Collectors.joining(", ", "{", "}"));
    };
  }

  private String pointer(String name, TileExpression offset) {
    boolean isStart = offset.equals(TileExpression.of(0));
    return "&" + name + (isStart ? "" : "[" + print(offset) + "]");
  }

  private String print(TileExpression expression) {
    return print(expression, 0);
  }

  private String axis(int axis, String property) {
    return loop.axes().get(axis).name() + property;
  }

  /**
   * @param binding the precedence: 0 allows a sum, 1 a product, 2 only a number or name
   */
  private String print(TileExpression expression, int binding) {
    return switch (expression) {
      case TileExpression.Literal(var value) -> Long.toString(value);
      case TileExpression.Start(var axis) -> axis(axis, "");
      case TileExpression.Size(var axis) -> axis(axis, ".size");
      case TileExpression.First(var axis) -> axis(axis, ".first");
      case TileExpression.Last(var axis) -> axis(axis, ".last");
      case TileExpression.Scalar(var operand) -> loop.operands().get(operand).name() + ".value";
      case TileExpression.Sum(var left, var right) ->
          bound(print(left, 0) + " + " + print(right, 1), binding > 0);
      case TileExpression.Difference(var left, var right) ->
          bound(print(left, 0) + " - " + print(right, 1), binding > 0);
      case TileExpression.Product(var left, var right) ->
          bound(print(left, 1) + " * " + print(right, 2), binding > 1);
      case TileExpression.Quotient(var left, var divisor) ->
          bound(print(left, 1) + " / " + divisor, binding > 1);
      case TileExpression.Minimum(var left, var right) ->
          "min(" + print(left, 0) + ", " + print(right, 0) + ")";
      case TileExpression.Maximum(var left, var right) ->
          "max(" + print(left, 0) + ", " + print(right, 0) + ")";
    };
  }

  private static String bound(String text, boolean isWithin) {
    return isWithin ? "(" + text + ")" : text;
  }
}
