package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.StepMeaning;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the kernels of the steps of a schedule. */
final class ModelSteps {
  /** Functions of the vector engine. */
  private static final Map<UnaryFunction, String> UNARY =
      Map.of(
          UnaryFunction.ABS, "abs",
          UnaryFunction.EXP, "exp",
          UnaryFunction.GELU, "gelu",
          UnaryFunction.RECIPROCAL, "recip",
          UnaryFunction.SIGMOID, "sigmoid",
          UnaryFunction.SILU, "silu",
          UnaryFunction.SQRT, "sqrt",
          UnaryFunction.TANH, "tanh");

  private static final Map<BinaryFunction, String> BINARY =
      Map.of(
          BinaryFunction.ADD, "add_binary",
          BinaryFunction.SUB, "sub_binary",
          BinaryFunction.MUL, "mul_binary",
          BinaryFunction.DIV, "div_binary",
          BinaryFunction.MAX, "binary_max");

  private static final Set<BinaryFunction> COMMUTATIVE =
      Set.of(BinaryFunction.ADD, BinaryFunction.MUL, BinaryFunction.MAX);

  private final Matrices matrices;

  /** The operand at which the current chain of functions begins, so far. */
  private Value start;

  ModelSteps(Matrices matrices) {
    this.matrices = matrices;
  }

  /**
   * Returns the steps of a run, in order.
   *
   * @throws PartitaException with {@link MetaliumCode}s
   */
  List<Step> of(ChipSchedule role) {
    StepMeaning meaning = role.meaning().orElseThrow();
    Graph graph = meaning.graphs().getFirst();
    graph.inputs().forEach(matrices::input);
    List<Step> steps = new ArrayList<>();
    meaning.results().stream()
        .sorted(Comparator.comparingInt(StepMeaning.Result::step))
        .forEach(
            result -> {
              Node node = graph.nodes().get(result.node());
              Value value = node.results().get(result.index());
              if (matrices.find(value).isEmpty()) {
                steps.add(step(node));
              }
            });
    return steps;
  }

  private Step step(Node last) {
    Deque<Epilogue> epilogues = new ArrayDeque<>();
    Node node = last;
    while (true) {
      switch (node.op()) {
        case Structured.Linear linear -> {
          return product(linear, node, last, epilogues);
        }
        case Structured.Norm norm when epilogues.isEmpty() -> {
          return norm(norm, node);
        }
        case Reduction.Softmax softmax when epilogues.isEmpty() -> {
          return softmax(softmax, node);
        }
        case Elementwise.Unary(UnaryFunction function) when UNARY.containsKey(function) ->
            epilogues.addFirst(new Epilogue(UNARY.get(function), Optional.empty(), false, false));
        case Elementwise.Binary(BinaryFunction function) when BINARY.containsKey(function) -> {
          int chain = matrices.find(node.operand(0)).isEmpty() || isRow(node, 1) ? 0 : 1;
          chain = matrices.find(node.operand(1)).isEmpty() ? 1 : chain;
          boolean isRow = isRow(node, 1 - chain);
          Value other = node.operand(1 - chain);
          Optional<Matrix> operand = isRow ? matrices.row(other) : matrices.find(other);
          boolean fits =
              isRow
                  || isSame(other, node.result())
                      && Matrices.columns(other.type()) == Matrices.columns(node.result().type());
          if (operand.isEmpty() || !fits || !isSame(node.operand(chain), node.result())) {
            throw unsupported(node);
          }
          epilogues.addFirst(
              new Epilogue(
                  BINARY.get(function),
                  operand,
                  isRow,
                  chain == 1 && !COMMUTATIVE.contains(function)));
          node = next(node, chain);
          if (node == null) {
            return elementwise(last, epilogues);
          }
          continue;
        }
        default -> {
          if (!matrices.isTransparent(node)) {
            throw unsupported(node);
          }
        }
      }
      node = next(node, 0);
      if (node == null) {
        return elementwise(last, epilogues);
      }
    }
  }

  /** The node before in a chain, or null if its result is in DRAM. */
  private Node next(Node node, int operand) {
    start = node.operand(operand);
    return matrices.find(start).isPresent() ? null : start.definition();
  }

  private static boolean isSame(Value value, Value result) {
    return value.type().shape().elements() == result.type().shape().elements();
  }

  /** Whether an operand is a vector that broadcasts over several rows. */
  private static boolean isRow(Node node, int operand) {
    Value value = node.operand(operand);
    return !isSame(value, node.result())
        && value.type().shape().elements() == Matrices.columns(node.result().type());
  }

  private Step elementwise(Node last, Deque<Epilogue> epilogues) {
    return new Step(
        Kind.ELEMENTWISE,
        last.origin(),
        List.of(matrices.find(start).orElseThrow()),
        List.copyOf(epilogues),
        matrices.result(last.result()),
        0,
        0);
  }

  private Step product(Structured.Linear linear, Node node, Node last, Deque<Epilogue> epilogues) {
    Optional<Matrix> x = matrices.find(node.operand(0));
    Optional<Matrix> weight =
        linear.transposed() ? matrices.transposed(node.operand(1)) : matrices.find(node.operand(1));
    List<Epilogue> all = new ArrayList<>();
    if (linear.bias()) {
      Matrix bias = matrices.row(node.operand(2)).orElseThrow(() -> unsupported(node));
      all.add(new Epilogue("add_binary", Optional.of(bias), true, false));
    }
    all.addAll(epilogues);
    if (x.isEmpty() || weight.isEmpty()) {
      throw unsupported(node);
    }
    return new Step(
        Kind.LINEAR,
        last.origin(),
        List.of(x.get(), weight.get()),
        all,
        matrices.result(last.result()),
        x.get().columns(),
        0);
  }

  private Step norm(Structured.Norm norm, Node node) {
    Value x = node.operand(0);
    boolean isOfRows = norm.axis() == x.type().rank() - 1;
    if (norm.kind() != Structured.NormKind.RMS || !isOfRows || !norm.scale() || norm.bias()) {
      throw unsupported(node);
    }
    return new Step(
        Kind.RMS_NORM,
        node.origin(),
        List.of(
            matrices.find(x).orElseThrow(() -> unsupported(node)),
            matrices.find(node.operand(1)).orElseThrow(() -> unsupported(node)),
            matrices.filled("mean", 1.0 / Matrices.columns(x.type()))),
        List.of(),
        matrices.result(node.result()),
        0,
        norm.epsilon());
  }

  private Step softmax(Reduction.Softmax softmax, Node node) {
    Value x = node.operand(0);
    if (softmax.logarithm() || softmax.axis() != x.type().rank() - 1) {
      throw unsupported(node);
    }
    return new Step(
        Kind.SOFTMAX,
        node.origin(),
        List.of(matrices.find(x).orElseThrow(() -> unsupported(node)), matrices.filled("ones", 1)),
        List.of(),
        matrices.result(node.result()),
        0,
        0);
  }

  private static PartitaException unsupported(Node node) {
    return new PartitaException(
        MetaliumCode.OPERATION,
        "node \"" + node.name() + "\"",
        "a product with a weight, an RMS norm or softmax of rows, or a function of elements of the"
            + " vector engine",
        node.op().mnemonic()
            + node.operands().stream()
                .map(operand -> operand.type().toString())
                .collect(Collectors.joining(", ", " of ", "")),
        "compile the model for --target java, which supports all operations");
  }
}
