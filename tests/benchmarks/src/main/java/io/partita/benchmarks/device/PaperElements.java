package io.partita.benchmarks.device;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;

/** Functions of elements and of rows whose cycles the page on the MCU paper states. */
final class PaperElements extends KernelCases {
  private static final long ROWS = 16;
  private static final long COLUMNS = 256;

  /** Heads, positions and features of a rotary embedding. */
  private static final long[] HEADS = size(1, 8, 8, 64);

  private final List<KernelCase> functions = new ArrayList<>();

  private PaperElements() {}

  /** Returns cases that have the names on the page, one operation each. */
  static List<KernelCase> functions() {
    PaperElements it = new PaperElements();
    it.ofFloats();
    it.ofBytes();
    it.ofIntegers();
    return it.functions;
  }

  private void ofFloats() {
    Tensor x = normal(ROWS, COLUMNS);
    Tensor scale = floats(COLUMNS);
    Tensor one = floats();
    Tensor zero = indices(ElementType.I8, 1);
    measure("softmax of f32", new Reduction.Softmax(1, false), x);
    measure(
        "rms norm of f32",
        new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
        x,
        scale);
    measure(
        "layer norm of f32",
        new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
        x,
        scale,
        floats(COLUMNS));
    for (UnaryFunction function :
        List.of(
            UnaryFunction.RELU,
            UnaryFunction.EXP,
            UnaryFunction.TANH,
            UnaryFunction.SIGMOID,
            UnaryFunction.SILU,
            UnaryFunction.GELU,
            UnaryFunction.GELU_TANH)) {
      measure(function.text() + " of f32", new Elementwise.Unary(function), x);
    }
    measure("sum of two f32", 2, new Elementwise.Binary(BinaryFunction.ADD), x, x);
    long angles = HEADS[3] / 2;
    measure(
        "rotary embedding of f32",
        new Structured.RotaryEmbedding(false),
        normal(HEADS),
        normal(1, HEADS[2], angles),
        normal(1, HEADS[2], angles));
    measure("f32 to int8", new Quantized.Quantize(-1, 0, ElementType.I8), x, one, zero);
    measure(
        "int8 to f32",
        new Quantized.Dequantize(-1, 0, ElementType.F32),
        bytes(ROWS, COLUMNS),
        one,
        zero);
  }

  private void ofBytes() {
    Tensor x = bytes(ROWS, COLUMNS);
    Tensor multipliers = factors(COLUMNS);
    Tensor addends = factors(COLUMNS);
    measure("softmax of int8", new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256), x);
    measure("softmax of int8 by powers of two", new IntegerNetwork.PowerSoftmax(256, 0), x);
    measure(
        "rms norm of int8",
        new IntegerNetwork.IntegerNorm(Structured.NormKind.RMS, 1, -128, 127),
        x,
        multipliers);
    measure(
        "layer norm of int8",
        new IntegerNetwork.IntegerNorm(Structured.NormKind.LAYER, 1, -128, 127),
        x,
        multipliers,
        addends);
    measure(
        "any function of int8, by a table",
        new IntegerNetwork.Lookup(),
        x,
        bytes(IntegerNetwork.Lookup.ENTRIES));
    measure("gelu of int8", new IntegerNetwork.IntegerGelu(-4, 20), x);
  }

  private void ofIntegers() {
    Tensor x = integers(ElementType.I32, ROWS, COLUMNS);
    Op requantize = new IntegerNetwork.Requantize(10, -128, 127, ElementType.I8);
    measure(
        "int32 to int8, a scale for each column",
        requantize,
        x,
        factors(COLUMNS),
        factors(COLUMNS));
    measure("int32 to int8, one scale", requantize, x, factors(1), factors(1));
    measure("sum of two int32", 2, new Elementwise.Binary(BinaryFunction.ADD), x, x);
  }

  private void measure(String name, Op op, Tensor... operands) {
    measure(name, 1, op, operands);
  }

  private void measure(String name, int inputs, Op op, Tensor... operands) {
    KernelCase.Body body = (graph, values) -> graph.addNode(op, values).result();
    functions.add(new KernelCase(name, body, List.of(operands), inputs, false));
  }
}
