package io.partita.ir.schedule.kernel;

import io.partita.ir.target.WorkSharing;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The struct of arguments of kernels, and the properties of all kernels with this struct.
 *
 * @param name the tag in C without the prefix
 * @param header the header that declares it, in {@code runtime-c/kernels}
 * @param sharing how cores share the computation
 * @param accesses adds the accesses of each pointer, reads before writes
 * @param work {@code batch, rows, columns, depth}, whose product is the number of
 *     multiply-accumulates, or of elements times passes
 * @param preconditions the conditions that each call must satisfy
 * @param inPlace the operands whose tile may also be {@code out}, if elements have the same width
 *     and the operand is contiguous: such kernels can be epilogues
 */
public record KernelStruct(
    String name,
    String header,
    List<Field> fields,
    WorkSharing sharing,
    Consumer<Accesses> accesses,
    Function<CallWork, List<TileExpression>> work,
    List<Precondition> preconditions,
    List<String> inPlace) {
  /** Cores compute blocks of 4 rows by 4 columns of a product. */
  static final WorkSharing BLOCKS = new WorkSharing(4, 4, 0);

  /** Cores compute parts of 8 elements. */
  static final WorkSharing PARTS = new WorkSharing(0, 8, 0);

  /** Cores compute whole lines. */
  static final WorkSharing LINES = new WorkSharing(0, 0, 0);

  /** Types of fields in C. */
  public enum Type {
    POINTER,
    INT32,
    INT64,
    FLOAT,
    /** {@code int32_t[PARTITA_AXES]}. */
    AXES,
    STRUCT
  }

  /** {@code PARTITA_AXES}. */
  public static final int AXES = 6;

  /**
   * The parts of a norm's sums, besides the sum of the last elements; {@code PARTITA_NORM_PARTS}.
   */
  public static final int NORM_PARTS = 8;

  /**
   * @param struct the nested struct of a {@link Type#STRUCT}
   */
  public record Field(String name, Type type, Optional<KernelStruct> struct) {}

  /**
   * A precondition of a kernel.
   *
   * @param text the text in terms of fields, such as {@code accumulate = 0}
   */
  public record Precondition(String text, Predicate<FieldValues> test) {}

  public KernelStruct {
    fields = List.copyOf(fields);
    preconditions = List.copyOf(preconditions);
    inPlace = List.copyOf(inPlace);
  }

  /** The tag in C. */
  public String tag() {
    return Kernel.PREFIX + name;
  }

  Optional<Field> field(String field) {
    return fields.stream().filter(each -> each.name().equals(field)).findFirst();
  }

  /**
   * @throws IllegalArgumentException if there is no such field, or it has another type
   */
  void require(List<Argument> arguments) {
    for (Argument argument : arguments) {
      Field field =
          field(argument.field())
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "no field " + argument.field() + " of " + names()));
      if (!fits(field, argument.value())) {
        throw new IllegalArgumentException(
            "field %s of %s isn't of type %s".formatted(field.name(), name, field.type()));
      }
    }
  }

  private String names() {
    return name + fields.stream().map(Field::name).collect(Collectors.joining(", ", " (", ")"));
  }

  private static boolean fits(Field field, Argument.Value value) {
    return switch (value) {
      case Argument.Value.OperandPointer pointer -> field.type() == Type.POINTER;
      case Argument.Value.ScratchPointer pointer -> field.type() == Type.POINTER;
      case Argument.Value.PointerWhen pointer -> field.type() == Type.POINTER;
      case Argument.Value.Null none -> field.type() == Type.POINTER;
      case Argument.Value.Integer number ->
          field.type() == Type.INT32 || field.type() == Type.INT64;
      case Argument.Value.Float number -> field.type() == Type.FLOAT;
      case Argument.Value.Integers(var values) ->
          field.type() == Type.AXES && values.size() == AXES;
      case Argument.Value.Struct(var inner) -> {
        field.struct().ifPresent(struct -> struct.require(inner));
        yield field.type() == Type.STRUCT;
      }
    };
  }

  static Builder in(String header, String name) {
    return new Builder(header, name);
  }

  /** Builds a struct with its fields in the order of C. */
  static final class Builder {
    private final String header;
    private final String name;
    private final List<Field> fields = new ArrayList<>();
    private final List<Precondition> preconditions = new ArrayList<>();
    private final List<String> inPlace = new ArrayList<>();
    private WorkSharing sharing = LINES;

    private Builder(String header, String name) {
      this.header = header;
      this.name = name;
    }

    private Builder add(Type type, String... names) {
      for (String field : names) {
        fields.add(new Field(field, type, Optional.empty()));
      }
      return this;
    }

    Builder pointers(String... names) {
      return add(Type.POINTER, names);
    }

    Builder integers(String... names) {
      return add(Type.INT32, names);
    }

    Builder longs(String... names) {
      return add(Type.INT64, names);
    }

    Builder floats(String... names) {
      return add(Type.FLOAT, names);
    }

    Builder axes(String... names) {
      return add(Type.AXES, names);
    }

    Builder struct(String field, KernelStruct struct) {
      fields.add(new Field(field, Type.STRUCT, Optional.of(struct)));
      return this;
    }

    Builder requires(String text, Predicate<FieldValues> test) {
      preconditions.add(new Precondition(text, test));
      return this;
    }

    /** Declares the operands whose tile the result may have. */
    Builder inPlaceOf(String... operands) {
      inPlace.addAll(List.of(operands));
      return this;
    }

    Builder shared(WorkSharing among) {
      sharing = among;
      return this;
    }

    KernelStruct build(Consumer<Accesses> accesses, Function<CallWork, List<TileExpression>> work) {
      return new KernelStruct(
          name, header, fields, sharing, accesses, work, preconditions, inPlace);
    }
  }
}
