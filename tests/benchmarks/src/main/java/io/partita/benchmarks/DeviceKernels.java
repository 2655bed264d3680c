package io.partita.benchmarks;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Operations of several sizes as one program for a chip, each a step or a few. */
final class DeviceKernels {
  private final SplittableRandom random = new SplittableRandom(1);
  private final GraphBuilder builder = new GraphBuilder("kernels");
  private final SortedMap<String, ShardedType> inputTypes = new TreeMap<>();
  private final SortedMap<String, ShardedType> outputTypes = new TreeMap<>();
  private final List<Tensor> inputs = new ArrayList<>();

  /** Products of floats, products of bytes, element-wise functions, rows, and integer networks. */
  DeviceKernels() {
    products();
    elements();
    rows();
    integers();
  }

  List<Tensor> inputs() {
    return inputs;
  }

  Program program() {
    return new Program(Mesh.of(), List.of(new Module(builder.finish())), inputTypes, outputTypes);
  }

  private void products() {
    for (long[] size :
        new long[][] {{1, 64, 64}, {1, 256, 64}, {1, 300, 100}, {16, 64, 64}, {33, 30, 70}}) {
      add(
          "linear f32 " + Arrays.toString(size),
          new Structured.Linear(false, false),
          1,
          floats(size[0], size[1]),
          floats(size[1], size[2]));
    }
    for (long[] size : new long[][] {{1, 256, 256}, {16, 64, 64}, {33, 50, 70}}) {
      add(
          "product i8 " + Arrays.toString(size),
          new Contraction.MatMul(ElementType.I32),
          1,
          bytes(size[0], size[1]),
          bytes(size[1], size[2]));
    }
  }

  private void elements() {
    for (long size : new long[] {1000, 6000}) {
      for (BinaryFunction function :
          List.of(BinaryFunction.ADD, BinaryFunction.MUL, BinaryFunction.DIV)) {
        add(
            function.name() + " " + size,
            new Elementwise.Binary(function),
            2,
            floats(size),
            floats(size));
      }
      for (UnaryFunction function :
          List.of(UnaryFunction.RELU, UnaryFunction.GELU, UnaryFunction.EXP, UnaryFunction.SQRT)) {
        add(function.name() + " " + size, new Elementwise.Unary(function), 1, floats(size));
      }
    }
  }

  private void rows() {
    for (long[] size : new long[][] {{1, 64}, {16, 96}, {50, 64}}) {
      String text = " " + Arrays.toString(size);
      add("softmax" + text, new Reduction.Softmax(1, false), 1, floats(size));
      Tensor scale = floats(size[1]);
      add(
          "rms norm" + text,
          new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
          1,
          floats(size),
          scale);
      add(
          "layer norm" + text,
          new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
          1,
          floats(size),
          scale,
          scale);
      add("transpose" + text, new Movement.Transpose(List.of(1, 0)), 1, floats(size));
    }
  }

  private void integers() {
    for (long[] size : new long[][] {{16, 64}, {40, 100}}) {
      String text = " " + Arrays.toString(size);
      add(
          "integer softmax" + text,
          new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256),
          1,
          bytes(size));
      add("integer gelu" + text, new IntegerNetwork.IntegerGelu(-4, 20), 1, bytes(size));
    }
  }

  /** All operands but the first {@code given} are constants. */
  private void add(String label, Op op, int given, Tensor... operands) {
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < operands.length; i++) {
      if (i < given) {
        String name = "x%03d".formatted(inputs.size());
        values.add(builder.input(name, operands[i].type()));
        inputTypes.put(name, whole(operands[i].type()));
        inputs.add(operands[i]);
      } else {
        values.add(builder.constant(operands[i]));
      }
    }
    Node node = builder.at(label).addNode(op, values);
    String name = "y%03d".formatted(outputTypes.size());
    builder.output(name, node.result());
    outputTypes.put(name, whole(node.result().type()));
  }

  private static ShardedType whole(TensorType type) {
    return new ShardedType(type, Layout.replicated(Mesh.of(), type.rank()));
  }

  private Tensor floats(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(0.1, 1);
    }
    return Tensor.of(type, values);
  }

  private Tensor bytes(long... extents) {
    TensorType type = TensorType.of(ElementType.I8, extents);
    long[] values = new long[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextLong(-99, 100);
    }
    return Tensor.ofLongs(type, values);
  }
}
