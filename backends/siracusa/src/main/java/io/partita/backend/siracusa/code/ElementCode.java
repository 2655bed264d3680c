package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.ElementFunction;
import io.partita.backend.siracusa.model.ElementFunction.Pointer;
import io.partita.backend.siracusa.model.ElementFunction.Value;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.ElementRun.Operand;
import io.partita.ir.schedule.kernel.ElementRun.Step;
import io.partita.ir.schedule.kernel.ElementRun.Strides;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A run of functions of elements as one kernel of the program: it has only the instructions that
 * the run needs, and keeps values in registers from function to function.
 */
final class ElementCode {
  private static final String ARGUMENTS = "elements->";

  private final String name;
  private final ElementRun run;
  private final List<Pointer> fields = new ArrayList<>();
  private final List<Argument> arguments = new ArrayList<>();
  private final List<Variable> scales = new ArrayList<>();
  private final List<Value> scalars = new ArrayList<>();
  private final List<Value> values = new ArrayList<>();
  private final List<Value> wide = new ArrayList<>();

  private ElementCode(String name, ElementRun run) {
    this.name = name;
    this.run = run;
  }

  /** A kernel, and the pointers that it takes, by field. */
  record Code(ElementFunction function, List<Argument> pointers) {}

  /**
   * @param functions the kernels of the runtime that compute the same
   */
  static Code of(String name, ElementRun run, String functions) {
    return new ElementCode(name, run).code(functions);
  }

  private Code code(String functions) {
    Optional<ElementFunction.Product> product = Optional.empty();
    switch (run.source()) {
      case ElementRun.Stored(var element, var at) -> {
        pointer("x", element, at, true);
        value(c(element), "value0", "x[i]", ARGUMENTS + "x[i]");
      }
      case ElementRun.Product sums -> product = Optional.of(product(sums));
    }
    ElementType last = run.source().element();
    for (int i = 0; i < run.steps().size(); i++) {
      Step step = run.steps().get(i);
      String before =
          last == step.from() ? "value" + i : "(%s)value%d".formatted(c(step.from()), i);
      step(step, i + 1, before);
      last = step.to();
    }
    pointer("out", last, run.out(), false);
    ElementFunction function =
        new ElementFunction(
            name,
            functions,
            fields,
            run.hasFloats(),
            product,
            product.isPresent() ? 1 : 8,
            scales,
            scalars,
            values,
            wide,
            "value" + run.steps().size());
    return new Code(function, arguments);
  }

  private ElementFunction.Product product(ElementRun.Product product) {
    pointer("left", product.left(), product.leftAt(), true);
    pointer("right", product.right(), product.rightAt(), true);
    String column = remainder("i", product.n());
    String line = quotient("i", product.n());
    String batch = quotient("i", product.n() * product.m());
    Strides left = product.leftStrides();
    Strides right = product.rightStrides();
    return new ElementFunction.Product(
        c(product.left()),
        c(product.right()),
        left.batch() == product.m() * left.row() || product.batch() == 1
            ? offset("0", 0, line, left.row())
            : offset(batch, left.batch(), remainder(line, product.m()), left.row()),
        offset(product.batch() == 1 ? "0" : batch, right.batch(), column, right.column()),
        left.column(),
        right.row(),
        product.k());
  }

  /** Of an index, without a division, which takes 30 cycles, if possible. */
  private static String quotient(String dividend, long divisor) {
    if (divisor == 1) {
      return dividend;
    }
    return Long.bitCount(divisor) == 1
        ? "(%s >> %d)".formatted(dividend, Long.numberOfTrailingZeros(divisor))
        : "(%s / %d)".formatted(dividend, divisor);
  }

  private static String remainder(String dividend, long divisor) {
    if (divisor == 1) {
      return "0";
    }
    return Long.bitCount(divisor) == 1
        ? "(%s & %d)".formatted(dividend, divisor - 1)
        : "(%s %% %d)".formatted(dividend, divisor);
  }

  private static String offset(String one, long oneStride, String other, long otherStride) {
    List<String> terms = new ArrayList<>();
    term(terms, one, oneStride);
    term(terms, other, otherStride);
    return terms.isEmpty() ? "0" : String.join(" + ", terms);
  }

  private static void term(List<String> terms, String index, long stride) {
    if (!index.equals("0") && stride != 0) {
      terms.add(stride == 1 ? index : "%s * %d".formatted(index, stride));
    }
  }

  private void step(Step step, int number, String before) {
    String type = c(step.to());
    switch (step.function()) {
      case CAST -> value(type, "value" + number, "(%s)%s".formatted(type, before));
      case REQUANTIZE -> requantize(step, number, before);
      case ADD, SUB, MUL, MIN, MAX -> binary(step, number, before);
    }
  }

  private void binary(Step step, int number, String before) {
    Operand operand = step.operands().getFirst();
    String type = c(step.to());
    String result = "value" + number;
    if (operand.isValues()) {
      value(type, result, binary(step, type, before, before));
      return;
    }
    String field = "operand" + number;
    pointer(field, operand.element(), operand.pointer(), true);
    String index = "[" + operand.period().map(each -> remainder("i", each)).orElse("i") + "]";
    boolean isScalar = operand.period().equals(Optional.of(1L));
    if (isScalar) {
      scalars.add(new Value(c(operand.element()), field, "*" + ARGUMENTS + field));
    }
    value(
        type,
        result,
        binary(step, type, before, isScalar ? field : field + index),
        binary(step, type, before, ARGUMENTS + field + index));
  }

  private static String binary(Step step, String type, String before, String operand) {
    String left = step.valuesFirst() ? before : operand;
    String right = step.valuesFirst() ? operand : before;
    return switch (step.function()) {
      case ADD -> wrapped(type, left, "+", right);
      case SUB -> wrapped(type, left, "-", right);
      case MUL -> wrapped(type, left, "*", right);
      case MIN -> "(%s)partita_min(%s, %s)".formatted(type, left, right);
      case MAX -> "(%s)partita_max(%s, %s)".formatted(type, left, right);
      case CAST, REQUANTIZE -> throw new IllegalArgumentException(step.function().toString());
    };
  }

  /** Integers wrap. */
  private static String wrapped(String type, String left, String operator, String right) {
    return type.equals("float")
        ? "%s %s %s".formatted(left, operator, right)
        : "(%s)((uint32_t)%s %s (uint32_t)%s)".formatted(type, left, operator, right);
  }

  private void requantize(Step step, int number, String before) {
    String multiplier = "multiplier" + number;
    String addend = "addend" + number;
    pointer(multiplier, ElementType.I32, step.operands().get(0).pointer(), true);
    pointer(addend, ElementType.I32, step.operands().get(1).pointer(), true);
    String shift = Long.toString(step.attribute("shift"));
    String low = Expressions.literal(step.attribute("low"));
    String high = Expressions.literal(step.attribute("high"));
    String scale = "scale" + number;
    String to = "partita_requantized(%s, %s, %s)".formatted(shift, low, high);
    String type = c(step.to());
    scales.add(
        new Variable(
            scale,
            "partita_scale(%s, *%s, *%s)"
                .formatted(to, ARGUMENTS + multiplier, ARGUMENTS + addend)));
    value(
        type,
        "value" + number,
        "(%s)partita_rescale(%s, %s, %s, %s, %s)".formatted(type, scale, shift, low, high, before),
        "(%s)partita_requantize(%s, %s, *%s, *%s)"
            .formatted(type, to, before, ARGUMENTS + multiplier, ARGUMENTS + addend));
  }

  private void value(String type, String variable, String value) {
    value(type, variable, value, value);
  }

  private void value(String type, String variable, String value, String wideValue) {
    values.add(new Value(type, variable, value));
    wide.add(new Value(type, variable, wideValue));
  }

  private void pointer(String field, ElementType element, Argument.Value at, boolean isRead) {
    fields.add(new Pointer((isRead ? "const " : "") + c(element), field));
    arguments.add(new Argument(field, at));
  }

  private static String c(ElementType element) {
    return switch (element) {
      case I8 -> "int8_t";
      case U8 -> "uint8_t";
      case I32 -> "int32_t";
      case F32 -> "float";
      case I64, I16, I4, U64, U32, U16, U4, F64, F16, BF16, BOOL ->
          throw new IllegalArgumentException("elements of " + element);
    };
  }
}
