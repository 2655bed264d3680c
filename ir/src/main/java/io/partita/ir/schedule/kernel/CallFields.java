package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The values of the fields of a kernel's struct in one tile. */
public final class CallFields implements FieldValues {
  private final KernelCall call;
  private final TileExpression.Tile tile;
  private final Set<TileExpression> used = new LinkedHashSet<>();

  public CallFields(KernelCall call, TileExpression.Tile tile) {
    this.call = call;
    this.tile = tile;
  }

  /** The expressions that have been requested. */
  public Set<TileExpression> used() {
    return used;
  }

  @Override
  public long get(String field) {
    return find(call.arguments(), field)
        .map(
            value ->
                switch (value) {
                  case Value.Integer(var expression) -> at(expression);
                  case Value other -> throw mistake(field, "an integer");
                })
        .orElse(0L);
  }

  @Override
  public List<Long> all(String field) {
    return find(call.arguments(), field)
        .map(
            value ->
                switch (value) {
                  case Value.Integers(var expressions) ->
                      expressions.stream().map(this::at).toList();
                  case Value other -> throw mistake(field, "an array");
                })
        .orElse(List.of());
  }

  @Override
  public Optional<Value> pointer(String field) {
    return find(call.arguments(), field).flatMap(value -> pointer(field, value));
  }

  private Optional<Value> pointer(String field, Value value) {
    return switch (value) {
      case Value.OperandPointer pointer -> Optional.of(pointer);
      case Value.ScratchPointer pointer -> Optional.of(pointer);
      case Value.Null none -> Optional.empty();
      case Value.PointerWhen(var condition, var pointer) ->
          at(condition) == 0 ? Optional.empty() : pointer(field, pointer);
      case Value other -> throw mistake(field, "a pointer");
    };
  }

  public long at(TileExpression expression) {
    used.add(expression);
    return expression.at(tile);
  }

  public static Optional<Value> find(List<Argument> arguments, String field) {
    int dot = field.indexOf('.');
    String own = dot < 0 ? field : field.substring(0, dot);
    Optional<Value> found =
        arguments.stream()
            .filter(argument -> argument.field().equals(own))
            .map(Argument::value)
            .findFirst();
    if (dot < 0) {
      return found;
    }
    return found.flatMap(
        value ->
            value instanceof Value.Struct(var inner)
                ? find(inner, field.substring(dot + 1))
                : Optional.empty());
  }

  private IllegalArgumentException mistake(String field, String expected) {
    return new IllegalArgumentException(
        "field " + field + " of " + call.kernel().struct().name() + " isn't " + expected);
  }
}
