package io.partita.frontend.onnx;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Adds operations to a graph and folds them: operations on constants, and integer arithmetic on
 * shapes, whose elements may be symbolic.
 */
final class FoldingBuilder {
  /**
   * The largest number of elements of a folded result, so that small files don't give large graphs.
   */
  private static final long MAX_RESULT = 1 << 20;

  /** The total number of elements of folded results, beyond which only small ones are folded. */
  private static final long MAX_TOTAL = 1 << 25;

  private static final long SMALL_RESULT = 4096;

  /**
   * The total number of multiplications, additions and copies of folding, which take a few seconds.
   */
  private static final long MAX_WORK = 1 << 28;

  /** The size of shape arithmetic, which is folded even beyond the limits. */
  private static final long ALWAYS = 64;

  /** The total number of terms of symbolic elements. */
  private static final long MAX_SYMBOLIC_WORK = 1 << 20;

  private final GraphBuilder builder;

  /** The elements of integer values that depend on symbols. */
  private final Map<Value, List<Dim>> symbolic = new IdentityHashMap<>();

  /**
   * Small dequantized constants, and what follows from them. They remain nodes, because devices
   * store the integers, but shapes may depend on them.
   */
  private final Map<Value, Tensor> computed = new IdentityHashMap<>();

  private long folded;
  private long work;
  private long symbolicWork;

  FoldingBuilder(GraphBuilder builder) {
    this.builder = builder;
  }

  /** Sets the name of nodes that are added from now on. */
  void at(String origin) {
    builder.at(origin);
  }

  Value constant(Tensor data) {
    return builder.constant(data);
  }

  static Optional<Tensor> constant(Value value) {
    return value.isInput() ? Optional.empty() : value.definition().constant();
  }

  /** Returns the tensor of a constant, or of a small value that follows from constants. */
  Optional<Tensor> known(Value value) {
    return constant(value).or(() -> Optional.ofNullable(computed.get(value)));
  }

  /** Returns the elements of an integer or boolean value in row-major order, if known. */
  Optional<List<Dim>> dims(Value value) {
    List<Dim> known = symbolic.get(value);
    if (known != null) {
      return Optional.of(known);
    }
    return known(value)
        .filter(data -> !data.element().isFloat())
        .filter(data -> data.size() <= SymbolicEvaluation.MAX_ELEMENTS)
        .map(
            data -> {
              List<Dim> dims = new ArrayList<>(data.size());
              for (int i = 0; i < data.size(); i++) {
                dims.add(Dim.of(data.getLong(i)));
              }
              return List.copyOf(dims);
            });
  }

  /**
   * Adds an operation and returns its results.
   *
   * @throws io.partita.ir.op.TypeMismatch if the operands don't fit it
   */
  List<Value> add(Op op, List<Value> operands) {
    List<TensorType> types = op.possibleResultTypes(operands.stream().map(Value::type).toList());
    if (isIdentity(op, operands, types)) {
      return operands;
    }
    Optional<List<Value>> known =
        fold(op, operands, types).or(() -> symbolically(op, operands, types));
    if (known.isPresent()) {
      return known.get();
    }
    Node node = builder.addNode(op, operands);
    compute(node);
    return node.results();
  }

  /** Remembers the results of a node that follow from dequantized constants. */
  private void compute(Node node) {
    boolean follows =
        node.op() instanceof Quantized.Dequantize
            || node.operands().stream().anyMatch(computed::containsKey);
    if (!follows) {
      return;
    }
    List<Tensor> data =
        node.operands().stream().map(this::known).flatMap(Optional::stream).toList();
    if (data.size() < node.operands().size()) {
      return;
    }
    List<TensorType> types = node.results().stream().map(Value::type).toList();
    boolean small =
        data.stream().allMatch(operand -> operand.size() <= SymbolicEvaluation.MAX_ELEMENTS)
            && types.stream()
                .allMatch(
                    type -> type.isStatic() && !exceeds(type, SymbolicEvaluation.MAX_ELEMENTS));
    if (small && fitsLimits(node.op(), data, types)) {
      evaluated(node.op(), data)
          .ifPresent(
              results -> {
                for (int i = 0; i < results.size(); i++) {
                  computed.put(node.results().get(i), results.get(i));
                }
              });
    }
  }

  /** Whether the result equals the operand. */
  private static boolean isIdentity(Op op, List<Value> operands, List<TensorType> types) {
    boolean sameType =
        operands.size() == 1
            && types.size() == 1
            && types.getFirst().equals(operands.getFirst().type());
    if (!sameType) {
      return false;
    }
    return switch (op) {
      case Movement.Reshape reshape -> true;
      case Movement.Broadcast broadcast -> true;
      case Movement.Concat concat -> true;
      case Elementwise.Cast cast -> true;
      case Movement.Slice slice -> slice.steps().stream().allMatch(step -> step == 1);
      case Movement.Transpose(List<Integer> permutation) -> {
        boolean ascending = true;
        for (int i = 0; i < permutation.size(); i++) {
          ascending &= permutation.get(i) == i;
        }
        yield ascending;
      }
      case Op other -> false;
    };
  }

  private Optional<List<Value>> fold(Op op, List<Value> operands, List<TensorType> types) {
    if (op instanceof Source.Constant) {
      return Optional.empty();
    }
    List<Tensor> data = new ArrayList<>();
    for (Value operand : operands) {
      Optional<Tensor> tensor = constant(operand);
      if (tensor.isEmpty()) {
        return Optional.empty();
      }
      data.add(tensor.get());
    }
    if (op instanceof Movement.Reshape(var to) && to.isStatic()) {
      return Optional.of(List.of(constant(data.getFirst().reshaped(to))));
    }
    if (!isWorthFolding(op, data, types)) {
      return Optional.empty();
    }
    return evaluated(op, data).map(results -> results.stream().map(this::constant).toList());
  }

  private static Optional<List<Tensor>> evaluated(Op op, List<Tensor> data) {
    try {
      return Optional.of(OpEvaluator.evaluate(op, data));
    } catch (RuntimeException notNow) {
      // An operation that can't be computed fails at run time, if it is reached.
      return Optional.empty();
    }
  }

  private boolean isWorthFolding(Op op, List<Tensor> data, List<TensorType> types) {
    long elements = 0;
    for (TensorType type : types) {
      if (!type.isStatic() || exceeds(type, MAX_RESULT)) {
        return false;
      }
      elements += type.shape().elements();
    }
    for (Tensor operand : data) {
      if (operand.size() > 4 * MAX_RESULT) {
        return false;
      }
    }
    // Quantized weights are not folded, because devices store their integers.
    if (op instanceof Quantized.Dequantize && elements > 1) {
      return false;
    }
    if (op instanceof Source && elements > SMALL_RESULT) {
      return false;
    }
    return fitsLimits(op, data, types);
  }

  /** Counts a result, unless it exceeds the limits of all results together. */
  private boolean fitsLimits(Op op, List<Tensor> data, List<TensorType> types) {
    long elements = types.stream().mapToLong(type -> type.shape().elements()).sum();
    long more = work(op, data, elements);
    if (elements > ALWAYS && folded + elements > MAX_TOTAL
        || more > ALWAYS && work + more > MAX_WORK) {
      return false;
    }
    folded += elements;
    work += more;
    return true;
  }

  /** Returns an upper bound of the steps for {@code elements} results, which is at most 2^45. */
  private static long work(Op op, List<Tensor> data, long elements) {
    long largest = data.stream().mapToLong(Tensor::size).max().orElse(0);
    long all = data.stream().mapToLong(Tensor::size).sum() + elements;
    return switch (op) {
      case Contraction.MatMul product ->
          all + elements * data.getFirst().shape().fromEnd(0).value();
      case Contraction contraction -> all + elements * largest;
      case Structured structured -> all + elements * largest;
      case IntegerNetwork network -> all + elements * largest;
      case Op other -> all;
    };
  }

  private static boolean exceeds(TensorType type, long limit) {
    return type.shape().elements() > limit;
  }

  private Optional<List<Value>> symbolically(Op op, List<Value> operands, List<TensorType> types) {
    TensorType type = types.getFirst();
    if (types.size() != 1
        || type.element().isFloat()
        || !type.isStatic()
        || exceeds(type, SymbolicEvaluation.MAX_ELEMENTS)) {
      return Optional.empty();
    }
    List<SymbolicEvaluation.Elements> elements = new ArrayList<>();
    long more = Math.max(1, type.shape().elements());
    for (Value operand : operands) {
      Optional<List<Dim>> dims = dims(operand);
      if (dims.isEmpty()) {
        return Optional.empty();
      }
      more *= dims.get().stream().mapToLong(Dim::length).max().orElse(1);
      if (more > ALWAYS && symbolicWork + more > MAX_SYMBOLIC_WORK) {
        return Optional.empty();
      }
      elements.add(new SymbolicEvaluation.Elements(operand.type().shape(), dims.get()));
    }
    symbolicWork += more;
    Optional<List<Dim>> result = SymbolicEvaluation.evaluate(op, elements, type);
    if (result.isEmpty()) {
      return Optional.empty();
    }
    if (result.get().stream().allMatch(Dim::isStatic)) {
      long[] values = result.get().stream().mapToLong(Dim::value).toArray();
      return Optional.of(List.of(constant(Tensor.ofLongs(type, values))));
    }
    Node node = builder.addNode(op, operands);
    symbolic.put(node.result(), result.get());
    return Optional.of(node.results());
  }
}
