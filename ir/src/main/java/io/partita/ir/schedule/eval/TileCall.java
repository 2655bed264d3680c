package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.FieldValues;
import io.partita.ir.schedule.kernel.KernelArguments;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A call of a loop, with the values of its fields in the current tile. */
final class TileCall implements FieldValues {
  private final KernelCall call;
  private final TileExpression.Tile tile;
  private final Map<String, Value> fields = new HashMap<>();

  TileCall(KernelCall call, TileExpression.Tile tile) {
    this.call = call;
    this.tile = tile;
    add("", call.arguments());
  }

  private void add(String prefix, List<Argument> arguments) {
    for (Argument argument : arguments) {
      if (argument.value() instanceof Value.Struct(var inner)) {
        add(prefix + argument.field() + ".", inner);
      } else {
        fields.put(prefix + argument.field(), argument.value());
      }
    }
  }

  KernelCall call() {
    return call;
  }

  private IllegalArgumentException mistake(String field, String expected) {
    return new IllegalArgumentException(
        "field " + field + " of " + call.function() + " isn't " + expected);
  }

  @Override
  public long get(String field) {
    return switch (fields.get(field)) {
      case null -> 0;
      case Value.Integer(var expression) -> expression.at(tile);
      case Value other -> throw mistake(field, "an integer");
    };
  }

  @Override
  public List<Long> all(String field) {
    return switch (fields.get(field)) {
      case null -> List.of();
      case Value.Integers(var expressions) ->
          expressions.stream().map(expression -> expression.at(tile)).toList();
      case Value other -> throw mistake(field, "an array");
    };
  }

  @Override
  public Optional<Value> pointer(String field) {
    return pointer(field, fields.get(field));
  }

  private Optional<Value> pointer(String field, Value value) {
    return switch (value) {
      case null -> Optional.empty();
      case Value.OperandPointer pointer -> Optional.of(pointer);
      case Value.ScratchPointer pointer -> Optional.of(pointer);
      case Value.Null none -> Optional.empty();
      case Value.PointerWhen(var condition, var pointer) ->
          condition.at(tile) == 0 ? Optional.empty() : pointer(field, pointer);
      case Value other -> throw mistake(field, "a pointer");
    };
  }

  /**
   * Runs the call.
   *
   * @param places the places of pointers
   */
  void run(Function<Value, Place> places) {
    call.kernel().meaning().run(new Arguments(places));
  }

  private final class Arguments implements KernelArguments {
    private final Function<Value, Place> places;

    Arguments(Function<Value, Place> places) {
      this.places = places;
    }

    @Override
    public long integer(String field) {
      return TileCall.this.get(field);
    }

    @Override
    public float number(String field) {
      return switch (fields.get(field)) {
        case null -> 0;
        case Value.Float(var number) -> number;
        case Value other -> throw mistake(field, "a number");
      };
    }

    @Override
    public int[] integers(String field) {
      return all(field).stream().mapToInt(Math::toIntExact).toArray();
    }

    @Override
    public Place place(String field) {
      return pointer(field).map(places).orElse(null);
    }
  }
}
