package io.partita.benchmarks.device;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Locale;

/** Products, element-wise functions and rows of floats. */
final class FloatCases extends KernelCases {
  private static final long[][] RUNS = {
    size(1, 64),
    size(1, 256),
    size(4, 200),
    size(1, 512),
    size(16, 64),
    size(7, 30),
    size(64, 64),
    size(12, 250),
    size(40, 100),
    size(3, 1000)
  };

  static List<KernelCase> products() {
    FloatCases it = new FloatCases();
    it.add(
        "linear",
        new Structured.Linear(false, false),
        1,
        size -> List.of(it.floats(size[0], size[1]), it.floats(size[1], size[2])),
        size(1, 64, 64),
        size(1, 256, 64),
        size(1, 192, 300),
        size(1, 300, 100),
        size(1, 30, 20),
        size(1, 512, 128));
    it.add(
        "linear with bias",
        new Structured.Linear(false, true),
        1,
        size ->
            List.of(it.floats(size[0], size[1]), it.floats(size[1], size[2]), it.floats(size[2])),
        size(4, 64, 64),
        size(16, 64, 64),
        size(50, 128, 100),
        size(33, 30, 70),
        size(10, 20, 12),
        size(64, 64, 64),
        size(9, 200, 200),
        size(16, 128, 256));
    it.add(
        "matmul",
        new Contraction.MatMul(ElementType.F32),
        2,
        size -> List.of(it.floats(size[0], size[1], size[2]), it.floats(size[0], size[2], size[3])),
        size(4, 16, 32, 16),
        size(8, 32, 16, 32),
        size(3, 5, 64, 40),
        size(2, 50, 48, 50));
    return it.cases();
  }

  static List<KernelCase> elements() {
    FloatCases it = new FloatCases();
    for (BinaryFunction function :
        List.of(
            BinaryFunction.ADD,
            BinaryFunction.SUB,
            BinaryFunction.MUL,
            BinaryFunction.DIV,
            BinaryFunction.MAX,
            BinaryFunction.MIN)) {
      it.add(
          function.name().toLowerCase(Locale.ROOT),
          new Elementwise.Binary(function),
          2,
          size -> List.of(it.floats(size), it.floats(size)),
          size(700),
          size(1000),
          size(9000),
          size(6000));
    }
    for (BinaryFunction function : List.of(BinaryFunction.ADD, BinaryFunction.MUL)) {
      String name = function.name().toLowerCase(Locale.ROOT);
      it.add(
          name + " a row",
          new Elementwise.Binary(function),
          2,
          size -> List.of(it.floats(size), it.floats(size[1])),
          size(12, 100),
          size(64, 64),
          size(100, 20),
          size(30, 200));
      it.add(
          name + " a column",
          new Elementwise.Binary(function),
          2,
          size -> List.of(it.floats(size), it.floats(size[0], 1)),
          size(12, 100),
          size(64, 64));
    }
    for (UnaryFunction function :
        List.of(
            UnaryFunction.NEG,
            UnaryFunction.RELU,
            UnaryFunction.SQRT,
            UnaryFunction.EXP,
            UnaryFunction.GELU,
            UnaryFunction.GELU_TANH,
            UnaryFunction.ERF,
            UnaryFunction.TANH,
            UnaryFunction.SIGMOID,
            UnaryFunction.SILU,
            UnaryFunction.HARD_SWISH,
            UnaryFunction.FLOOR)) {
      it.add(
          function.name().toLowerCase(Locale.ROOT),
          new Elementwise.Unary(function),
          1,
          size -> List.of(it.floats(size)),
          size(700),
          size(1000),
          size(9000),
          size(6000));
    }
    return it.cases();
  }

  /** Functions of sums of products, as between two products of a quantized model. */
  static List<KernelCase> runs() {
    FloatCases it = new FloatCases();
    it.addBody(
        "cast, mul",
        size -> (graph, values) -> scaled(graph, values.get(0), values.get(1)),
        1,
        size -> List.of(it.integers(ElementType.I32, size), it.floats()),
        RUNS);
    it.addBody(
        "cast, mul a row",
        size -> (graph, values) -> scaled(graph, values.get(0), values.get(1)),
        1,
        size -> List.of(it.integers(ElementType.I32, size), it.floats(size[1])),
        RUNS);
    it.addBody(
        "cast, mul a row, add",
        size ->
            (graph, values) ->
                sum(graph, scaled(graph, values.get(0), values.get(2)), values.get(1)),
        2,
        size -> List.of(it.integers(ElementType.I32, size), it.floats(size), it.floats(size[1])),
        RUNS);
    it.addBody(
        "cast, mul a row, add a row, quantize",
        size ->
            (graph, values) ->
                quantized(
                    graph,
                    sum(graph, scaled(graph, values.get(0), values.get(1)), values.get(2)),
                    values.get(3),
                    values.get(4)),
        1,
        size ->
            List.of(
                it.integers(ElementType.I32, size),
                it.floats(size[1]),
                it.floats(size[1]),
                it.floats(),
                it.indices(ElementType.I8, 1)),
        RUNS);
    it.addBody(
        "mul a row, add a row",
        size ->
            (graph, values) ->
                sum(
                    graph,
                    graph.add(
                        new Elementwise.Binary(BinaryFunction.MUL), values.get(0), values.get(1)),
                    values.get(2)),
        1,
        size -> List.of(it.floats(size), it.floats(size[1]), it.floats(size[1])),
        RUNS);
    it.addBody(
        "add, quantize",
        size ->
            (graph, values) ->
                quantized(
                    graph, sum(graph, values.get(0), values.get(1)), values.get(2), values.get(3)),
        2,
        size ->
            List.of(it.floats(size), it.floats(size), it.floats(), it.indices(ElementType.I8, 1)),
        RUNS);
    return it.cases();
  }

  private static Value scaled(GraphBuilder graph, Value integers, Value factors) {
    Value floats = graph.add(new Elementwise.Cast(ElementType.F32), integers);
    return graph.add(new Elementwise.Binary(BinaryFunction.MUL), floats, factors);
  }

  private static Value sum(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private static Value quantized(GraphBuilder graph, Value x, Value scale, Value zero) {
    return graph.add(new Quantized.Quantize(-1, 0, ElementType.I8), x, scale, zero);
  }

  static List<KernelCase> rows() {
    FloatCases it = new FloatCases();
    long[][] sizes = {
      size(1, 64), size(1, 200), size(16, 96), size(50, 64), size(12, 300), size(100, 32)
    };
    it.add("softmax", new Reduction.Softmax(1, false), 1, size -> List.of(it.floats(size)), sizes);
    it.add(
        "log softmax",
        new Reduction.Softmax(1, true),
        1,
        size -> List.of(it.floats(size)),
        size(1, 200),
        size(16, 96),
        size(30, 150),
        size(50, 64));
    it.add(
        "rms norm",
        new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
        1,
        size -> List.of(it.floats(size), it.floats(size[1])),
        sizes);
    it.add(
        "layer norm",
        new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
        1,
        size -> List.of(it.floats(size), it.floats(size[1]), it.floats(size[1])),
        sizes);
    long[][] few = {
      size(1, 128), size(1, 512), size(1, 1000), size(2, 512), size(4, 256), size(7, 768)
    };
    it.add(
        "rms norm of few rows",
        new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
        1,
        size -> List.of(it.floats(size), it.floats(size[1])),
        few);
    it.add(
        "layer norm of few rows",
        new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
        1,
        size -> List.of(it.floats(size), it.floats(size[1]), it.floats(size[1])),
        few);
    for (ReductionKind kind : List.of(ReductionKind.SUM, ReductionKind.MEAN, ReductionKind.MAX)) {
      it.add(
          kind.text() + " of rows",
          new Reduction.Reduce(kind, List.of(1), true),
          1,
          size -> List.of(it.floats(size)),
          size(16, 96),
          size(50, 64),
          size(12, 300),
          size(100, 32));
      it.add(
          kind.text() + " of columns",
          new Reduction.Reduce(kind, List.of(0), true),
          1,
          size -> List.of(it.floats(size)),
          size(16, 96),
          size(50, 64),
          size(100, 30),
          size(30, 200));
    }
    it.add(
        "argmax",
        new Reduction.ArgReduce(true, 1, true, false),
        1,
        size -> List.of(it.floats(size)),
        size(1, 500),
        size(1, 2000),
        size(16, 96),
        size(12, 300));
    return it.cases();
  }
}
