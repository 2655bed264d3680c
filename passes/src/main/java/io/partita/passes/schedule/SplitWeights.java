package io.partita.passes.schedule;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits products whose weights are too large for one fetch along their columns: {@code x [w1 w2]
 * -> concat(x w1, x w2)}, each part of which is written directly to its place. The order of
 * summation does not change.
 */
final class SplitWeights {
  /** The unit of parts, so that kernels don't work on few columns. */
  private static final long GRANULE = 16;

  private final long mostBytes;
  private final Map<Tensor, Map<List<Long>, Tensor>> parts = new IdentityHashMap<>();

  private SplitWeights(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /**
   * Returns programs with changed graphs of some devices; equal parts of a weight are the same
   * tensor.
   *
   * @param mostBytes the largest bytes of a part, unless {@value #GRANULE} columns need more
   */
  static List<Program> cut(List<Program> programs, List<Integer> devices, long mostBytes) {
    SplitWeights cut = new SplitWeights(mostBytes);
    return programs.stream().map(program -> cut.cut(program, devices)).toList();
  }

  private Program cut(Program program, List<Integer> devices) {
    List<Module> modules = new ArrayList<>(program.devices());
    devices.forEach(device -> modules.set(device, cut(modules.get(device))));
    return new Program(program.mesh(), modules, program.inputs(), program.outputs());
  }

  private Module cut(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      switch (node.op()) {
        case Structured.Linear(var transposed, var bias) ->
            cut(graph, node, transposed ? 0 : 1, bias);
        case Contraction.MatMul product when node.operand(1).type().rank() == 2 ->
            cut(graph, node, 1, false);
        case Op other -> {}
      }
    }
    return module.with(graph.freeze());
  }

  /**
   * @param axis the axis of columns of the weight
   * @param bias whether there is a bias
   */
  private void cut(GraphEditor graph, Node node, int axis, boolean bias) {
    Tensor weight = graph.constant(node.operand(1)).orElse(null);
    Tensor added = bias ? graph.constant(node.operand(2)).orElse(null) : null;
    if (weight == null || bias && added == null || weight.type().bytes() <= mostBytes) {
      return;
    }
    long columns = weight.shape().extent(axis);
    long columnBytes = Math.max(1, weight.type().bytes() / columns);
    long most = Math.max(1, mostBytes / columnBytes / GRANULE) * GRANULE;
    long count = Math.ceilDiv(columns, most);
    if (count < 2) {
      return;
    }
    long size = Math.ceilDiv(Math.ceilDiv(columns, count), GRANULE) * GRANULE;
    graph.before(node);
    List<Value> results = new ArrayList<>();
    for (long start = 0; start < columns; start += size) {
      long width = Math.min(size, columns - start);
      List<Value> operands = new ArrayList<>();
      operands.add(node.operand(0));
      operands.add(graph.constant(part(weight, axis, start, width)));
      if (bias) {
        operands.add(graph.constant(part(added, 0, start, width)));
      }
      results.add(graph.add(node.op(), operands));
    }
    int last = node.result().type().rank() - 1;
    graph.replace(node.result(), graph.add(new Movement.Concat(last), results));
  }

  /** Returns the same tensor for all users of the same part. */
  private Tensor part(Tensor whole, int axis, long start, long size) {
    return parts
        .computeIfAbsent(whole, key -> new HashMap<>())
        .computeIfAbsent(List.of((long) axis, start, size), key -> made(whole, axis, start, size));
  }

  private static Tensor made(Tensor whole, int axis, long start, long size) {
    Shape shape = whole.shape().with(axis, Dim.of(size));
    TensorType type = whole.type().with(shape);
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
    starts.set(axis, Dim.of(start));
    Op slice = new Movement.Slice(starts, shape.dims(), Collections.nCopies(shape.rank(), 1L));
    return Tensor.deferred(
        type, () -> OpEvaluator.evaluate(slice, List.of(whole)).getFirst().bytes());
  }
}
