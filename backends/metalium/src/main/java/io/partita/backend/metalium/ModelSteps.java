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
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the kernels of the steps of a schedule. */
final class ModelSteps {
  private static final Epilogue ROUNDING = Epilogue.of(VectorFunctions.ROUND_TO_INTEGER);

  private final Matrices matrices;
  private final Indices indices;
  private final ScheduledBlocks scheduled;

  private final List<Work> steps = new ArrayList<>();
  private Operands operands;
  private Decisions decisions;
  private DecoderSteps decoder;
  private RowSteps rows;
  private LookupSteps lookups;
  private CentroidSteps centroids;

  /** Attentions of which one kernel computes the approximation and the exact one, by the former. */
  private final Map<Node, SpeculatedAttention> speculated = new IdentityHashMap<>();

  /** Nodes that these kernels compute too. */
  private final Set<Node> covered = new HashSet<>();

  /** The operand at which the current chain of functions begins, so far. */
  private Value start;

  ModelSteps(Matrices matrices, Indices indices, ScheduledBlocks scheduled) {
    this.matrices = matrices;
    this.indices = indices;
    this.scheduled = scheduled;
  }

  /**
   * Returns what a chip does in a run, in order.
   *
   * @param graph the graph of the chip
   * @param results the values that the steps of its schedule complete
   * @throws PartitaException with {@link MetaliumCode}s
   */
  List<Work> of(Graph graph, List<StepMeaning.Result> results, Set<String> states) {
    Map<Value, List<Node>> users = graph.readers();
    decisions = new Decisions(graph, matrices, scheduled, steps);
    operands = new Operands(matrices, scheduled, steps, decisions);
    decoder = new DecoderSteps(matrices, operands, indices, users, scheduled);
    rows = new RowSteps(matrices, operands, scheduled);
    lookups = new LookupSteps(matrices, operands, indices, scheduled);
    centroids = new CentroidSteps(matrices, operands, scheduled);
    for (SpeculatedAttention attention : SpeculatedAttention.of(graph, users)) {
      speculated.put(attention.guess(), attention);
      if (attention.isSent()) {
        speculated.put(attention.exact(), attention);
      }
      covered.addAll(attention.covered());
    }
    for (Value input : graph.inputs()) {
      if (Indices.isInteger(input.type()) || isEmpty(input)) {
        continue;
      }
      if (states.contains(input.name())) {
        matrices.state(input);
      } else {
        matrices.input(input);
      }
    }
    Deque<Node> exchanges =
        graph.nodes().stream()
            .filter(node -> node.op() instanceof Communication.Exchange)
            .collect(Collectors.toCollection(ArrayDeque::new));
    Map<Node, Integer> places = new IdentityHashMap<>();
    graph.nodes().forEach(node -> places.put(node, places.size()));
    results.stream()
        .sorted(Comparator.comparingInt(StepMeaning.Result::step))
        .forEach(
            result -> {
              // An exchange without a result isn't among the results.
              while (!exchanges.isEmpty() && places.get(exchanges.peek()) <= result.node()) {
                steps.add(operands.exchange(exchanges.poll(), users));
              }
              Value value = graph.nodes().get(result.node()).results().get(result.index());
              if (!isEmpty(value) && isOfStep(value, users) && operands.of(value).isEmpty()) {
                operands.add(value.definition(), step(value.definition()));
              }
            });
    exchanges.forEach(exchange -> steps.add(operands.exchange(exchange, users)));
    // An output may be another shape of a result.
    graph.outputs().stream()
        .map(Graph.Output::value)
        .filter(value -> !isEmpty(value))
        .forEach(operands::of);
    return List.copyOf(steps);
  }

  /** Whether a value has no elements, such as a cache of no tokens. */
  private static boolean isEmpty(Value value) {
    return value.type().shape().elements() == 0;
  }

  /** Whether steps compute a value as a matrix, not as a part of a decision or of another step. */
  private boolean isOfStep(Value value, Map<Value, List<Node>> users) {
    return value.isInput()
        || !matrices.isHosted(value)
            && (!Indices.isInteger(value.type()) || Codes.isComputed(value))
            && !covered.contains(value.definition())
            && !decisions.isPartOfOne(value, users);
  }

  private Step step(Node last) {
    if (Decisions.isChoice(last)) {
      return choice(last);
    }
    Deque<Epilogue> epilogues = new ArrayDeque<>();
    Node node = last;
    while (true) {
      switch (node.op()) {
        case Structured.Linear linear -> {
          return product(linear, node, last, epilogues);
        }
        case Structured.Norm norm when epilogues.isEmpty() -> {
          return rows.norm(norm, node);
        }
        case Reduction.Softmax softmax when epilogues.isEmpty() -> {
          return rows.softmax(softmax, node);
        }
        case Reduction.Reduce reduce when epilogues.isEmpty() -> {
          return rows.mean(reduce, node);
        }
        case Structured.Embedding embedding when epilogues.isEmpty() -> {
          return lookups.rows(node, 0);
        }
        case Movement.Gather(int axis) when epilogues.isEmpty() -> {
          return lookups.rows(node, axis);
        }
        case Contraction.NearestCentroid nearest when epilogues.isEmpty() -> {
          return centroids.nearest(nearest, node);
        }
        case Structured.RotaryEmbedding rotary when epilogues.isEmpty() -> {
          return decoder.rotary(rotary, node);
        }
        case Structured.CacheUpdate update when epilogues.isEmpty() -> {
          return decoder.cacheUpdate(update, node);
        }
        case Structured.Attention attention when epilogues.isEmpty() && !attention.isInteger() -> {
          return speculated.containsKey(node)
              ? speculated(node, speculated.get(node))
              : decoder.attention(attention, node);
        }
        case Elementwise.Unary(UnaryFunction function)
            when VectorFunctions.UNARY.containsKey(function) ->
            epilogues.addFirst(Epilogue.of(VectorFunctions.UNARY.get(function)));
        case Elementwise.Unary(UnaryFunction function) when function == UnaryFunction.ROUND ->
            epilogues.addFirst(ROUNDING);
        case Elementwise.Binary(BinaryFunction function)
            when function == BinaryFunction.BIT_AND
                || function == BinaryFunction.SHIFT_LEFT
                || function == BinaryFunction.SHIFT_RIGHT ->
            bits(function, node).reversed().forEach(epilogues::addFirst);
        case Elementwise.Binary(BinaryFunction function)
            when VectorFunctions.BINARY.containsKey(function)
                || function == BinaryFunction.BIT_OR -> {
          int chain = chain(node);
          epilogues.addFirst(binary(arithmetic(function, node), node, chain));
          node = next(node, chain);
          if (node == null) {
            return elementwise(last, epilogues);
          }
          continue;
        }
        case Elementwise.Select select -> {
          boolean isByHost = matrices.isHosted(node.operand(0));
          int chain = isByHost && number(node.operand(1)).isPresent() ? 2 : 1;
          List<Epilogue> chosen = isByHost ? selection(node, chain) : List.of(selection(node));
          chosen.reversed().forEach(epilogues::addFirst);
          node = next(node, chain);
          if (node == null) {
            return elementwise(last, epilogues);
          }
          continue;
        }
        default -> {
          if (matrices.isRounding(node)) {
            epilogues.addFirst(Epilogue.of(VectorFunctions.ROUND_TO_BF16));
          } else if (!matrices.isTransparent(node) && !isSameRows(node)) {
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

  private Step speculated(Node node, SpeculatedAttention attention) {
    if (!attention.isSent()) {
      return decoder.speculatedAttention(attention, decisions);
    }
    return node == attention.guess()
        ? decoder.earlyAttention(attention)
        : decoder.verifyingAttention(attention, decisions);
  }

  /** The operand whose computation comes before, so that the other one is read from DRAM. */
  private int chain(Node node) {
    for (int other = 0; other < 2; other++) {
      if (!isSame(node.operand(other), node.result()) || matrices.isHosted(node.operand(other))) {
        return 1 - other;
      }
    }
    int chain = operands.of(node.operand(0)).isEmpty() ? 0 : 1;
    return operands.of(node.operand(1)).isEmpty() ? 1 : chain;
  }

  /** Whether an operand is a constant whose elements all count several times. */
  private static boolean isRepeated(Node node, int operand) {
    Value value = node.operand(operand);
    return !isSame(value, node.result()) && Matrices.constant(value).isPresent();
  }

  /** Whether an operand is one constant number, and the result isn't. */
  private static boolean isScalar(Node node, int operand) {
    return isRepeated(node, operand) && node.operand(operand).type().shape().elements() == 1;
  }

  private static long columns(Node node) {
    return Matrices.columns(node.result().type());
  }

  private Epilogue binary(BinaryFunction function, Node node, int chain) {
    int other = 1 - chain;
    boolean isRow =
        isScalar(node, other)
            || isRow(node, other) && Matrices.constant(node.operand(other)).isPresent();
    Optional<Matrix> operand =
        isSame(node.operand(chain), node.result()) ? other(node, other, isRow) : Optional.empty();
    return new Epilogue(
        VectorFunctions.BINARY.get(function),
        Optional.of(operand.orElseThrow(() -> unsupported(node))),
        isRow,
        chain == 1 && !VectorFunctions.COMMUTATIVE.contains(function));
  }

  /** The operand that is read from DRAM, with the elements of the result, or with one row. */
  private Optional<Matrix> other(Node node, int operand, boolean isRow) {
    Value value = node.operand(operand);
    TensorType type = node.result().type();
    if (isSame(value, node.result())) {
      boolean fits = Matrices.columns(value.type()) == columns(node);
      return fits ? operands.of(value) : Optional.empty();
    }
    if (isScalar(node, operand)) {
      return number(value).map(number -> matrices.scalar(number, columns(node)));
    }
    if (isRow) {
      return matrices.row(value);
    }
    if (isRepeated(node, operand)) {
      return Optional.of(matrices.repeated(value, type));
    }
    return matrices.isHosted(value)
        ? Optional.of(matrices.hosted(value, type.shape()))
        : operands.broadcast(node, operand);
  }

  /** Elements that constant flags choose instead of zeros: products with ones and zeros. */
  private Epilogue selection(Node node) {
    if (!isRepeated(node, 0)
        || !Matrices.isZero(node.operand(2))
        || !isSame(node.operand(1), node.result())) {
      throw unsupported(node);
    }
    Matrix flags = matrices.repeated(node.operand(0), node.result().type());
    return Epilogue.of(BinaryFunction.MUL, flags, false);
  }

  /**
   * Elements that flags of the host choose instead of one number: {@code x f + c (1 - f)}.
   *
   * @param chain the operand of these elements
   */
  private List<Epilogue> selection(Node node, int chain) {
    Value flags = node.operand(0);
    double number = number(node.operand(3 - chain)).orElseThrow(() -> unsupported(node));
    Shape shape = node.result().type().shape();
    if (!isSame(node.operand(chain), node.result())) {
      throw unsupported(node);
    }
    List<Epilogue> all = new ArrayList<>();
    Matrix kept = matrices.chosen(flags, chain == 1, 1, shape);
    all.add(Epilogue.of(BinaryFunction.MUL, kept, false));
    if (number != 0) {
      Matrix others = matrices.chosen(flags, chain != 1, number, shape);
      all.add(Epilogue.of(BinaryFunction.ADD, others, false));
    }
    return all;
  }

  private static Optional<Double> number(Value value) {
    return Matrices.constant(value).filter(data -> data.size() == 1).map(data -> data.getDouble(0));
  }

  /** Of codes that have no bit in common, the bitwise sum is the sum. */
  private static BinaryFunction arithmetic(BinaryFunction function, Node node) {
    if (function != BinaryFunction.BIT_OR) {
      return function;
    }
    if (!Codes.areDisjoint(node)) {
      throw unsupported(node);
    }
    return BinaryFunction.ADD;
  }

  private Epilogue scalar(BinaryFunction function, double number, long columns) {
    return Epilogue.of(function, matrices.scalar(number, columns), true);
  }

  /** The largest integer up to {@code x / 2^bits}, of codes. */
  private List<Epilogue> quotient(long bits, long columns) {
    double unit = Math.scalb(1.0, Math.toIntExact(-bits));
    List<Epilogue> all = new ArrayList<>();
    all.add(scalar(BinaryFunction.MUL, unit, columns));
    // The remainder becomes less than a half on both sides.
    all.add(scalar(BinaryFunction.SUB, (1 - unit) / 2, columns));
    all.add(ROUNDING);
    return all;
  }

  /** Functions of bits of codes, by arithmetic that is exact. */
  private List<Epilogue> bits(BinaryFunction function, Node node) {
    Value x = node.operand(0);
    long number = Codes.constant(node.operand(1)).orElseThrow(() -> unsupported(node));
    if (Codes.range(node.result()).isEmpty() || !isSame(x, node.result())) {
      throw unsupported(node);
    }
    return switch (function) {
      case SHIFT_RIGHT -> quotient(number, columns(node));
      case SHIFT_LEFT ->
          List.of(scalar(BinaryFunction.MUL, Math.scalb(1.0, (int) number), columns(node)));
      default -> remainder(node, number);
    };
  }

  /** The lowest bits of a code: what the multiple of a power of two leaves. */
  private List<Epilogue> remainder(Node node, long mask) {
    Value x = node.operand(0);
    if (Long.bitCount(mask + 1) != 1) {
      throw unsupported(node);
    }
    if (Codes.range(x).orElseThrow().most() <= mask) {
      return List.of();
    }
    List<Epilogue> all = new ArrayList<>(quotient(Long.bitCount(mask), columns(node)));
    all.add(scalar(BinaryFunction.MUL, -(mask + 1), columns(node)));
    // The number is read twice, so a step of its own computes it.
    if (operands.of(x).isEmpty()) {
      operands.add(x.definition(), step(x.definition()));
    }
    all.add(Epilogue.of(BinaryFunction.ADD, operands.required(node, 0), false));
    return all;
  }

  /** The node before in a chain, or null if its result is in DRAM. */
  private Node next(Node node, int operand) {
    start = node.operand(operand);
    return operands.of(start).isPresent() ? null : start.definition();
  }

  /** Whether a node changes dimensions before the last one only. */
  private static boolean isSameRows(Node node) {
    return node.op() instanceof Movement.Reshape
        && Matrices.columns(node.operand(0).type()) == Matrices.columns(node.result().type());
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
    requirePadding(last, epilogues);
    Matrix result = matrices.result(last.result());
    return Step.ofTiles(
        Kind.ELEMENTWISE,
        last.origin(),
        List.of(matrices.find(start).orElseThrow()),
        List.copyOf(epilogues),
        result,
        scheduled.tiles(last.result(), result),
        List.of());
  }

  /** After functions that make other numbers of zeros, a product with zeros makes zeros again. */
  private static void requirePadding(Node last, Iterable<Epilogue> epilogues) {
    boolean isZero = true;
    boolean isFinite = true;
    for (Epilogue epilogue : epilogues) {
      String function = epilogue.function();
      isFinite &= VectorFunctions.FINITE.contains(function);
      isZero =
          isFinite && epilogue.operand().isPresent() && function.equals("mul_binary")
              || isZero && VectorFunctions.ZERO_AT_ZERO.contains(function);
    }
    if (!isZero) {
      Matrices.requireWholeTiles(last.result());
    }
  }

  /** The operand that a flag chooses; a constant 0 has no matrix. */
  private Step choice(Node node) {
    int word = decisions.word(node.operand(0), node);
    Matrix result = matrices.result(node.result());
    List<Matrix> inputs = new ArrayList<>(List.of(operands.required(node, 1)));
    Value other = node.operand(2);
    if (!Matrices.isZero(other)) {
      inputs.add(operands.required(node, 2));
    }
    for (int i = 0; i < inputs.size(); i++) {
      if (!isSame(node.operand(1 + i), node.result())
          || inputs.get(i).columns() != result.columns()) {
        throw unsupported(node);
      }
    }
    Step.Control control = new Step.Control(List.of(), OptionalInt.of(word), Optional.empty());
    TileBlocks blocks = scheduled.tiles(result);
    return Step.ofTiles(Kind.CHOICE, node.origin(), inputs, List.of(), result, blocks, List.of())
        .with(control);
  }

  private Step product(Structured.Linear linear, Node node, Node last, Deque<Epilogue> epilogues) {
    requirePadding(last, epilogues);
    Optional<Matrix> x = operands.of(node.operand(0));
    Optional<Matrix> weight = matrices.weight(node.operand(1), linear.transposed());
    if (weight.isEmpty() && !linear.transposed()) {
      weight = operands.of(node.operand(1)).map(matrix -> operands.withZeros(node, matrix));
    }
    List<Epilogue> all = new ArrayList<>();
    if (linear.bias()) {
      Matrix bias = matrices.row(node.operand(2)).orElseThrow(() -> unsupported(node));
      all.add(Epilogue.of(BinaryFunction.ADD, bias, true));
    }
    all.addAll(epilogues);
    if (x.isEmpty() || weight.isEmpty()) {
      throw unsupported(node);
    }
    Matrix result = matrices.result(last.result());
    ProductBlocks blocks = scheduled.product(last, node);
    boolean hasOperands = all.stream().anyMatch(epilogue -> epilogue.operand().isPresent());
    ProductBlocks.Part part = blocks.part(hasOperands);
    List<String> sizes =
        Stream.of(
                blocks.rows().pages(),
                blocks.columns().pages(),
                blocks.depth().pages(),
                blocks.rows().block(),
                blocks.columns().block(),
                blocks.depth().block(),
                part.rows(),
                part.columns(),
                blocks.rows().round(),
                blocks.columns().round())
            .map(Object::toString)
            .toList();
    return new Step(
        Kind.LINEAR,
        last.origin(),
        List.of(x.get(), weight.get()),
        all,
        result,
        sizes,
        List.of(),
        blocks);
  }

  static PartitaException unsupported(Node node) {
    return new PartitaException(
        MetaliumCode.OPERATION,
        "node \"" + node.name() + "\"",
        "a product with a weight, a norm or softmax of rows, or a function of elements of the"
            + " vector engine",
        node.op().mnemonic()
            + node.operands().stream()
                .map(operand -> operand.type().toString())
                .collect(Collectors.joining(", ", " of ", "")),
        "compile the model for --target java, which supports all operations");
  }
}
