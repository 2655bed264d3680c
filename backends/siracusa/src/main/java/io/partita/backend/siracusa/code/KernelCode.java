package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.backend.siracusa.model.Tile.Call;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The kernel calls on one tile. */
final class KernelCode {
  private final TiledKernel kernel;
  private final Expressions expressions;
  private final BoxCode boxes;

  KernelCode(TiledKernel kernel, Expressions expressions, BoxCode boxes) {
    this.kernel = kernel;
    this.expressions = expressions;
    this.boxes = boxes;
  }

  Call call(int number) {
    KernelCall call = kernel.calls().get(number);
    return call(call.kernel().struct().tag(), call.function(), call.arguments());
  }

  /** Returns the call of a kernel that computes a run. */
  Call call(ElementRun run, ElementCode.Code code) {
    List<Argument> arguments = new ArrayList<>(code.pointers());
    arguments.add(Argument.integer("count", run.count()));
    String name = code.function().name();
    return call(name, name, arguments);
  }

  private Call call(String struct, String function, List<Argument> arguments) {
    return new Call(member(function), struct, function, arguments(arguments));
  }

  /** Returns the name of a kernel without what all kernels, or all of the loop, have before it. */
  private String member(String function) {
    String prefix = function.startsWith(kernel.name()) ? kernel.name() + "_" : "partita_";
    return function.substring(prefix.length());
  }

  /** Returns the condition of a call; empty if it is for all tiles. */
  Optional<String> condition(int number) {
    KernelCall call = kernel.calls().get(number);
    List<String> conditions =
        Stream.concat(
                call.onFirst().stream()
                    .filter(expressions::isLoop)
                    .map(axis -> new TileExpression.First(axis)),
                call.onLast().stream()
                    .filter(expressions::isLoop)
                    .map(axis -> new TileExpression.Last(axis)))
            .map(expressions::print)
            .toList();
    if (conditions.isEmpty()) {
      return Optional.empty();
    }
    String all = String.join(" && ", conditions);
    return Optional.of(conditions.size() == 1 ? all.substring(1, all.length() - 1) : all);
  }

  private List<Variable> arguments(List<Argument> arguments) {
    return arguments.stream()
        .map(argument -> new Variable(argument.field(), value(argument.value())))
        .toList();
  }

  private String value(Value value) {
    return switch (value) {
      case Value.OperandPointer(var operand, var offset) ->
          pointer(boxes.tile(operand), offset.times(BoxCode.bytes(kernel.operands().get(operand))));
      case Value.ScratchPointer(var scratch, var offset) ->
          pointer("partita_l1", offset.plus(kernel.scratch().get(scratch).offset()));
      case Value.PointerWhen(var condition, var pointer) -> when(condition, pointer);
      case Value.Null none -> "0";
      case Value.Integer(var number) -> expressions.print(number);
      case Value.Float(var number) -> Expressions.literal(number);
      case Value.Integers(var numbers) ->
          numbers.stream().map(expressions::print).collect(Collectors.joining(", ", "{", "}"));
      case Value.Struct(var inner) ->
          arguments(inner).stream()
              .map(field -> "." + field.name() + " = " + field.value())
              .collect(Collectors.joining(", ", "{", "}"));
    };
  }

  private String when(TileExpression condition, Value pointer) {
    String test = expressions.print(condition);
    return switch (test) {
      case "0" -> "0";
      case "1" -> value(pointer);
      default -> test + " ? " + value(pointer) + " : 0";
    };
  }

  /** Casts to the pointer type of the field. */
  private String pointer(String base, TileExpression bytes) {
    String offset = expressions.print(bytes);
    return offset.equals("0") ? "(void *)" + base : "(void *)(" + base + " + " + offset + ")";
  }
}
