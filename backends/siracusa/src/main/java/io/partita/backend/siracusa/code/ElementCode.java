package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.ElementFunction;
import io.partita.backend.siracusa.model.ElementFunction.Pointer;
import io.partita.backend.siracusa.model.ElementFunction.Value;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.ElementRun.Function;
import io.partita.ir.schedule.kernel.ElementRun.Operand;
import io.partita.ir.schedule.kernel.ElementRun.Step;
import io.partita.ir.schedule.kernel.ElementRun.Strides;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A run of functions of elements as one kernel of the program: it has only the instructions that
 * the run needs, and keeps values in registers from function to function.
 */
final class ElementCode {
  private static final String ARGUMENTS = "elements->";

  private static final String LEVELS = "levels";

  private final String name;
  private final ElementRun run;
  private final List<Pointer> fields = new ArrayList<>();
  private final List<Argument> arguments = new ArrayList<>();

  /** Whether the line is counted besides the place in it, by the elements of a line. */
  private final SortedMap<Long, Boolean> counters = new TreeMap<>();

  private final List<Variable> scales = new ArrayList<>();
  private final List<Value> scalars = new ArrayList<>();
  private final List<Value> parts = new ArrayList<>();

  private ElementCode(String name, ElementRun run) {
    this.name = name;
    this.run = run;
  }

  /** A kernel, and the pointers that it takes, by field. */
  record Code(ElementFunction function, List<Argument> pointers) {}

  /** How the functions are written. */
  private enum Form {
    /** For one element {@code i}. */
    SINGLE,
    /** The same, without anything that isn't right for all numbers, and rarely used. */
    WIDE,
    /** For element {@code e} of a group that begins at {@code i}. */
    GROUPED;

    String value(int number) {
      return "value" + number + (this == GROUPED ? "[e]" : "");
    }

    String field(String field) {
      return this == WIDE ? ARGUMENTS + field : field;
    }
  }

  /**
   * @param functions the kernels of the runtime that compute the same
   */
  static Code of(String name, ElementRun run, String functions) {
    return new ElementCode(name, run).code(functions);
  }

  private Code code(String functions) {
    Optional<ElementFunction.Product> product = Optional.empty();
    switch (run.source()) {
      case ElementRun.Stored(var element, var at) -> pointer("x", element, at, true);
      case ElementRun.Product sums -> product = Optional.of(product(sums));
    }
    for (int i = 0; i < run.steps().size(); i++) {
      fields(run.steps().get(i), i + 1);
    }
    ElementType last = run.steps().isEmpty() ? run.source().element() : run.steps().getLast().to();
    pointer("out", last, run.out(), false);
    Optional<ElementFunction.Group> group =
        run.isGrouped() ? Optional.of(group()) : Optional.empty();
    List<Value> values = group.isPresent() ? List.of() : values(Form.SINGLE, run.steps());
    List<Value> wide = values(Form.WIDE, run.steps());
    ElementFunction function =
        new ElementFunction(
            name,
            functions,
            fields,
            run.hasFloats(),
            product,
            product.isPresent() ? 1 : 8,
            counters.entrySet().stream()
                .map(each -> new ElementFunction.Counter(each.getKey(), each.getValue()))
                .toList(),
            scales,
            scalars,
            values,
            wide,
            group,
            "value" + run.steps().size());
    return new Code(function, arguments);
  }

  private ElementFunction.Group group() {
    List<Step> steps = run.steps();
    boolean quantizes = steps.getLast().function() == Function.QUANTIZE;
    return new ElementFunction.Group(
        parts,
        values(Form.GROUPED, quantizes ? steps.subList(0, steps.size() - 1) : steps),
        quantizes ? Optional.of(steps.getLast().to().text()) : Optional.empty());
  }

  /** The variables of an element; the sum of a product is written by itself. */
  private List<Value> values(Form form, List<Step> steps) {
    List<Value> values = new ArrayList<>();
    ElementType last = run.source().element();
    if (run.source() instanceof ElementRun.Stored) {
      String index = form == Form.GROUPED ? "i + e" : "i";
      values.add(new Value(c(last), "value0", form.field("x[" + index + "]")));
    }
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      String before = form.value(i);
      String own = last == step.from() ? before : "(%s)%s".formatted(c(step.from()), before);
      values.add(new Value(variable(step), "value" + (i + 1), value(form, step, i + 1, own)));
      last = step.to();
    }
    return values;
  }

  /** The type of a variable: a word for bytes within limits, which thus aren't extended again. */
  private static String variable(Step step) {
    return step.function() == Function.REQUANTIZE && isWithin(step) ? "int32_t" : c(step.to());
  }

  /** Whether the limits of a requantization are within the type of its results. */
  private static boolean isWithin(Step requantize) {
    return requantize.to().bits() < Integer.SIZE
        && requantize.attribute("low") >= requantize.to().minimum()
        && requantize.attribute("high") <= requantize.to().maximum();
  }

  private ElementFunction.Product product(ElementRun.Product product) {
    pointer("left", product.left(), product.leftAt(), true);
    pointer("right", product.right(), product.rightAt(), true);
    String column = column(product.n());
    String line = product.m() * product.batch() == 1 ? "0" : line(product.n());
    String batch = product.m() == 1 ? line : quotient("i", product.n() * product.m());
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
        product.k(),
        dot(product),
        right.column() == product.k());
  }

  private static Optional<String> dot(ElementRun.Product product) {
    boolean isSigned = product.left() == ElementType.I8;
    boolean isRightSigned = product.right() == ElementType.I8;
    String signs = isSigned == isRightSigned ? isSigned ? "sp" : "up" : isSigned ? "spu" : "usp";
    return product.isOfWords() ? Optional.of("partita_sdot" + signs + "_b") : Optional.empty();
  }

  /** Returns the line of element i. */
  private String line(long size) {
    if (isPower(size)) {
      return quotient("i", size);
    }
    counters.put(size, true);
    return ElementFunction.Counter.line(size);
  }

  /** Returns the place of element i in its line. */
  private String column(long size) {
    if (isPower(size)) {
      return remainder("i", size);
    }
    counters.putIfAbsent(size, false);
    return ElementFunction.Counter.column(size);
  }

  private static boolean isPower(long size) {
    return Long.bitCount(size) == 1;
  }

  /** Of an index, without a division, which takes 30 cycles, if possible. */
  private static String quotient(String dividend, long divisor) {
    if (divisor == 1) {
      return dividend;
    }
    return isPower(divisor)
        ? "(%s >> %d)".formatted(dividend, Long.numberOfTrailingZeros(divisor))
        : "(%s / %d)".formatted(dividend, divisor);
  }

  private static String remainder(String dividend, long divisor) {
    if (divisor == 1) {
      return "0";
    }
    return isPower(divisor)
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

  private void fields(Step step, int number) {
    switch (step.function()) {
      case CAST -> {}
      case REQUANTIZE -> {
        pointer("multiplier" + number, ElementType.I32, step.operands().get(0).pointer(), true);
        pointer("addend" + number, ElementType.I32, step.operands().get(1).pointer(), true);
        String scale =
            "partita_scale(%s, *%s, *%s)"
                .formatted(
                    requantized(step),
                    ARGUMENTS + "multiplier" + number,
                    ARGUMENTS + "addend" + number);
        scales.add(new Variable("scale" + number, scale));
      }
      case LOOKUP ->
          pointer("table" + number, step.to(), step.operands().getFirst().pointer(), true);
      case QUANTIZE -> {
        pointer("scale", ElementType.F32, step.operands().get(0).pointer(), true);
        pointer("zero", step.to(), step.operands().get(1).pointer(), true);
      }
      case ADD, SUB, MUL, MIN, MAX -> operand(step.operands().getFirst(), number);
    }
  }

  /** Tables begin with the entry of the least byte. */
  private static String index(Step lookup, String byteValue) {
    long least = lookup.from().minimum();
    return least == 0 ? "[" + byteValue + "]" : "[" + byteValue + " + " + -least + "]";
  }

  private void operand(Operand operand, int number) {
    if (operand.isValues()) {
      return;
    }
    String field = "operand" + number;
    pointer(field, operand.element(), operand.pointer(), true);
    if (isScalar(operand)) {
      scalars.add(new Value(c(operand.element()), field, "*" + ARGUMENTS + field));
    } else if (operand.period().isPresent()
        && operand.period().get() % ElementFunction.GROUP == 0) {
      String part = field + " + " + column(operand.period().get());
      parts.add(new Value(c(operand.element()), "part" + number, part));
    }
  }

  private static boolean isScalar(Operand operand) {
    return operand.period().equals(Optional.of(1L));
  }

  private String value(Form form, Step step, int number, String before) {
    String type = c(step.to());
    return switch (step.function()) {
      case CAST -> "(%s)%s".formatted(type, before);
      case REQUANTIZE -> requantize(form, step, number, before);
      case LOOKUP -> form.field("table" + number + index(step, before));
      case QUANTIZE ->
          "(%s)partita_level(%s, %s, %d, %d)"
              .formatted(type, LEVELS, before, step.to().minimum(), step.to().maximum());
      case ADD, SUB, MUL, MIN, MAX ->
          binary(step, type, before, operand(form, step.operands().getFirst(), number, before));
    };
  }

  private String operand(Form form, Operand operand, int number, String before) {
    String field = "operand" + number;
    if (operand.isValues()) {
      return before;
    }
    if (isScalar(operand)) {
      return form == Form.WIDE ? "*" + ARGUMENTS + field : field;
    }
    if (form != Form.GROUPED) {
      return form.field(field + "[" + operand.period().map(this::column).orElse("i") + "]");
    }
    return operand
        .period()
        .map(
            each ->
                each % ElementFunction.GROUP == 0
                    ? "part" + number + "[e]"
                    : field + "[" + columnInGroup(each) + "]")
        .orElse(field + "[i + e]");
  }

  /** Returns the place in its line of an element of a group, which the end of a line may break. */
  private String columnInGroup(long size) {
    return size < ElementFunction.GROUP
        ? remainder("(i + e)", size)
        : "partita_wrapped(%s + e, %d)".formatted(column(size), size);
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
      case CAST, REQUANTIZE, LOOKUP, QUANTIZE ->
          throw new IllegalArgumentException(step.function().toString());
    };
  }

  /** Integers wrap. */
  private static String wrapped(String type, String left, String operator, String right) {
    return type.equals("float")
        ? "%s %s %s".formatted(left, operator, right)
        : "(%s)((uint32_t)%s %s (uint32_t)%s)".formatted(type, left, operator, right);
  }

  private static String requantized(Step step) {
    return "partita_requantized(%d, %s, %s)"
        .formatted(
            step.attribute("shift"),
            Expressions.literal(step.attribute("low")),
            Expressions.literal(step.attribute("high")));
  }

  private static String requantize(Form form, Step step, int number, String before) {
    String type = variable(step);
    return form == Form.WIDE
        ? "(%s)partita_requantize(%s, %s, *%s, *%s)"
            .formatted(
                type,
                requantized(step),
                before,
                ARGUMENTS + "multiplier" + number,
                ARGUMENTS + "addend" + number)
        : "(%s)partita_rescale(scale%d, %d, %s, %s, %s)"
            .formatted(
                type,
                number,
                step.attribute("shift"),
                Expressions.literal(step.attribute("low")),
                Expressions.literal(step.attribute("high")),
                before);
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
