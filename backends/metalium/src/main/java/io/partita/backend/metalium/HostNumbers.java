package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Numbers that depend on integer inputs only, such as masks, positions, and the angles of rotary
 * embeddings. The host computes them, since it has these inputs, and writes those that kernels read
 * to matrices before a run. Statements of the host's program are the same for all chips that
 * compute the same.
 */
final class HostNumbers {
  /** The most elements of a constant that is written as text. */
  private static final int MAX_INLINE = 16;

  /** Beyond this magnitude, the matrix engine rounds by too much for differences of scores. */
  static final double LARGEST_TERM = 0x1p16;

  /** What is added to the score of a key that doesn't count unless there is no other. */
  private static final double HIDDEN = -0x1p64;

  /** The smallest number of all formats, for keys that don't take part at all. */
  static final float SMALLEST = -0x1.fep127f;

  /**
   * Elements in the order of rows.
   *
   * @param name of an array, or the only element as a literal
   */
  record Numbers(String name, boolean isLiteral) {
    private String element() {
      return isLiteral ? name : name + "[i]";
    }
  }

  /** What the host computes once for all chips: a template and what it prints. */
  private record Statement(String template, Map<String, Object> fields) {}

  /** The numbers of each chip that has such a matrix. */
  private final Map<Matrix, Map<Integer, String>> matrices = new LinkedHashMap<>();

  private final Map<Statement, String> statements = new LinkedHashMap<>();
  private final Map<Statement, String> labels = new HashMap<>();
  private final Map<List<Double>, String> constants = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private final Map<Value, Boolean> hosted = new IdentityHashMap<>();
  private final Map<Value, Numbers> known = new IdentityHashMap<>();
  private final MatrixPool pool;

  HostNumbers(MatrixPool pool) {
    this.pool = pool;
  }

  /**
   * Adds an integer input.
   *
   * @param places of the chip's elements in the whole input
   */
  void add(Value value, Indices.Input input, long[] places) {
    hosted.put(value, true);
    Numbers whole = new Numbers(input.name(), false);
    known.put(
        value,
        places.length == input.count()
            ? whole
            : chosen(List.of(whole), places, value.type().shape(), value.name()));
  }

  /** Whether the host computes a value, and kernels don't. */
  boolean isHosted(Value value) {
    Boolean found = hosted.get(value);
    if (found != null) {
      return found;
    }
    boolean is = !value.isInput() && isHosted(value.definition());
    hosted.put(value, is);
    return is;
  }

  private boolean isHosted(Node node) {
    return isComputed(node)
        && node.operands().stream().allMatch(each -> isConstant(each) || isHosted(each))
        && node.operands().stream().anyMatch(this::isHosted);
  }

  /** Whether a value is a constant that the host's program can hold. */
  private static boolean isConstant(Value value) {
    return Matrices.constant(value)
        .filter(
            data ->
                data.size() <= MAX_INLINE
                    || Arrays.stream(data.doubles()).allMatch(x -> (float) x == x))
        .isPresent();
  }

  private static boolean isComputed(Node node) {
    return node.results().size() == 1
        && isType(node.result().type().element())
        && switch (node.op()) {
          case Elementwise op -> HostExpressions.has(op);
          case Reduction.Cumulative sums -> !sums.product();
          case Reduction.ArgReduce places -> true;
          // Angles: positions times frequencies.
          case Contraction.MatMul product -> Matrices.columns(node.operand(0).type()) == 1;
          // Tables of embeddings are those of chips.
          case Movement.Gather gather -> isConstant(node.operand(1));
          case Movement.ScatterNd(Combine reduction) ->
              reduction == Combine.REPLACE && isConstant(node.operand(1));
          case Movement.Pad(Movement.PadMode mode, List<Long> low, List<Long> high) ->
              mode == Movement.PadMode.CONSTANT;
          case Movement.Reshape reshape -> true;
          case Movement.Transpose transpose -> true;
          case Movement.Broadcast broadcast -> true;
          case Movement.Slice slice -> true;
          case Movement.Concat concat -> true;
          default -> false;
        };
  }

  private static boolean isType(ElementType type) {
    return switch (type) {
      case F32, F64, BF16, I32, I64, BOOL -> true;
      default -> false;
    };
  }

  /** The numbers of a value of the host or of a constant. */
  Numbers of(Value value) {
    Numbers found = known.get(value);
    if (found == null) {
      Optional<Tensor> data = Matrices.constant(value);
      found =
          data.isPresent()
              ? constant(data.get().doubles(), value.name())
              : computed(value.definition());
      known.put(value, found);
    }
    return found;
  }

  /** The numbers of a value, of which elements count as often as they broadcast. */
  Numbers broadcast(Value value, Shape to) {
    return value.type().shape().equals(to)
        ? of(value)
        : moved(new Movement.Broadcast(to), List.of(value), 1, value.name());
  }

  /**
   * What is added to scores, of a mask: numbers that are so small that no score counts beside them
   * become one that the matrix engine holds exactly, and negative infinity and false become the
   * smallest one.
   */
  Numbers terms(Value mask, Shape shape) {
    Numbers x = broadcast(mask, shape);
    boolean isFlag = mask.type().element() == ElementType.BOOL;
    return elements(
        (isFlag ? "term_of_flag(" : "term_of(") + x.element() + ")",
        shape.elements(),
        mask.name() + " terms");
  }

  /** A number where flags are as given, and zeros. */
  Numbers chosen(Value flags, boolean where, double number, Shape shape) {
    String flag = broadcast(flags, shape).element();
    String literal = HostExpressions.literal(number);
    String numbers = where ? literal + ", 0" : "0, " + literal;
    return elements(
        "choose(" + flag + ", " + numbers + ")", shape.elements(), flags.name() + " chosen");
  }

  /** The same of a constant mask. */
  static double term(double x, ElementType type) {
    boolean isFlag = type == ElementType.BOOL;
    if (isFlag ? x == 0 : x == Double.NEGATIVE_INFINITY) {
      return SMALLEST;
    }
    return isFlag ? 0 : x < -LARGEST_TERM ? HIDDEN : x;
  }

  /** Elements as integers, in the languages of the host. */
  List<String> integers(Value value) {
    Numbers numbers = of(value);
    return LongStream.range(0, value.type().shape().elements())
        .mapToObj(i -> "whole(" + numbers.name + "[" + i + "])")
        .toList();
  }

  /** Has the host write numbers to a matrix of a chip before each run. */
  void write(Numbers numbers, int chip, Matrix matrix) {
    matrices.computeIfAbsent(matrix, key -> new LinkedHashMap<>()).put(chip, array(numbers));
  }

  Set<Matrix> matrices() {
    return matrices.keySet();
  }

  private Numbers computed(Node node) {
    Shape shape = node.result().type().shape();
    ElementType type = node.result().type().element();
    return switch (node.op()) {
      case Elementwise op -> {
        List<String> x =
            node.operands().stream().map(each -> broadcast(each, shape).element()).toList();
        yield elements(
            HostExpressions.of(op, node.operand(0).type(), type, x), shape.elements(), node.name());
      }
      case Contraction.MatMul product -> {
        String x = broadcast(node.operand(0), shape).element();
        String y = broadcast(node.operand(1), shape).element();
        yield elements(HostExpressions.rounded(type, x + " * " + y), shape.elements(), node.name());
      }
      case Reduction.Cumulative sums -> sums(sums, node);
      case Reduction.ArgReduce places -> places(places, node);
      case Movement.Gather gather -> moved(gather, node.operands(), 1, node.name());
      case Movement.ScatterNd scatter -> {
        List<Value> data = List.of(node.operand(0), node.operand(2), node.operand(1));
        yield moved(scatter, data, 2, node.name());
      }
      case Op other -> moved(other, node.operands(), node.operands().size(), node.name());
    };
  }

  private Numbers elements(String text, long count, String name) {
    return add("hostElements", Map.of("text", text, "count", count), name);
  }

  private Numbers sums(Reduction.Cumulative op, Node node) {
    Shape shape = node.operand(0).type().shape();
    return add(
        "hostSums",
        Map.of(
            "x", of(node.operand(0)).name(),
            "extent", shape.extent(op.axis()),
            "step", shape.range(op.axis() + 1, shape.rank()).elements(),
            "isExclusive", op.exclusive(),
            "isReverse", op.reverse()),
        node.name());
  }

  private Numbers places(Reduction.ArgReduce op, Node node) {
    Shape shape = node.operand(0).type().shape();
    return add(
        "hostPlaces",
        Map.of(
            "x", of(node.operand(0)).name(),
            "extent", shape.extent(op.axis()),
            "step", shape.range(op.axis() + 1, shape.rank()).elements(),
            "isLargest", op.largest(),
            "isLast", op.selectLast()),
        node.name());
  }

  /**
   * A movement, whose operands after the first ones are constant: what it makes of the numbers of
   * elements tells where each one comes from.
   */
  private Numbers moved(Op op, List<Value> operands, int count, String name) {
    List<Tensor> numbered = new ArrayList<>();
    List<Numbers> from = new ArrayList<>();
    List<Long> starts = new ArrayList<>();
    long first = 0;
    for (int operand = 0; operand < operands.size(); operand++) {
      Value value = operands.get(operand);
      if (operand < count) {
        TensorType type = value.type().with(ElementType.I64);
        Numbers x = of(value);
        // All elements of a literal are the same one.
        long step = x.isLiteral ? 0 : 1;
        long begin = first;
        long size = type.shape().elements();
        numbered.add(
            Tensor.ofLongs(type, LongStream.range(0, size).map(i -> begin + i * step).toArray()));
        first += x.isLiteral ? 1 : size;
        starts.add(begin);
        from.add(x);
      } else {
        numbered.add(Matrices.constant(value).orElseThrow());
      }
    }
    // The indices of a scatter are between its data and its updates.
    if (op instanceof Movement.ScatterNd) {
      numbered = List.of(numbered.get(0), numbered.get(2), numbered.get(1));
    }
    Tensor result = OpEvaluator.evaluate(op, numbered).getFirst();
    long[] places = result.longs();
    starts.add(first);
    for (int operand = 0; operand < count; operand++) {
      long begin = starts.get(operand);
      long end = starts.get(operand + 1);
      if (Arrays.stream(places).allMatch(place -> begin <= place && place < end)) {
        long[] own = Arrays.stream(places).map(place -> place - begin).toArray();
        boolean isSame =
            own.length == end - begin && IntStream.range(0, own.length).allMatch(i -> own[i] == i);
        Numbers x = from.get(operand);
        return isSame ? x : chosen(List.of(x), own, result.shape(), name);
      }
    }
    return chosen(from, places, result.shape(), name);
  }

  /** Elements of arrays that follow each other, by their places. */
  private Numbers chosen(List<Numbers> from, long[] places, Shape shape, String name) {
    Numbers first = from.getFirst();
    if (from.size() == 1 && first.isLiteral) {
      return first;
    }
    Optional<long[]> steps =
        from.size() == 1 ? Rearrangement.steps(places, shape) : Optional.empty();
    if (steps.isPresent()) {
      return view(first, places[0], shape, steps.get(), name);
    }
    double[] table = Arrays.stream(places).asDoubleStream().toArray();
    List<String> arrays = from.stream().map(this::array).toList();
    return add("hostChoice", Map.of("from", arrays, "places", array(constant(table, name))), name);
  }

  private Numbers view(Numbers x, long start, Shape shape, long[] steps, String name) {
    List<Long> extents = Arrays.stream(shape.extents()).boxed().toList();
    List<Long> all = Arrays.stream(steps).boxed().toList();
    return add(
        "hostView", Map.of("x", x.name, "start", start, "extents", extents, "steps", all), name);
  }

  /** A constant that the program has as text, or reads from its weights. */
  private Numbers constant(double[] elements, String name) {
    if (elements.length > 0 && Arrays.stream(elements).allMatch(x -> x == elements[0])) {
      return new Numbers(HostExpressions.literal(elements[0]), true);
    }
    List<Double> boxed = Arrays.stream(elements).boxed().toList();
    if (elements.length <= MAX_INLINE) {
      List<String> texts = boxed.stream().map(HostExpressions::literal).toList();
      return add("hostList", Map.of("elements", texts), name);
    }
    return new Numbers(
        constants.computeIfAbsent(
            boxed,
            key -> {
              TensorType type = TensorType.of(ElementType.F32, elements.length);
              Tensor data = Tensor.ofDoubles(type, elements);
              return pool.addNumbers(name, data).name();
            }),
        false);
  }

  /** An array also of one number. */
  private String array(Numbers x) {
    return x.isLiteral
        ? add("hostList", Map.of("elements", List.of(x.name)), "number").name
        : x.name;
  }

  private Numbers add(String template, Map<String, Object> fields, String label) {
    Statement statement = new Statement(template, fields);
    String name =
        statements.computeIfAbsent(
            statement,
            key -> {
              labels.put(key, label);
              return name(label);
            });
    return new Numbers(name, false);
  }

  private String name(String label) {
    String plain =
        label.replaceAll("[^A-Za-z0-9]+", "_").replaceAll("^_+|_+$", "").toLowerCase(Locale.ROOT);
    String name = "h_" + plain;
    for (int number = 2; !names.add(name); number++) {
      name = "h_" + plain + "_" + number;
    }
    return name;
  }

  /** What templates print. */
  List<Map<String, Object>> statements() {
    List<Map<String, Object>> all = new ArrayList<>();
    statements.forEach(
        (statement, name) -> {
          Map<String, Object> fields = new LinkedHashMap<>(statement.fields);
          fields.put("name", name);
          fields.put(statement.template, true);
          fields.put("label", labels.get(statement).replaceAll("[^A-Za-z0-9_./ -]", "_"));
          all.add(fields);
        });
    return all;
  }

  /** The matrices that the host writes, for templates. */
  List<Map<String, Object>> writes(int chips) {
    List<Map<String, Object>> all = new ArrayList<>();
    matrices.forEach(
        (matrix, numbers) -> {
          Map<String, Object> fields = new LinkedHashMap<>();
          fields.put("name", matrix.name());
          fields.put("rows", matrix.rows());
          fields.put("columns", matrix.columns());
          Set<String> different = Set.copyOf(numbers.values());
          fields.put("numbers", different.size() == 1 ? different.iterator().next() : null);
          fields.put(
              "parts",
              different.size() == 1
                  ? null
                  : numbers.entrySet().stream()
                      .map(each -> Map.of("chip", each.getKey(), "numbers", each.getValue()))
                      .toList());
          fields.put(
              "shards",
              different.size() == 1
                  ? null
                  : IntStream.range(0, chips)
                      .mapToObj(
                          chip -> numbers.getOrDefault(chip, numbers.values().iterator().next()))
                      .collect(Collectors.toList()));
          all.add(fields);
        });
    return all;
  }
}
