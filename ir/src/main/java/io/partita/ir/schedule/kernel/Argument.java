package io.partita.ir.schedule.kernel;

import java.util.List;
import java.util.stream.Stream;

/**
 * A field of a kernel's struct of arguments.
 *
 * @param field the name in C
 */
public record Argument(String field, Value value) {
  /** The value of a field. */
  public sealed interface Value {
    /** The tile of an operand in the working memory, and an offset in elements from its start. */
    record OperandPointer(int operand, TileExpression offset) implements Value {}

    /** Scratch memory, and an offset in bytes from its start. */
    record ScratchPointer(int scratch, TileExpression offset) implements Value {}

    /** A null pointer. */
    record Null() implements Value {}

    /**
     * A pointer in tiles in which the condition isn't 0, and null in others: a bias in the last
     * tile.
     */
    record PointerWhen(TileExpression condition, Value pointer) implements Value {}

    record Integer(TileExpression value) implements Value {}

    /** An exact f32. */
    record Float(float value) implements Value {}

    /** An array of integers with the length of the field. */
    record Integers(List<TileExpression> values) implements Value {
      public Integers {
        values = List.copyOf(values);
      }
    }

    /** A nested struct. */
    record Struct(List<Argument> arguments) implements Value {
      public Struct {
        arguments = List.copyOf(arguments);
      }
    }
  }

  /** Returns the pointers to operands and scratch memory, also conditional ones and in structs. */
  public Stream<Value> pointers() {
    return switch (value) {
      case Value.OperandPointer pointer -> Stream.of(pointer);
      case Value.ScratchPointer pointer -> Stream.of(pointer);
      case Value.PointerWhen(var condition, var pointer) -> new Argument(field, pointer).pointers();
      case Value.Struct(var arguments) -> arguments.stream().flatMap(Argument::pointers);
      case Value.Null none -> Stream.empty();
      case Value.Integer integer -> Stream.empty();
      case Value.Float number -> Stream.empty();
      case Value.Integers integers -> Stream.empty();
    };
  }

  public static Argument pointer(String field, int operand) {
    return new Argument(field, new Value.OperandPointer(operand, TileExpression.of(0)));
  }

  public static Argument scratch(String field, int scratch) {
    return new Argument(field, new Value.ScratchPointer(scratch, TileExpression.of(0)));
  }

  /** Returns a pointer some bytes behind the start of scratch memory. */
  public static Argument scratch(String field, int scratch, TileExpression offset) {
    return new Argument(field, new Value.ScratchPointer(scratch, offset));
  }

  public static Argument none(String field) {
    return new Argument(field, new Value.Null());
  }

  public static Argument integer(String field, TileExpression value) {
    return new Argument(field, new Value.Integer(value));
  }

  public static Argument integer(String field, long value) {
    return integer(field, TileExpression.of(value));
  }

  public static Argument number(String field, float value) {
    return new Argument(field, new Value.Float(value));
  }

  public static Argument integers(String field, List<TileExpression> values) {
    return new Argument(field, new Value.Integers(values));
  }
}
