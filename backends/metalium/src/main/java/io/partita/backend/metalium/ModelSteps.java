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
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.type.TensorType;
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
  private final Matrices matrices;
  private final Indices indices;
  private final long cores;
  private Map<Value, List<Node>> users = Map.of();
  private final List<Step> steps = new ArrayList<>();

  /** The operand at which the current chain of functions begins, so far. */
  private Value start;

  ModelSteps(Matrices matrices, Indices indices, long cores) {
    this.matrices = matrices;
    this.indices = indices;
    this.cores = cores;
  }

  /**
   * Returns the steps of a run, in order.
   *
   * @throws PartitaException with {@link MetaliumCode}s
   */
  List<Step> of(ChipSchedule role, Set<String> states) {
    StepMeaning meaning = role.meaning().orElseThrow();
    Graph graph = meaning.graphs().getFirst();
    users = graph.readers();
    for (Value input : graph.inputs()) {
      if (Indices.isInteger(input.type())) {
        indices.add(input);
      } else if (states.contains(input.name())) {
        matrices.state(input);
      } else {
        matrices.input(input);
      }
    }
    meaning.results().stream()
        .sorted(Comparator.comparingInt(StepMeaning.Result::step))
        .forEach(
            result -> {
              Node node = graph.nodes().get(result.node());
              Value value = node.results().get(result.index());
              if (!Indices.isInteger(value.type()) && operand(value).isEmpty()) {
                steps.add(step(node));
              }
            });
    // An output may be another shape of a result.
    graph.outputs().forEach(output -> operand(output.value()));
    return List.copyOf(steps);
  }

  /** The matrix of a value; a value of the same elements in another shape is rearranged first. */
  private Optional<Matrix> operand(Value value) {
    Optional<Matrix> found = matrices.find(value);
    if (found.isPresent() || value.isInput()) {
      return found;
    }
    Optional<Rearrangement> rearrangement = Rearrangement.of(value.definition());
    if (rearrangement.isEmpty()) {
      return found;
    }
    Optional<Matrix> from = operand(value.definition().operand(0));
    return from.map(
        x -> {
          Matrix to = matrices.result(value);
          steps.add(
              new Step(
                  Kind.REARRANGE,
                  value.definition().origin(),
                  List.of(x),
                  List.of(),
                  to,
                  rearrangement.get().sizes(to, x),
                  List.of(),
                  to.tileRows() * to.tileColumns(),
                  1,
                  1));
          return to;
        });
  }

  private Matrix required(Node node, int operand) {
    return operand(node.operand(operand)).orElseThrow(() -> unsupported(node));
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
        case Structured.Embedding embedding when epilogues.isEmpty() -> {
          return gather(node);
        }
        case Movement.Gather(int axis) when epilogues.isEmpty() && axis == 0 -> {
          return gather(node);
        }
        case Structured.RotaryEmbedding rotary when epilogues.isEmpty() -> {
          return rotary(rotary, node);
        }
        case Structured.CacheUpdate update when epilogues.isEmpty() -> {
          return cacheUpdate(update, node);
        }
        case Structured.Attention attention when epilogues.isEmpty() -> {
          return attention(attention, node);
        }
        case Elementwise.Unary(UnaryFunction function)
            when VectorFunctions.UNARY.containsKey(function) ->
            epilogues.addFirst(
                new Epilogue(VectorFunctions.UNARY.get(function), Optional.empty(), false, false));
        case Elementwise.Binary(BinaryFunction function)
            when VectorFunctions.BINARY.containsKey(function) -> {
          int chain = operand(node.operand(0)).isEmpty() || isRow(node, 1) ? 0 : 1;
          chain = operand(node.operand(1)).isEmpty() ? 1 : chain;
          boolean isRow = isRow(node, 1 - chain);
          Value other = node.operand(1 - chain);
          Optional<Matrix> operand = isRow ? matrices.row(other) : operand(other);
          boolean fits =
              isRow
                  || isSame(other, node.result())
                      && Matrices.columns(other.type()) == Matrices.columns(node.result().type());
          if (operand.isEmpty() || !fits || !isSame(node.operand(chain), node.result())) {
            throw unsupported(node);
          }
          epilogues.addFirst(
              new Epilogue(
                  VectorFunctions.BINARY.get(function),
                  operand,
                  isRow,
                  chain == 1 && !VectorFunctions.COMMUTATIVE.contains(function)));
          node = next(node, chain);
          if (node == null) {
            return elementwise(last, epilogues);
          }
          continue;
        }
        default -> {
          if (!matrices.isTransparent(node) && !isSameRows(node)) {
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
    return operand(start).isPresent() ? null : start.definition();
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
    return ofTiles(
        Kind.ELEMENTWISE,
        last,
        List.of(matrices.find(start).orElseThrow()),
        List.copyOf(epilogues),
        result,
        List.of(result.tileColumns() + ""));
  }

  private static void requirePadding(Node last, Iterable<Epilogue> epilogues) {
    for (Epilogue epilogue : epilogues) {
      if (!VectorFunctions.ZERO_AT_ZERO.contains(epilogue.function())) {
        Matrices.requireWholeTiles(last.result());
      }
    }
  }

  /** A step whose units of work are the tiles of the result. */
  private static Step ofTiles(
      Kind kind,
      Node last,
      List<Matrix> operands,
      List<Epilogue> epilogues,
      Matrix result,
      List<String> sizes) {
    long tiles = result.tileRows() * result.tileColumns();
    return new Step(
        kind, last.origin(), operands, epilogues, result, sizes, List.of(), tiles, 1, 1);
  }

  /** A step whose units of work are the rows of tiles of the result. */
  private static Step ofRows(
      Kind kind, Node node, List<Matrix> operands, Matrix result, List<String> sizes) {
    return new Step(
        kind,
        node.origin(),
        operands,
        List.of(),
        result,
        sizes,
        List.of(),
        result.tileRows(),
        result.tileColumns(),
        1);
  }

  private Step gather(Node node) {
    Matrix table = required(node, 0);
    long rows = table.rows();
    if (Matrices.columns(node.result().type()) != table.columns()) {
      throw unsupported(node);
    }
    Matrix result = matrices.result(node.result());
    return new Step(
        Kind.GATHER_ROWS,
        node.origin(),
        List.of(table),
        List.of(),
        result,
        List.of(result.tileColumns() + "", result.rows() + ""),
        indices.of(node.operand(1)).stream().map(i -> "row_of(" + i + ", " + rows + ")").toList(),
        result.tileRows() * result.tileColumns(),
        1,
        1);
  }

  private Step rotary(Structured.RotaryEmbedding rotary, Node node) {
    Matrix x = required(node, 0);
    Matrix cosines = required(node, 1);
    Matrix sines = required(node, 2);
    int features = Math.toIntExact(x.columns());
    int half = features / 2;
    TensorType type = node.operand(0).type();
    long tokens = type.shape().extent(2);
    // Cosines of each sequence of a batch, and features that aren't rotated, have no kernel.
    if (cosines.columns() != half || features % 2 != 0 || cosines.rows() != tokens) {
      throw unsupported(node);
    }
    double[] swap = new double[features * features];
    double[] spread = new double[half * features];
    for (int i = 0; i < half; i++) {
      int a = rotary.interleaved() ? 2 * i : i;
      int b = rotary.interleaved() ? 2 * i + 1 : i + half;
      swap[b * features + a] = -1;
      swap[a * features + b] = 1;
      spread[i * features + a] = 1;
      spread[i * features + b] = 1;
    }
    String form = (rotary.interleaved() ? "_interleaved_" : "_") + features;
    Matrix result = matrices.result(node.result());
    return ofRows(
        Kind.ROTARY,
        node,
        List.of(
            x,
            cosines,
            sines,
            matrices.shared("rotary_swap" + form, features, features, swap),
            matrices.shared("rotary_spread" + form, half, features, spread)),
        result,
        List.of(x.tileColumns() + "", cosines.tileColumns() + "", tokens + ""));
  }

  private Step cacheUpdate(Structured.CacheUpdate update, Node node) {
    Value cache = node.operand(0);
    TensorType type = cache.type();
    long capacity = type.shape().extent(update.axis());
    long tokens = node.operand(1).type().shape().extent(update.axis());
    boolean isRows = update.axis() == type.rank() - 2 && type.shape().extent(0) == 1;
    // The cache is written in place, so nothing else may read it.
    if (!isRows || update.circular() || !cache.isInput() || users.get(cache).size() != 1) {
      throw unsupported(node);
    }
    Matrix to = required(node, 0);
    Matrix x = required(node, 1);
    String position = indices.of(node.operand(2)).getFirst();
    matrices.alias(node.result(), to);
    return new Step(
        Kind.CACHE_UPDATE,
        node.origin(),
        List.of(x),
        List.of(),
        to,
        List.of(x.tileColumns() + "", x.rows() + "", tokens + "", capacity + ""),
        List.of("position_of(" + position + ", " + tokens + ", " + capacity + ")"),
        x.tileRows() * x.tileColumns(),
        1,
        1);
  }

  private Step attention(Structured.Attention attention, Node node) {
    TensorType q = node.operand(0).type();
    TensorType k = node.operand(1).type();
    if (attention.softCap() != 0
        || attention.mask()
        || !attention.offset().isStatic()
        || attention.keyLength() && q.shape().extent(0) != 1) {
      throw unsupported(node);
    }
    List<Matrix> operands =
        List.of(
            required(node, 0),
            required(node, 1),
            required(node, 2),
            matrices.ones("ones", Matrix.TILE),
            matrices.ones("first_row", 1));
    long heads = k.shape().extent(0) * k.shape().extent(1);
    long tokens = q.shape().extent(2);
    long queries = q.shape().extent(1) / k.shape().extent(1) * tokens;
    long keys = k.shape().extent(2);
    String length =
        attention.keyLength() ? indices.of(node.operands().getLast()).getFirst() : keys + "";
    String position =
        attention.keyLength() ? length + " - " + tokens : attention.offset().value() + "";
    long blocks = heads * Math.ceilDiv(queries, Matrix.TILE);
    int chunks = 1;
    while (2L * chunks * blocks <= cores && 2L * chunks * Matrix.TILE <= keys) {
      chunks *= 2;
    }
    Matrix result = matrices.result(node.result());
    return new Step(
        Kind.ATTENTION,
        node.origin(),
        operands,
        List.of(),
        result,
        List.of(
            operands.get(0).tileColumns() + "",
            operands.get(2).tileColumns() + "",
            queries + "",
            tokens + "",
            keys + "",
            chunks + "",
            attention.causal() ? "1" : "0",
            attention.window() + "",
            "0x%08x".formatted(Float.floatToIntBits((float) attention.scale()))),
        List.of(length, position),
        blocks * chunks,
        1,
        chunks);
  }

  private Step product(Structured.Linear linear, Node node, Node last, Deque<Epilogue> epilogues) {
    requirePadding(last, epilogues);
    Optional<Matrix> x = operand(node.operand(0));
    Optional<Matrix> weight =
        linear.transposed() ? matrices.transposed(node.operand(1)) : operand(node.operand(1));
    List<Epilogue> all = new ArrayList<>();
    if (linear.bias()) {
      Matrix bias = matrices.row(node.operand(2)).orElseThrow(() -> unsupported(node));
      all.add(new Epilogue("add_binary", Optional.of(bias), true, false));
    }
    all.addAll(epilogues);
    if (x.isEmpty() || weight.isEmpty()) {
      throw unsupported(node);
    }
    Matrix result = matrices.result(last.result());
    return ofTiles(
        Kind.LINEAR,
        last,
        List.of(x.get(), weight.get()),
        all,
        result,
        List.of(x.get().tileColumns() + "", result.tileColumns() + ""));
  }

  private Step norm(Structured.Norm norm, Node node) {
    Value x = node.operand(0);
    int columns = Math.toIntExact(Matrices.columns(x.type()));
    boolean isOfRows = norm.axis() == x.type().rank() - 1;
    boolean isRms = norm.kind() == Structured.NormKind.RMS;
    // The zeros beyond the columns of a scale are what makes those of the result zeros.
    if (!isOfRows || !norm.scale() || isRms && norm.bias() || !isOfColumns(node, columns)) {
      throw unsupported(node);
    }
    List<Matrix> operands = new ArrayList<>();
    for (int operand = 0; operand < node.operands().size(); operand++) {
      operands.add(required(node, operand));
    }
    Matrix result = matrices.result(node.result());
    operands.add(
        isRms
            ? matrices.filled("mean", 1.0 / columns)
            : matrices.meanOfRow("mean_" + columns, columns));
    return ofRows(
        isRms ? Kind.RMS_NORM : Kind.LAYER_NORM,
        node,
        operands,
        result,
        List.of(
            result.tileColumns() + "",
            "0x%08x".formatted(Float.floatToIntBits((float) norm.epsilon()))));
  }

  /** Whether all operands after the first have an element for each column. */
  private static boolean isOfColumns(Node node, long columns) {
    return node.operands().stream()
        .skip(1)
        .allMatch(operand -> operand.type().shape().elements() == columns);
  }

  private Step softmax(Reduction.Softmax softmax, Node node) {
    Value x = node.operand(0);
    if (softmax.logarithm() || softmax.axis() != x.type().rank() - 1) {
      throw unsupported(node);
    }
    Matrices.requireWholeTiles(x);
    Matrix result = matrices.result(node.result());
    return ofRows(
        Kind.SOFTMAX,
        node,
        List.of(required(node, 0), matrices.filled("ones", 1)),
        result,
        List.of(result.tileColumns() + ""));
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
