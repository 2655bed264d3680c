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
  private final Matrices matrices;
  private final Indices indices;
  private final ScheduledBlocks scheduled;

  private final List<Work> steps = new ArrayList<>();
  private Operands operands;
  private Decisions decisions;
  private Epilogues functions;
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
    functions = new Epilogues(matrices, operands, this::step);
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
            epilogues.addFirst(Epilogues.ROUNDING);
        case Elementwise.Binary(BinaryFunction function)
            when function == BinaryFunction.BIT_AND
                || function == BinaryFunction.SHIFT_LEFT
                || function == BinaryFunction.SHIFT_RIGHT ->
            functions.bits(function, node).reversed().forEach(epilogues::addFirst);
        case Elementwise.Binary(BinaryFunction function)
            when VectorFunctions.BINARY.containsKey(function)
                || function == BinaryFunction.BIT_OR -> {
          int chain = functions.chain(node);
          epilogues.addFirst(functions.binary(function, node, chain));
          node = next(node, chain);
          if (node == null) {
            return elementwise(last, epilogues);
          }
          continue;
        }
        case Elementwise.Select select -> {
          boolean isByHost = matrices.isHosted(node.operand(0));
          int chain = isByHost && Epilogues.number(node.operand(1)).isPresent() ? 2 : 1;
          List<Epilogue> chosen =
              isByHost ? functions.selection(node, chain) : List.of(functions.selection(node));
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

  private Step elementwise(Node last, Deque<Epilogue> epilogues) {
    Epilogues.requirePadding(last, epilogues);
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
      if (!Epilogues.isSame(node.operand(1 + i), node.result())
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
    Epilogues.requirePadding(last, epilogues);
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
