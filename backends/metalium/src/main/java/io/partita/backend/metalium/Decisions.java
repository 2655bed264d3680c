package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * What a chip computes depends on numbers that only the chip knows, such as its priority. A kernel
 * on one core computes such a number and gives it to all cores as a word in L1, which gated kernels
 * read first. A priority is its own word: 0 skips, any other runs.
 */
final class Decisions {
  /** Words of all decisions that are in use at a time. */
  static final int WORDS = 8;

  /** Integers up to here are exact in bf16. */
  private static final long LARGEST = 256;

  /** The most elements of which an expression has the largest: each doubles its text. */
  private static final int MOST_COMPARED = 8;

  private final Matrices matrices;
  private final ScheduledBlocks scheduled;
  private final List<Work> steps;
  private final GatedRegions regions;
  private final Map<Node, Integer> numbers = new IdentityHashMap<>();

  /** The last node that needs a word, by the text of its decision. */
  private final Map<String, Integer> lastUses = new HashMap<>();

  private final Map<String, Matrix> made = new HashMap<>();
  private final Map<String, Integer> words = new LinkedHashMap<>();

  /** Sums of columns of a matrix. */
  private final Map<Value, Sum> sums = new IdentityHashMap<>();

  private record Sum(Matrix matrix, long column) {}

  /**
   * @param steps receives the steps that decide
   */
  Decisions(Graph graph, Matrices matrices, ScheduledBlocks scheduled, List<Work> steps) {
    this.scheduled = scheduled;
    this.matrices = matrices;
    this.steps = steps;
    this.regions = GatedRegions.of(graph);
    graph.nodes().forEach(node -> numbers.put(node, numbers.size()));
    for (Node node : graph.nodes()) {
      flags(node).forEach(flag -> lastUses.put(text(flag), numbers.get(node)));
    }
  }

  private List<Value> flags(Node node) {
    List<Value> flags = new ArrayList<>(regions.conditions(node));
    if (isChoice(node)) {
      flags.add(node.operand(0));
    }
    return flags;
  }

  /** Whether a flag chooses between whole operands. */
  static boolean isChoice(Node node) {
    return node.op() instanceof Elementwise.Select
        && node.result().type().element().isFloat()
        && node.operand(0).type().shape().elements() == 1;
  }

  /** A value that is the sum of a column of a matrix. */
  void addSum(Value value, Matrix matrix, long column) {
    sums.put(value, new Sum(matrix, column));
  }

  /** Whether only decisions read a number, so that no step of its own computes it. */
  boolean isPartOfOne(Value value, Map<Value, List<Node>> users) {
    List<Node> readers = users.getOrDefault(value, List.of());
    return value.type().shape().elements() == 1
        && !readers.isEmpty()
        && (sums.containsKey(value) || isExpression(value.definition()))
        && readers.stream()
            .allMatch(
                node ->
                    !(node.op() instanceof Communication)
                        && (!node.result().type().element().isFloat()
                            || isExpression(node) && isPartOfOne(node.result(), users)));
  }

  private static boolean isExpression(Node node) {
    return node.op() instanceof Elementwise.Binary
        || node.op() instanceof Elementwise.Cast
        || node.op() instanceof Movement.Reshape;
  }

  /** The words that must not be 0, so that a device computes a node. */
  List<Integer> gates(Node node) {
    return regions.conditions(node).stream().map(flag -> word(flag, node)).distinct().toList();
  }

  /**
   * The word of a flag, which is decided first.
   *
   * @param node the node that needs it
   */
  int word(Value flag, Node node) {
    String text = text(flag);
    Integer known = words.get(text);
    if (known != null) {
      return known;
    }
    int now = numbers.get(node);
    words.keySet().removeIf(other -> lastUses.get(other) < now);
    int word =
        IntStream.range(0, WORDS)
            .filter(free -> !words.containsValue(free))
            .findFirst()
            .orElseThrow(() -> tooMany(node));
    words.put(text, word);
    made.put(text, decide(decided(flag), OptionalInt.of(word)));
    return word;
  }

  private static PartitaException tooMany(Node node) {
    return new PartitaException(
        MetaliumCode.PROGRAM,
        "node \"" + node.name() + "\"",
        "at most " + WORDS + " conditions at a time",
        "more",
        "compile the model for --target java or siracusa");
  }

  /** A number as the only element of a matrix. */
  Matrix stored(Value value) {
    String text = text(value);
    Matrix known = made.get(text);
    if (known == null) {
      known = decide(decided(value), OptionalInt.empty());
      made.put(text, known);
    }
    return known;
  }

  /** Whether a value is one number that a decision computes. */
  boolean computes(Value value) {
    if (value.type().shape().elements() != 1 || Codes.isByte(value.type())) {
      return false;
    }
    Value from = value;
    while (!from.isInput() && from.definition().op() instanceof Movement.Reshape) {
      from = from.definition().operand(0);
    }
    return sums.containsKey(from) || !from.isInput() && Indices.isInteger(from.type());
  }

  private Matrix decide(Value value, OptionalInt word) {
    Expression expression = new Expression();
    String text = expression.of(value, 0);
    boolean isFloat = value.type().element().isFloat();
    if (!isFloat && expression.largest > LARGEST) {
      throw ModelSteps.unsupported(value.definition());
    }
    Matrix result = matrices.scratch("decision", 1, 1);
    matrices.produces(result, value);
    List<String> sizes = new ArrayList<>();
    expression.operands.forEach(operand -> sizes.add(operand.tileRows() + ""));
    expression.loads.forEach(load -> sizes.add(load.rows() + ""));
    steps.add(
        Step.ofTiles(
                Kind.DECISION,
                value.definition().origin(),
                expression.operands,
                List.of(),
                result,
                scheduled.tiles(result),
                sizes)
            .with(
                new Step.Control(
                    List.of(), word, Optional.of(new Decision(text, expression.loads, isFloat)))));
    return result;
  }

  /** Equal texts are equal decisions. */
  private String text(Value flag) {
    return new Names().of(decided(flag), 0);
  }

  /** The number whose sign a flag is: a priority for {@code priority > 0}. */
  private static Value decided(Value flag) {
    Value value = flag;
    while (!value.isInput() && value.definition().op() instanceof Movement.Reshape) {
      value = value.definition().operand(0);
    }
    if (!value.isInput()
        && value.definition().op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.GREATER
        && isPriority(value.definition().operand(0))
        && Matrices.isZero(value.definition().operand(1))) {
      return value.definition().operand(0);
    }
    return value;
  }

  /** Whether a value is one of some constants, none of which is negative. */
  private static boolean isPriority(Value value) {
    if (value.isInput() || !Indices.isInteger(value.type())) {
      return false;
    }
    Node node = value.definition();
    return node.op() instanceof Elementwise.Select
            && isPriority(node.operand(1))
            && isPriority(node.operand(2))
        || node.constant().filter(data -> data.size() == 1 && data.getLong(0) >= 0).isPresent();
  }

  /** Prints numbers; elements of other matrices have names. */
  private abstract class Printer {
    /** The largest integer constant. */
    long largest = 1;

    abstract String load(Value value, long element);

    String of(Value value, long element) {
      if (sums.containsKey(value) || value.isInput()) {
        return load(value, element);
      }
      Node node = value.definition();
      return switch (node.op()) {
        case Movement.Reshape reshape -> of(node.operand(0), element);
        case Elementwise.Cast cast
            when value.type().element().isFloat() == node.operand(0).type().element().isFloat() ->
            of(node.operand(0), element);
        case Communication.Gate gate -> of(node.operand(0), element);
        case Movement.Slice slice when value.type().rank() == 1 ->
            of(
                node.operand(0),
                slice.starts().getFirst().value() + element * slice.steps().getFirst());
        case Elementwise.Select select -> select(node, value.type().shape(), element);
        case Elementwise.Unary(UnaryFunction function) when function == UnaryFunction.NOT ->
            not(of(node.operand(0), element));
        case Elementwise.Binary(BinaryFunction function) ->
            binary(node, function, value.type().shape(), element);
        case Reduction.Reduce(ReductionKind kind, var axes, var kept)
            when kind == ReductionKind.MAX
                && value.type().shape().elements() == 1
                && node.operand(0).type().shape().elements() <= MOST_COMPARED ->
            largest(node);
        default ->
            node.constant()
                .map(data -> constant(data, Math.toIntExact(element)))
                .orElseGet(() -> load(value, element));
      };
    }

    private static String not(String flag) {
      return switch (flag) {
        case "0" -> "1";
        case "1" -> "0";
        default -> "!" + flag;
      };
    }

    private String constant(Tensor data, int element) {
      if (data.element().isFloat()) {
        return (float) data.getDouble(element) + "f";
      }
      largest = Math.max(largest, Math.abs(data.getLong(element)));
      return Long.toString(data.getLong(element));
    }

    /** The element of an operand that broadcasts to a shape of at most one dimension above 1. */
    private String broadcast(Value operand, Shape shape, long element) {
      long count = operand.type().shape().elements();
      if (count != 1 && count != shape.elements()) {
        throw ModelSteps.unsupported(operand.definition());
      }
      return of(operand, count == 1 ? 0 : element);
    }

    private String select(Node node, Shape shape, long element) {
      String condition = broadcast(node.operand(0), shape, element);
      return switch (condition) {
        case "0" -> broadcast(node.operand(2), shape, element);
        case "1" -> broadcast(node.operand(1), shape, element);
        default -> {
          String chosen = broadcast(node.operand(1), shape, element);
          String other = broadcast(node.operand(2), shape, element);
          yield chosen.equals("1") && other.equals("0")
              ? condition
              : "(" + condition + " ? " + chosen + " : " + other + ")";
        }
      };
    }

    private String binary(Node node, BinaryFunction function, Shape shape, long element) {
      String left = broadcast(node.operand(0), shape, element);
      String right = broadcast(node.operand(1), shape, element);
      String sign =
          switch (function) {
            case ADD -> "+";
            case SUB -> "-";
            case MUL -> "*";
            case AND -> "&&";
            case OR -> "||";
            case EQUAL -> "==";
            case LESS -> "<";
            case LESS_OR_EQUAL -> "<=";
            case GREATER -> ">";
            case GREATER_OR_EQUAL -> ">=";
            default -> throw ModelSteps.unsupported(node);
          };
      return "(" + left + " " + sign + " " + right + ")";
    }

    private String largest(Node node) {
      Value operand = node.operand(0);
      String text = of(operand, 0);
      for (long element = 1; element < operand.type().shape().elements(); element++) {
        String other = of(operand, element);
        text = "(" + text + " > " + other + " ? " + text + " : " + other + ")";
      }
      return text;
    }
  }

  private final class Names extends Printer {
    @Override
    String load(Value value, long element) {
      return (value.isInput() ? value.name() : "node " + numbers.get(value.definition()))
          + "["
          + element
          + "]";
    }
  }

  private final class Expression extends Printer {
    private final List<Matrix> operands = new ArrayList<>();
    private final List<Decision.Load> loads = new ArrayList<>();

    @Override
    String load(Value value, long element) {
      boolean isFloat = value.type().element().isFloat();
      Optional<Sum> sum = Optional.ofNullable(sums.get(value));
      Matrix matrix =
          sum.map(Sum::matrix)
              .or(() -> matrices.find(value))
              .orElseThrow(
                  () ->
                      value.isInput()
                          ? new IllegalStateException(value.name() + " isn't on the chip")
                          : ModelSteps.unsupported(value.definition()));
      if (!operands.contains(matrix)) {
        operands.add(matrix);
      }
      int operand = operands.indexOf(matrix);
      Decision.Load load =
          sum.map(all -> new Decision.Load(operand, 0, all.column, matrix.rows(), true))
              .orElseGet(
                  () ->
                      new Decision.Load(
                          operand,
                          element / matrix.columns(),
                          element % matrix.columns(),
                          0,
                          isFloat));
      if (!loads.contains(load)) {
        loads.add(load);
      }
      return "x" + loads.indexOf(load);
    }
  }
}
