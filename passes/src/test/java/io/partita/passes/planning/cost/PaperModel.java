package io.partita.passes.planning.cost;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.CollectiveKind;
import io.partita.passes.program.collective.Schedules;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * The blocks of a transformer on devices, as in section IV of the MCU paper: heads and inner
 * features are split; partial results are reduced by a tree of groups of four to device 0, which
 * adds the skip connection and normalises; the result is broadcast.
 *
 * @param gated whether the network has a gate like Llama's, and so three weights instead of two
 * @param decoder whether positions are rotary and attention is causal
 * @param cache the positions of a KV cache; 0 without one
 */
record PaperModel(
    int blocks,
    int features,
    int inner,
    boolean gated,
    boolean decoder,
    int heads,
    long seq,
    long cache) {
  private static final Algorithm TREE = new Algorithm.Tree(4);
  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[64 << 20]);

  /** The model of section V-A: 512 features, 2048 inner ones, 8 blocks. */
  static PaperModel tinyLlama(boolean gated, int heads, long seq, long cache) {
    return new PaperModel(8, 512, 2048, gated, true, heads, seq, cache);
  }

  /** The model of section V-A with 24 blocks. */
  static PaperModel mobileBert() {
    return new PaperModel(24, 512, 512, false, false, 4, 268, 0);
  }

  Program program(int devices) {
    List<Module> modules = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      modules.add(new Local(device, devices, true).module());
    }
    return new Program(Mesh.line("head", devices), modules, new TreeMap<>(), new TreeMap<>());
  }

  /** Returns the model on one device. */
  Module whole() {
    return new Local(0, 1, false).module();
  }

  private final class Local {
    private final GraphBuilder graph = new GraphBuilder("device");
    private final List<Module.State> states = new ArrayList<>();
    private final int device;
    private final int devices;
    private final boolean exchanges;
    private final long localHeads;
    private final long headFeatures;
    private Origin origin = Origin.NONE;
    private int syncs;
    private int weights;

    Local(int device, int devices, boolean exchanges) {
      this.exchanges = exchanges;
      this.device = device;
      this.devices = devices;
      this.localHeads = heads / devices;
      this.headFeatures = features / heads;
    }

    Module module() {
      Value x = graph.input("x", f32(1, seq, features));
      for (int block = 0; block < blocks; block++) {
        origin = Origin.NONE.with(OptionalInt.of(block), "projection");
        graph.at(origin);
        x = sync(attention(x, block), x);
        x = sync(network(x), x);
      }
      graph.output("y", x);
      return new Module(graph.finish(), states);
    }

    private Value weight(long in, long out) {
      TensorType type = f32(in, out);
      graph.at(origin.withName("weight" + weights++));
      return graph.constant(Tensor.of(type, ZEROS.asSlice(0, type.bytes())));
    }

    private Value linear(Value x, long in, long out) {
      return graph.add(new Structured.Linear(false, false), x, weight(in, out));
    }

    private Value heads(Value x) {
      Value cut =
          graph.add(
              new Movement.Reshape(
                  Shape.of(Dim.of(1), Dim.of(seq), Dim.of(localHeads), Dim.of(headFeatures))),
              linear(x, features, localHeads * headFeatures));
      return graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), cut);
    }

    private Value rotated(Value x) {
      if (!decoder) {
        return x;
      }
      TensorType type = f32(1, seq, headFeatures / 2);
      Value table = graph.constant(Tensor.of(type, ZEROS.asSlice(0, type.bytes())));
      return graph.add(new Structured.RotaryEmbedding(false), x, table, table);
    }

    private Value cached(String name, Value x) {
      if (cache == 0) {
        return x;
      }
      Value state = graph.input(name, f32(1, localHeads, cache, headFeatures));
      Value start = graph.constant(Tensor.longs(Shape.of(1), cache - 1));
      Value updated = graph.add(new Structured.CacheUpdate(2, false), state, x, start);
      graph.output(name + ".next", updated);
      states.add(new Module.State(name, name + ".next"));
      return updated;
    }

    private Value attention(Value x, int block) {
      Value q = rotated(heads(x));
      Value k = cached("k" + block, rotated(heads(x)));
      Value v = cached("v" + block, heads(x));
      Dim offset = Dim.of(Math.max(0, cache - 1));
      Value y =
          graph.add(new Structured.Attention(0.125, 0, decoder, offset, 0, false, false), q, k, v);
      Value together =
          graph.add(
              new Movement.Reshape(
                  Shape.of(Dim.of(1), Dim.of(seq), Dim.of(localHeads * headFeatures))),
              graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), y));
      return linear(together, localHeads * headFeatures, features);
    }

    private Value network(Value x) {
      long part = inner / devices;
      if (!gated) {
        return graph.add(
            new Structured.Ffn(UnaryFunction.GELU, false, false, false, false),
            x,
            weight(features, part),
            weight(part, features));
      }
      return graph.add(
          new Structured.Ffn(UnaryFunction.SILU, true, false, false, false),
          x,
          weight(features, part),
          weight(features, part),
          weight(part, features));
    }

    private Value sync(Value partial, Value skip) {
      Value sum = exchange(CollectiveKind.REDUCE, partial, device == 0);
      Value normal = sum;
      if (device == 0) {
        Value added = graph.add(new Elementwise.Binary(BinaryFunction.ADD), sum, skip);
        normal =
            graph.add(
                new Structured.Norm(
                    decoder ? Structured.NormKind.RMS : Structured.NormKind.LAYER,
                    2,
                    1e-5,
                    false,
                    false),
                added);
      }
      return exchange(CollectiveKind.BROADCAST, normal, true);
    }

    private Value exchange(CollectiveKind kind, Value value, boolean gets) {
      if (!exchanges) {
        return value;
      }
      Collective collective = Collective.of(kind, devices, seq * features, ElementType.F32);
      int capacity = 1;
      Exchange exchange =
          new Exchange(
              syncs++,
              seq * features,
              ElementType.F32,
              collective.before(device),
              collective.after(device),
              Schedules.of(collective, TREE, capacity).steps().get(device));
      Value after =
          collective.before(device).isEmpty()
              ? graph.add(exchange)
              : graph.add(
                  exchange,
                  graph.add(new Movement.Reshape(Shape.of(Dim.of(seq * features))), value));
      return gets
          ? graph.add(
              new Movement.Reshape(Shape.of(Dim.of(1), Dim.of(seq), Dim.of(features))), after)
          : after;
    }
  }

  private static TensorType f32(long... extents) {
    return TensorType.of(ElementType.F32, extents);
  }
}
