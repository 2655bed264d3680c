package io.partita.backend.java;

import static io.partita.ir.type.ElementType.BOOL;
import static io.partita.ir.type.ElementType.I32;
import static io.partita.ir.type.ElementType.I64;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U8;

import io.partita.ir.arbitrary.NearTies;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares each family of operations on each element type with the reference evaluator. */
class OperationsTest {
  private static EmittedPrograms programs;

  private final Random random = new Random(3);

  @BeforeAll
  static void open() {
    programs = new EmittedPrograms();
  }

  @AfterAll
  static void close() {
    programs.close();
  }

  /**
   * The tolerance of sums of up to 60 products of numbers below 3, which both sides accumulate in
   * f32: 60 roundings by 6e-8 of at most 500. 16-bit floats round once more, so different f32 sums
   * may round differently. A 16-bit network also rounds its hidden values, which emitted code keeps
   * in f32.
   */
  private static double tolerance(ElementType element) {
    return switch (element) {
      case F64 -> 1e-12;
      case F32 -> 2e-5;
      case F16 -> 4e-3;
      case BF16 -> 3e-2;
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 0;
    };
  }

  /** A program of many operations that share inputs by type. */
  private final class Programs {
    private final GraphBuilder builder = new GraphBuilder("operations");
    private final java.util.SequencedMap<String, Value> inputs = new java.util.LinkedHashMap<>();
    private final java.util.List<Tensor> data = new java.util.ArrayList<>();
    private final ElementType element;

    Programs(ElementType element) {
      this.element = element;
    }

    Value input(long... extents) {
      return input(TensorType.of(element, extents));
    }

    Value input(TensorType type) {
      return inputs.computeIfAbsent(
          type.toString(),
          key -> {
            data.add(EmittedPrograms.random(random, type));
            return builder.input("x" + inputs.size(), type);
          });
    }

    Value weight(long... extents) {
      return constant(TensorType.of(element, extents));
    }

    Value constant(TensorType type) {
      return builder.constant(EmittedPrograms.random(random, type));
    }

    Value given(Tensor tensor) {
      data.add(tensor);
      Value value = builder.input("given" + data.size(), tensor.type());
      inputs.put("given" + data.size(), value);
      return value;
    }

    /** Adds an operation if it is defined on the type. */
    void add(Op op, Value... operands) {
      try {
        Node node = builder.at("/" + op.mnemonic()).addNode(op, List.of(operands));
        node.results()
            .forEach(r -> builder.output(op.mnemonic() + "_" + data.size() + "_" + r.index(), r));
      } catch (TypeMismatch notDefinedOnThisType) {
        return;
      }
    }

    void verify() {
      programs.assertAgrees(builder.finish(), data, tolerance(element));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8", "BOOL"})
  void movements(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(2, 3, 4);
    p.add(new Movement.Reshape(Shape.of(4, 6)), x);
    p.add(new Movement.Transpose(List.of(2, 0, 1)), x);
    p.add(new Movement.Transpose(List.of(1, 0, 2)), x);
    p.add(new Movement.Broadcast(Shape.of(5, 2, 3, 4)), x);
    p.add(new Movement.Broadcast(Shape.of(2, 3, 4)), p.input(3, 1));
    p.add(new Movement.Slice(dims(1, 2, 0), dims(1, 3, 2), List.of(1L, -1L, 2L)), x);
    p.add(new Movement.Concat(1), x, p.input(2, 5, 4), x);
    p.add(
        new Movement.Pad(PadMode.CONSTANT, List.of(1L, -1L, 0L), List.of(0L, 2L, 3L)),
        x,
        p.input());
    for (PadMode mode : List.of(PadMode.EDGE, PadMode.REFLECT, PadMode.WRAP)) {
      p.add(new Movement.Pad(mode, List.of(0L, 2L, 1L), List.of(0L, 1L, 2L)), x);
    }
    Value indices = p.given(Tensor.longs(Shape.of(2, 2), 1, -1, 0, 2));
    p.add(new Movement.Gather(1), x, indices);
    p.add(new Movement.Gather(0), p.weight(4, 7), p.given(Tensor.longs(Shape.of(3), 3, 0, -2)));
    Value places = p.given(Tensor.longs(Shape.of(2, 3, 2), 0, 1, 2, 3, -1, -2, 0, 0, 1, 1, 2, 2));
    p.add(new Movement.GatherElements(2), x, places);
    Value tuples = p.given(Tensor.longs(Shape.of(3, 2), 1, 2, 0, -1, 1, 2));
    p.add(new Movement.GatherNd(0), x, tuples);
    p.add(new Movement.GatherNd(1), x, p.given(Tensor.longs(Shape.of(2, 1), 2, 0)));
    for (Combine reduction : Combine.values()) {
      boolean joins = reduction != Combine.REPLACE;
      if (element != BOOL || !joins) {
        p.add(new Movement.ScatterElements(2, reduction), x, places, p.input(2, 3, 2));
        p.add(new Movement.ScatterNd(reduction), x, tuples, p.input(3, 4));
      }
    }
    p.verify();
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void movementsOfOtherTypes(ElementType element) {
    movements(element);
  }

  private static List<Dim> dims(long... extents) {
    return Shape.of(extents).dims();
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8"})
  void reductions(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(2, 5, 3);
    for (ReductionKind kind : ReductionKind.values()) {
      p.add(new Reduction.Reduce(kind, List.of(1), true), x);
      p.add(new Reduction.Reduce(kind, List.of(0, 2), false), x);
      p.add(new Reduction.Reduce(kind, List.of(0, 1, 2), false), p.input(1, 1, 3));
    }
    for (boolean flag : new boolean[] {true, false}) {
      p.add(new Reduction.ArgReduce(flag, 1, true, false), x);
      p.add(new Reduction.ArgReduce(flag, 2, false, true), x);
      p.add(new Reduction.Cumulative(false, 1, flag, !flag), x);
      p.add(new Reduction.Cumulative(false, 2, flag, flag), x);
      p.add(new Reduction.TopK(3, 1, flag), x);
      p.add(new Reduction.Softmax(1, flag), x);
    }
    p.verify();
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void reductionsOfOtherTypes(ElementType element) {
    reductions(element);
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8"})
  void contractions(ElementType element) {
    Programs p = new Programs(element);
    p.add(new Contraction.MatMul(element), p.input(2, 1, 3, 5), p.input(4, 5, 6));
    p.add(new Contraction.MatMul(element), p.input(2, 3, 5), p.weight(5, 300));
    p.add(new Contraction.Einsum("bij,bkj->bik"), p.input(2, 3, 4), p.input(2, 5, 4));
    p.add(new Contraction.Einsum("ij,ij->"), p.input(3, 2), p.input(3, 2));
    Window window =
        new Window(
            List.of(2L, 3L), List.of(1L, 2L), List.of(2L, 1L), List.of(1L, 0L), List.of(0L, 2L));
    p.add(
        new Contraction.Convolution(window, 1, true, element),
        p.input(2, 4, 5, 6),
        p.input(6, 4, 2, 3),
        p.input(6));
    p.add(
        new Contraction.Convolution(window, 2, false, element),
        p.input(2, 4, 5, 6),
        p.input(6, 2, 2, 3));
    p.add(
        new Contraction.TransposedConvolution(window, 2, true),
        p.input(2, 4, 5, 6),
        p.input(4, 3, 2, 3),
        p.input(6));
    for (boolean flag : new boolean[] {true, false}) {
      p.add(new Contraction.Pool(true, window, flag, false, true), p.input(2, 4, 5, 6));
      p.add(new Contraction.Pool(false, window, flag, !flag, false), p.input(2, 4, 5, 6));
    }
    p.verify();
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void contractionsOfOtherTypes(ElementType element) {
    contractions(element);
  }

  @ParameterizedTest
  @CsvSource({"I8,F32,1,3,8", "U8,BF16,40,2,24", "I8,BF16,5,1,64"})
  void nibbleProducts(ElementType x, ElementType scale, int panels, int groups, int group) {
    Programs p = new Programs(x);
    for (Shape rows : List.of(Shape.SCALAR, Shape.of(2, 3))) {
      p.add(
          new Contraction.NibbleMatMul(),
          p.input(new TensorType(x, rows.concat(Shape.of((long) groups * group)))),
          p.constant(TensorType.of(ElementType.U8, panels, groups, 4L * group)),
          p.constant(TensorType.of(scale, panels, groups, 8)));
    }
    p.verify();
  }

  /** Compares indices exactly. */
  @ParameterizedTest
  @CsvSource({"3,1,5", "17,16,1", "256,3,7", "1024,2,24"})
  void nearestCentroids(int size, int groups, int width) {
    Programs p = new Programs(ElementType.F32);
    for (int batch = 1; batch <= 2; batch++) {
      NearTies drawn = new NearTies(batch, batch, 7, groups, width, size);
      p.add(
          new Contraction.NearestCentroid(groups),
          p.given(drawn.vectors()),
          p.builder.constant(drawn.centroids()));
    }
    p.verify();
  }

  static Stream<ElementType> floats() {
    return Stream.of(ElementType.values()).filter(ElementType::isFloat);
  }

  @ParameterizedTest
  @org.junit.jupiter.params.provider.MethodSource("floats")
  void layers(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(2, 3, 8);
    for (boolean constant : new boolean[] {true, false}) {
      Value matrix = constant ? p.weight(8, 260) : p.input(8, 260);
      Value turned = constant ? p.weight(5, 8) : p.input(5, 8);
      p.add(new Structured.Linear(false, false), x, matrix);
      p.add(new Structured.Linear(true, true), x, turned, p.input(5));
      Value up = constant ? p.weight(8, 6) : p.input(8, 6);
      Value down = constant ? p.weight(6, 8) : p.input(6, 8);
      p.add(
          new Structured.Ffn(UnaryFunction.GELU, false, false, true, true),
          x,
          up,
          p.input(6),
          down,
          p.input(8));
      p.add(new Structured.Ffn(UnaryFunction.SILU, true, false, false, false), x, up, up, down);
    }
    p.add(new Structured.Norm(NormKind.LAYER, 2, 1e-5, true, true), x, p.input(8), p.input(1));
    p.add(new Structured.Norm(NormKind.RMS, 1, 1e-5, true, false), x, p.input(3, 1));
    p.add(
        new Structured.RotaryEmbedding(false),
        p.input(2, 4, 3, 8),
        p.input(1, 3, 3),
        p.input(1, 3, 3));
    p.add(
        new Structured.RotaryEmbedding(true),
        p.input(2, 4, 3, 8),
        p.input(2, 3, 4),
        p.input(2, 3, 4));
    p.add(
        new Structured.Embedding(),
        p.weight(10, 8),
        p.given(Tensor.longs(Shape.of(2, 2), 9, 0, 3, 3)));
    p.add(new Structured.PatchEmbedding(false), p.input(2, 3, 4, 6), p.input(5, 3, 2, 3));
    p.add(
        new Structured.PatchEmbedding(true), p.input(2, 3, 4, 6), p.weight(5, 3, 2, 3), p.input(5));
    p.verify();
  }

  @ParameterizedTest
  @org.junit.jupiter.params.provider.MethodSource("floats")
  void attentions(ElementType element) {
    attentions(element, 3, 7);
    attentions(element, 70, 90);
  }

  /** Tests few queries, which are computed one by one, and many, in blocks of 64. */
  private void attentions(ElementType element, int queries, int keys) {
    Programs p = new Programs(element);
    Value q = p.input(2, 4, queries, 8);
    Value k = p.input(2, 2, keys, 8);
    Value v = p.input(2, 2, keys, 5);
    Value lengths = p.given(Tensor.longs(Shape.of(2), keys, 4));
    Value chosen = p.input(TensorType.of(BOOL, queries, keys));
    p.add(new Structured.Attention(0.3, 0, false, Dim.ZERO, 0, false, false), q, k, v);
    p.add(new Structured.Attention(0.3, 2, true, Dim.of(4), 3, false, false), q, k, v);
    p.add(new Structured.Attention(0.3, 0, true, Dim.ZERO, 0, true, false), q, k, v, chosen);
    p.add(
        new Structured.Attention(0.3, 0, false, Dim.ZERO, 0, true, true),
        q,
        k,
        v,
        p.input(1, 4, 1, keys),
        lengths);
    p.add(new Structured.Attention(0.3, 0, true, Dim.ZERO, 2, false, true), q, k, v, lengths);
    p.verify();
  }

  /** Tests more than a tile of 16 rows and 256 columns, more than 64 rows, and odd remainders. */
  @ParameterizedTest
  @org.junit.jupiter.params.provider.MethodSource("floats")
  void productsOfSeveralTiles(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(67, 37);
    p.add(new Structured.Linear(false, false), x, p.weight(37, 259));
    p.add(new Structured.Linear(true, true), x, p.weight(259, 37), p.input(259));
    p.add(new Structured.Linear(false, true), x, p.weight(37, 5), p.input(5));
    p.add(new Contraction.MatMul(element), x, p.input(37, 515));
    p.add(new Structured.Linear(false, false), x, p.weight(37, 0));
    p.add(new Structured.Linear(true, false), p.input(3, 0), p.weight(5, 0));
    p.verify();
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8", "BOOL"})
  void cacheUpdates(ElementType element) {
    Programs p = new Programs(element);
    Value start = p.given(Tensor.longs(Shape.of(2), 1, 3));
    p.add(new Structured.CacheUpdate(2, false), p.input(2, 3, 5, 4), p.input(2, 3, 2, 4), start);
    p.add(new Structured.CacheUpdate(1, true), p.input(2, 4, 3), p.input(2, 2, 3), start);
    p.verify();
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void cacheUpdatesOfOtherTypes(ElementType element) {
    cacheUpdates(element);
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8", "BOOL"})
  void sourcesAndQuantization(ElementType element) {
    Programs p = new Programs(element);
    if (element != BOOL) {
      p.add(new Source.Iota(Dim.of(12), element));
    }
    p.add(new Source.Extent(Dim.of(5)));
    if (element.isInteger()) {
      for (ElementType real : floats().toList()) {
        Value x = p.input(TensorType.of(real, 2, 6));
        Value scales =
            p.given(
                Tensor.ofDoubles(TensorType.of(real, 6), new double[] {.5, .25, 1, 2, .125, 3}));
        p.add(new Quantized.Quantize(1, 0, element), x, scales, p.input(6));
        Value scale = p.builder.constant(Tensor.scalar(real, 0.03125));
        p.add(
            new Quantized.Quantize(0, 0, element),
            x,
            scale,
            p.builder.constant(Tensor.scalar(element, 3)));
        p.add(new Quantized.Dequantize(1, 0, real), p.input(2, 6), scales, p.input(6));
        Value blocks =
            p.given(Tensor.ofDoubles(TensorType.of(real, 2, 2), new double[] {.5, .25, 1, 2}));
        p.add(new Quantized.Dequantize(1, 4, real), p.input(2, 6), blocks, p.input(2, 2));
      }
    }
    programs.assertAgrees(p.builder.finish(), p.data, 0);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void sourcesAndQuantizationOfOtherTypes(ElementType element) {
    sourcesAndQuantization(element);
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I16", "I32", "I64"})
  void integerNetworks(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(3, 8);
    for (ElementType to : List.of(I8, U8, I32)) {
      p.add(new IntegerNetwork.Requantize(5, -20, 100, to), x, p.input(3, 1), p.input());
    }
    p.add(new IntegerNetwork.IntegerSoftmax(3, 20, 50, 10, 256), x);
    p.add(new IntegerNetwork.PowerSoftmax(256, 0), x);
    p.add(new IntegerNetwork.PowerSoftmax(256, 3), x);
    p.add(new IntegerNetwork.IntegerNorm(NormKind.LAYER, 2, -128, 127), x, p.input(8), p.input(1));
    p.add(new IntegerNetwork.IntegerNorm(NormKind.RMS, 0, -128, 127), x, p.input(8));
    p.add(new IntegerNetwork.IntegerGelu(-30, 900), x);
    p.verify();
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void lookup(ElementType element) {
    Programs p = new Programs(element);
    for (ElementType to : List.of(I8, ElementType.U8, ElementType.F32)) {
      p.add(new IntegerNetwork.Lookup(), p.input(4, 8), p.input(TensorType.of(to, 256)));
    }
    p.verify();
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I16"})
  void narrowProductsInWideSums(ElementType element) {
    Programs p = new Programs(element);
    p.add(new Contraction.MatMul(I32), p.input(3, 5), p.input(TensorType.of(I8, 5, 6)));
    p.add(new Contraction.MatMul(I64), p.input(3, 5), p.input(TensorType.of(I32, 5, 6)));
    Window window = new Window(List.of(2L), List.of(1L), List.of(1L), List.of(0L), List.of(0L));
    p.add(
        new Contraction.Convolution(window, 1, false, I32),
        p.input(1, 2, 5),
        p.input(TensorType.of(U8, 3, 2, 2)));
    p.verify();
  }

  /** Sums of more products than a float holds exactly, which are largest if all have one sign. */
  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void productsOfBytesWithConstants(ElementType element) {
    Programs p = new Programs(element);
    Value x = p.input(67, 37);
    p.add(new Contraction.MatMul(I32), x, bytes(p, 37, 259));
    p.add(new Contraction.MatMul(I32), p.input(2, 3, 1100), bytes(p, 1100, 5));
    p.add(new Contraction.MatMul(I32), p.input(3, 0), bytes(p, 0, 5));
    TensorType largest = TensorType.of(element, 2, 1537);
    Value most = p.given(Tensor.filled(largest, element == U8 ? 255 : -128));
    Tensor least = Tensor.filled(TensorType.of(I8, 1537, 3), -128);
    p.add(new Contraction.MatMul(I32), most, p.builder.constant(least));
    p.add(new Contraction.MatMul(I32), most, p.input(TensorType.of(I8, 1537, 3)));
    p.verify();
  }

  private Value bytes(Programs p, long... extents) {
    return p.builder.constant(EmittedPrograms.random(random, TensorType.of(I8, extents)));
  }
}
