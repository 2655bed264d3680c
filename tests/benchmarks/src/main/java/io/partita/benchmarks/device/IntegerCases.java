package io.partita.benchmarks.device;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Locale;

/** Operations of integer networks. */
final class IntegerCases extends KernelCases {
  /** A shift that multipliers of 31 bits have in quantized models, for factors near 2^-10. */
  private static final int FINE_SHIFT = 40;

  private static final long[][] ROWS = {
    size(16, 64), size(40, 100), size(10, 400), size(64, 64), size(1, 200), size(1, 64)
  };

  private static final long[][] PRODUCTS = {
    size(1, 64, 64),
    size(1, 100, 256),
    size(16, 64, 64),
    size(33, 50, 70),
    size(64, 100, 32),
    size(50, 32, 100),
    size(64, 192, 128),
    size(64, 64, 192),
    size(100, 40, 60),
    size(32, 300, 40),
    size(128, 128, 32),
    size(20, 64, 320)
  };

  private static final long[][] VECTORS = {
    size(1, 64, 64),
    size(1, 128, 128),
    size(1, 64, 256),
    size(1, 96, 192),
    size(1, 256, 64),
    size(1, 512, 64),
    size(1, 128, 256),
    size(1, 192, 96)
  };

  private static final long[][] ODD = {
    size(16, 30, 32), size(12, 70, 20), size(40, 50, 24), size(24, 18, 40), size(9, 25, 64)
  };

  private static final long[][] FEW_ROWS = {
    size(2, 512, 128),
    size(2, 256, 96),
    size(3, 128, 64),
    size(3, 512, 64),
    size(2, 64, 64),
    size(2, 100, 128),
    size(3, 256, 192),
    size(3, 100, 96),
    size(2, 128, 256),
    size(2, 192, 192),
    size(3, 64, 256)
  };

  private static final long[][] VALUES = {
    size(64),
    size(200),
    size(256),
    size(1000),
    size(2000),
    size(700),
    size(4096),
    size(3000),
    size(1500)
  };

  /** Products with wide sums and with requantised ones. */
  static List<KernelCase> products() {
    IntegerCases it = new IntegerCases();
    Op product = new Contraction.MatMul(ElementType.I32);
    it.add(
        "product i8",
        product,
        1,
        size -> List.of(it.bytes(size[0], size[1]), it.bytes(size[1], size[2])),
        size(1, 256, 256),
        size(1, 128, 60),
        size(16, 64, 64),
        size(33, 50, 70),
        size(64, 64, 64),
        size(20, 200, 40),
        size(16, 512, 64),
        size(16, 684, 32),
        size(16, 512, 96),
        size(16, 512, 128),
        size(64, 128, 96),
        size(7, 256, 60),
        size(32, 300, 100),
        size(100, 40, 60));
    it.add(
        "product i4",
        new Contraction.NibbleMatMul(),
        1,
        it::nibbles,
        size(1, 256, 256),
        size(1, 512, 128),
        size(16, 64, 64),
        size(20, 192, 96),
        size(64, 128, 64),
        size(33, 256, 128));
    it.requantized("product", PRODUCTS);
    return it.cases();
  }

  /** A row by a matrix, as in a decoder that computes one token. */
  static List<KernelCase> vectors() {
    return ofBytes("row by a matrix", VECTORS);
  }

  /** Products of two or three rows, as in a decoder's prompt that is split among many chips. */
  static List<KernelCase> fewRows() {
    return ofBytes("product of few rows", FEW_ROWS);
  }

  /** Products whose sums aren't over whole words. */
  static List<KernelCase> odd() {
    return ofBytes("product over odd rows", ODD);
  }

  private static List<KernelCase> ofBytes(String name, long[]... sizes) {
    IntegerCases it = new IntegerCases();
    it.plain(name, sizes);
    it.requantized(name, sizes);
    return it.cases();
  }

  private void plain(String name, long[]... sizes) {
    for (ElementType from : List.of(ElementType.I8, ElementType.U8)) {
      add(
          name + " " + from,
          new Contraction.MatMul(ElementType.I32),
          1,
          size -> List.of(integers(from, size[0], size[1]), bytes(size[1], size[2])),
          sizes);
    }
  }

  private void requantized(String name, long[]... sizes) {
    requantized(name + " i8 to i8", ElementType.I8, ElementType.I8, sizes);
    requantized(name + " i8 to i32", ElementType.I8, ElementType.I32, sizes);
    requantized(name + " u8 to i8", ElementType.U8, ElementType.I8, sizes);
  }

  private void requantized(String name, ElementType from, ElementType to, long[]... sizes) {
    Op product = new Contraction.MatMul(ElementType.I32);
    addBody(
        name,
        size ->
            (graph, values) -> {
              Value sums = graph.addNode(product, values.subList(0, 2)).result();
              return requantize(graph, sums, values.get(2), values.get(3), to);
            },
        1,
        size ->
            List.of(
                integers(from, size[0], size[1]),
                bytes(size[1], size[2]),
                factors(size[2]),
                factors(size[2])),
        sizes);
  }

  private static Value requantize(
      GraphBuilder graph, Value x, Value multiplier, Value addend, ElementType to) {
    return graph
        .addNode(new IntegerNetwork.Requantize(10, -128, 127, to), List.of(x, multiplier, addend))
        .result();
  }

  static List<KernelCase> elements() {
    IntegerCases it = new IntegerCases();
    for (ElementType from : List.of(ElementType.I32, ElementType.I8, ElementType.U8)) {
      for (ElementType to : List.of(ElementType.I8, ElementType.I32)) {
        it.add(
            "requantize " + from + " to " + to,
            new IntegerNetwork.Requantize(10, -128, 127, to),
            1,
            size -> List.of(it.integers(from, size), it.factors(size[0], 1), it.factors(1)),
            size(16, 64),
            size(40, 100),
            size(64, 64),
            size(10, 400));
      }
    }
    it.add(
        "requantize i32 to i8 by columns",
        new IntegerNetwork.Requantize(FINE_SHIFT, -128, 127, ElementType.I8),
        1,
        size ->
            List.of(
                it.integers(ElementType.I32, size), it.fineFactors(size[1]), it.factors(size[1])),
        size(16, 64),
        size(16, 128),
        size(40, 100),
        size(16, 256),
        size(64, 64),
        size(10, 400));
    for (BinaryFunction function :
        List.of(BinaryFunction.ADD, BinaryFunction.SUB, BinaryFunction.MUL, BinaryFunction.MAX)) {
      it.add(
          function.name().toLowerCase(Locale.ROOT) + " i32",
          new Elementwise.Binary(function),
          2,
          size -> List.of(it.integers(ElementType.I32, size), it.integers(ElementType.I32, size)),
          size(700),
          size(1000),
          size(9000),
          size(6000));
    }
    it.add(
        "quantize",
        new Quantized.Quantize(-1, 0, ElementType.I8),
        1,
        size -> List.of(it.floats(size), it.floats(), it.indices(ElementType.I8, 1)),
        size(700),
        size(1000),
        size(9000),
        size(6000));
    it.add(
        "dequantize",
        new Quantized.Dequantize(-1, 0, ElementType.F32),
        1,
        size -> List.of(it.bytes(size), it.floats(), it.indices(ElementType.I8, 1)),
        size(700),
        size(1000),
        size(9000),
        size(6000));
    it.add(
        "lookup",
        new IntegerNetwork.Lookup(),
        1,
        size -> List.of(it.bytes(size), it.bytes(IntegerNetwork.Lookup.ENTRIES)),
        size(700),
        size(1000),
        size(9000),
        size(30_000));
    it.add(
        "lookup of f32",
        new IntegerNetwork.Lookup(),
        1,
        size -> List.of(it.bytes(size), it.floats(IntegerNetwork.Lookup.ENTRIES)),
        size(700),
        size(1000),
        size(9000),
        size(20_000));
    it.add(
        "cast i8 to f32",
        new Elementwise.Cast(ElementType.F32),
        1,
        size -> List.of(it.bytes(size)),
        size(700),
        size(1000),
        size(9000),
        size(6000));
    return it.cases();
  }

  /** Functions of integers that loops compute in one pass. */
  static List<KernelCase> runs() {
    IntegerCases it = new IntegerCases();
    it.add(
        "cast i8 to i32",
        new Elementwise.Cast(ElementType.I32),
        1,
        size -> List.of(it.bytes(size)),
        VALUES);
    it.addBody(
        "requantize the whole",
        size -> (graph, values) -> requantize(graph, values, ElementType.I8),
        1,
        size -> List.of(it.integers(ElementType.I32, size), it.factors(1), it.factors(1)),
        VALUES);
    for (BinaryFunction function : List.of(BinaryFunction.ADD, BinaryFunction.MUL)) {
      Op binary = new Elementwise.Binary(function);
      it.addBody(
          "requantize, " + function.name().toLowerCase(Locale.ROOT) + ", requantize",
          size ->
              (graph, values) -> {
                Value wide = requantize(graph, values, ElementType.I32);
                Value both = graph.addNode(binary, List.of(wide, values.get(3))).result();
                return requantize(
                    graph, List.of(both, values.get(4), values.get(5)), ElementType.I8);
              },
          1,
          size ->
              List.of(
                  it.integers(ElementType.I32, size),
                  it.factors(1),
                  it.factors(1),
                  it.integers(ElementType.I32, size),
                  it.factors(1),
                  it.factors(1)),
          VALUES);
    }
    it.addBody(
        "requantize, look up, cast",
        size ->
            (graph, values) -> {
              Value bytes = requantize(graph, values, ElementType.I8);
              Value found =
                  graph
                      .addNode(new IntegerNetwork.Lookup(), List.of(bytes, values.get(3)))
                      .result();
              return graph.addNode(new Elementwise.Cast(ElementType.I32), List.of(found)).result();
            },
        1,
        size ->
            List.of(
                it.integers(ElementType.I32, size),
                it.factors(1),
                it.factors(1),
                it.bytes(IntegerNetwork.Lookup.ENTRIES)),
        VALUES);
    return it.cases();
  }

  private static Value requantize(GraphBuilder graph, List<Value> values, ElementType to) {
    return requantize(graph, values.get(0), values.get(1), values.get(2), to);
  }

  static List<KernelCase> rows() {
    IntegerCases it = new IntegerCases();
    it.add(
        "integer softmax",
        new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256),
        1,
        size -> List.of(it.bytes(size)),
        ROWS);
    it.add(
        "power softmax",
        new IntegerNetwork.PowerSoftmax(256, 0),
        1,
        size -> List.of(it.bytes(size)),
        ROWS);
    it.add(
        "integer layer norm",
        new IntegerNetwork.IntegerNorm(Structured.NormKind.LAYER, 1, -128, 127),
        1,
        size -> List.of(it.bytes(size), it.factors(size[1]), it.factors(size[1])),
        ROWS);
    it.add(
        "integer rms norm",
        new IntegerNetwork.IntegerNorm(Structured.NormKind.RMS, 1, -128, 127),
        1,
        size -> List.of(it.bytes(size), it.factors(size[1])),
        ROWS);
    it.add(
        "integer gelu",
        new IntegerNetwork.IntegerGelu(-4, 20),
        1,
        size -> List.of(it.bytes(size)),
        ROWS);
    it.add(
        "integer gelu i32",
        new IntegerNetwork.IntegerGelu(-4, 20),
        1,
        size -> List.of(it.integers(ElementType.I32, size)),
        size(16, 64),
        size(40, 100),
        size(64, 64),
        size(10, 400));
    it.add(
        "sum of rows i32",
        new Reduction.Reduce(ReductionKind.SUM, List.of(1), true),
        1,
        size -> List.of(it.integers(ElementType.I32, size)),
        ROWS);
    return it.cases();
  }
}
