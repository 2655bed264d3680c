package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Finds the matrices of operands. Rearranged elements of other matrices are computed first. */
final class Operands {
  /** Kernels that write zeros beyond the rows of a matrix. */
  private static final Set<Kind> PADDED =
      EnumSet.of(Kind.REARRANGE, Kind.SELECT, Kind.CONCAT, Kind.GATHER_ROWS, Kind.LOOKUP);

  private final Matrices matrices;
  private final ScheduledBlocks scheduled;
  private final List<Work> steps;
  private final Decisions decisions;

  /**
   * @param steps receives the steps that rearrange elements
   */
  Operands(Matrices matrices, ScheduledBlocks scheduled, List<Work> steps, Decisions decisions) {
    this.matrices = matrices;
    this.scheduled = scheduled;
    this.steps = steps;
    this.decisions = decisions;
  }

  /**
   * The matrix of an operand of a node.
   *
   * @throws PartitaException P5201 if it isn't in DRAM
   */
  Matrix required(Node node, int operand) {
    return of(node.operand(operand)).orElseThrow(() -> ModelSteps.unsupported(node));
  }

  /** The matrix of a value; a value of the same elements in another shape is rearranged first. */
  Optional<Matrix> of(Value value) {
    Optional<Matrix> found = matrices.find(value);
    if (found.isPresent() || value.isInput()) {
      return found;
    }
    if (matrices.isHosted(value)) {
      return matrices.hosted(value);
    }
    Node node = value.definition();
    if (matrices.isTransparent(node)) {
      return of(node.operand(0));
    }
    if (node.op() instanceof Movement.Concat(int axis)) {
      return Optional.of(concatenated(node, axis));
    }
    if (node.op() instanceof Movement.Pad pad) {
      return padded(node, pad);
    }
    if (node.op() instanceof Movement.Gather(int axis)
        && axis == node.operand(0).type().rank() - 1) {
      return selected(node);
    }
    Optional<Rearrangement> rearrangement = Rearrangement.of(node);
    if (rearrangement.isEmpty()) {
      return found;
    }
    return of(node.operand(0)).map(x -> rearranged(node, rearrangement.get(), x));
  }

  /** An operand of a function of elements, of which elements count several times. */
  Optional<Matrix> broadcast(Node node, int operand) {
    Value value = node.operand(operand);
    return of(value)
        .map(
            x -> {
              TensorType type = node.result().type();
              long columns = Matrices.columns(type);
              long rows = type.shape().elements() / columns;
              Matrix to = matrices.scratch(value.name() + " repeated", rows, columns);
              addScratch(node, copy(node, Rearrangement.broadcast(value.type(), type), x, to));
              return to;
            });
  }

  private Matrix rearranged(Node node, Rearrangement rearrangement, Matrix x) {
    Matrix to = matrices.result(node.result());
    add(node, copy(node, rearrangement, x, to));
    return to;
  }

  /**
   * A matrix with the same elements as a product's right operand, whose padding of rows counts as
   * much as zeros: a copy with zeros there, if a kernel may leave an infinity or what isn't a
   * number.
   */
  Matrix withZeros(Node node, Matrix matrix) {
    if (matrix.rows() % Matrix.TILE == 0 || isFinite(matrix, new HashMap<>())) {
      return matrix;
    }
    Matrix copy = matrices.scratch(matrix.name() + " padded", matrix.rows(), matrix.columns());
    List<Long> extents = List.of(matrix.rows(), matrix.columns());
    List<Long> strides = List.of(matrix.columns(), 1L);
    addScratch(node, copy(node, new Rearrangement(0, extents, strides), matrix, copy));
    return copy;
  }

  /** Whether the padding of a matrix is finite, as functions without poles make it of zeros. */
  private boolean isFinite(Matrix matrix, Map<Matrix, Boolean> known) {
    Boolean found = known.get(matrix);
    if (found != null) {
      return found;
    }
    boolean is =
        steps.stream()
            .filter(work -> work instanceof Step step && step.result().equals(matrix))
            .map(Step.class::cast)
            .allMatch(
                step ->
                    step.epilogues().stream()
                            .map(Step.Epilogue::function)
                            .allMatch(VectorFunctions.FINITE::contains)
                        && (PADDED.contains(step.kind())
                            || step.allOperands().stream()
                                .allMatch(operand -> isFinite(operand, known))));
    known.put(matrix, is);
    return is;
  }

  /** Columns whose numbers are constant. */
  private Optional<Matrix> selected(Node node) {
    Value numbers = node.operand(1);
    Optional<Tensor> constant =
        numbers.isInput() || numbers.type().rank() != 1
            ? Optional.empty()
            : numbers.definition().constant();
    if (constant.isEmpty()) {
      return Optional.empty();
    }
    Matrix x = required(node, 0);
    Matrix to = matrices.result(node.result());
    Matrix table = matrices.columnNumbers(node.result(), constant.get().longs(), x.columns());
    List<String> sizes =
        Stream.of(to.rows(), to.columns(), x.tileColumns()).map(Object::toString).toList();
    add(node, copy(Kind.SELECT, node, List.of(x, table), to, sizes));
    return Optional.of(to);
  }

  /** A part of each line of a concatenation. */
  private record Line(Matrix matrix, long elements) {}

  /** Lines of all operands, one after the other: those before the axis are kept apart. */
  private Matrix concatenated(Node node, int axis) {
    List<Line> parts = new ArrayList<>();
    for (int operand = 0; operand < node.operands().size(); operand++) {
      TensorType type = node.operand(operand).type();
      if (type.shape().elements() > 0) {
        parts.add(new Line(required(node, operand), line(type, axis)));
      }
    }
    return concatenated(node, parts);
  }

  /** Rows with zeros after them. */
  private Optional<Matrix> padded(Node node, Movement.Pad pad) {
    int last = node.result().type().rank() - 1;
    long zeros = pad.high().get(last);
    boolean isOfRows =
        pad.mode() == Movement.PadMode.CONSTANT
            && pad.low().stream().allMatch(each -> each == 0)
            && pad.high().subList(0, last).stream().allMatch(each -> each == 0)
            && zeros > 0
            && Codes.constant(node.operand(1)).filter(filling -> filling == 0).isPresent();
    return isOfRows
        ? of(node.operand(0))
            .map(
                x ->
                    concatenated(
                        node,
                        List.of(
                            new Line(x, x.columns()),
                            new Line(matrices.zeros(x.rows(), zeros), zeros))))
        : Optional.empty();
  }

  /** Some rows of each part of an operand, {@code [parts…, rows, columns]}. */
  Matrix rows(Node node, int operand, ChosenRows chosen) {
    Matrix x = required(node, operand);
    long rows = node.operand(operand).type().shape().fromEnd(1).value();
    long parts = x.rows() / rows;
    long columns = x.columns();
    String name = node.operand(operand).name() + " chosen";
    List<Line> lines = new ArrayList<>();
    for (ChosenRows.Run run : chosen.runs()) {
      Matrix part = matrices.scratch(name, parts * run.count(), columns);
      List<Long> extents = List.of(parts, run.count(), columns);
      List<Long> steps = List.of(rows * columns, columns, 1L);
      Rearrangement chosenRows = new Rearrangement(run.start() * columns, extents, steps);
      addScratch(node, copy(node, chosenRows, x, part));
      lines.add(new Line(part, run.count() * columns));
    }
    if (lines.size() == 1) {
      return lines.getFirst().matrix();
    }
    Matrix all = matrices.scratch(name, parts * chosen.count(), columns);
    addScratch(node, concatenation(node, all, lines));
    return all;
  }

  private Matrix concatenated(Node node, List<Line> of) {
    Matrix to = matrices.result(node.result());
    add(node, concatenation(node, to, of));
    return to;
  }

  private Step concatenation(Node node, Matrix to, List<Line> of) {
    List<Matrix> parts = of.stream().map(Line::matrix).toList();
    List<String> lines = new ArrayList<>();
    long start = 0;
    for (Line part : of) {
      lines.addAll(List.of(start + "", part.elements() + "", part.matrix().columns() + ""));
      start += part.elements();
    }
    List<String> sizes = new ArrayList<>();
    sizes.addAll(List.of(to.rows() + "", to.columns() + ""));
    sizes.addAll(List.of(start + "", parts.size() + ""));
    sizes.addAll(lines);
    return copy(Kind.CONCAT, node, parts, to, sizes);
  }

  private Step copy(Node node, Rearrangement rearrangement, Matrix from, Matrix to) {
    return copy(Kind.REARRANGE, node, List.of(from), to, rearrangement.sizes(to, from));
  }

  /** A step that moves elements. To the schedule, most such values are views. */
  private Step copy(Kind kind, Node node, List<Matrix> from, Matrix to, List<String> sizes) {
    return Step.ofTiles(kind, node.origin(), from, List.of(), to, scheduled.tiles(to), sizes);
  }

  /** Adds the step that computes a node, after those that decide whether it does. */
  void add(Node node, Step step) {
    addScratch(node, step);
    matrices.produces(step.result(), node.result());
  }

  /** Adds a step whose result no value of the graph is. */
  private void addScratch(Node node, Step step) {
    List<Integer> gates = decisions.gates(node);
    steps.add(step.gated(gates));
  }

  private static long line(TensorType type, int axis) {
    long line = 1;
    for (int dim = axis; dim < type.rank(); dim++) {
      line *= type.shape().extent(dim);
    }
    return line;
  }

  /** The part of the chip in an exchange. */
  ExchangePart exchange(Node node, Map<Value, List<Node>> users) {
    Communication.Exchange exchange = (Communication.Exchange) node.op();
    Optional<Matrix> operand = Optional.empty();
    if (!exchange.before().isEmpty()) {
      Value vector = node.operand(0);
      boolean isDecided = decisions.computes(vector);
      // Messages take rows one after the other, so that a matrix needn't become a vector.
      while (!isDecided
          && matrices.find(vector).isEmpty()
          && !vector.isInput()
          && vector.definition().op() instanceof Movement.Reshape) {
        vector = vector.definition().operand(0);
      }
      Value elements = vector;
      operand =
          Optional.of(
              isDecided
                  ? decisions.stored(vector)
                  : of(vector)
                      .filter(matrix -> isExchanged(elements.type()))
                      .orElseThrow(() -> ModelSteps.unsupported(node)));
    }
    Optional<Matrix> result =
        exchange.after().isEmpty()
            ? Optional.empty()
            : Optional.of(exchanged(node.result(), users));
    result.ifPresent(matrix -> matrices.produces(matrix, node.result()));
    return new ExchangePart(node.origin(), exchange, operand, result, decisions.gates(node));
  }

  /** Whether messages have elements of a type: those of the model, or bytes of codes. */
  private static boolean isExchanged(TensorType type) {
    return type.element().isFloat() || Codes.isByte(type);
  }

  /** The matrix of the result of an exchange: that of its readers, if all read the same rows. */
  private Matrix exchanged(Value vector, Map<Value, List<Node>> users) {
    if (!isExchanged(vector.type())) {
      Matrix words = matrices.exchangedWords(vector);
      matrices.alias(vector, words);
      return words;
    }
    List<Node> readers = users.getOrDefault(vector, List.of());
    boolean isReshaped =
        !readers.isEmpty()
            && readers.stream().allMatch(node -> node.op() instanceof Movement.Reshape)
            && readers.stream()
                    .mapToLong(node -> Matrices.columns(node.result().type()))
                    .distinct()
                    .count()
                == 1;
    Value rows = isReshaped ? readers.getFirst().result() : vector;
    Matrix matrix = matrices.exchanged(rows);
    if (isReshaped) {
      readers.forEach(node -> matrices.alias(node.result(), matrix));
    }
    matrices.alias(vector, matrix);
    return matrix;
  }
}
