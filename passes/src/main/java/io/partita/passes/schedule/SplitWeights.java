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
import io.partita.ir.tensor.NibblePanels;
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
            cut(graph, node, transposed ? List.of(0, 0) : List.of(1, 0), 1);
        case Contraction.MatMul product when node.operand(1).type().rank() == 2 ->
            cut(graph, node, List.of(1), 1);
        case Contraction.NibbleMatMul product ->
            cut(graph, node, List.of(0, 0), NibblePanels.COLUMNS);
        case Op other -> {}
      }
    }
    return module.with(graph.freeze());
  }

  /**
   * @param axes the axis of columns of each operand after the first, of which the next is the
   *     weight
   * @param columns the columns of the result for each index of these axes
   */
  private void cut(GraphEditor graph, Node node, List<Integer> axes, long columns) {
    List<Tensor> constants = new ArrayList<>();
    for (Value operand : node.operands().subList(1, node.operands().size())) {
      graph.constant(operand).ifPresent(constants::add);
    }
    boolean isConstant = constants.size() == node.operands().size() - 1;
    if (!isConstant || constants.getFirst().type().bytes() <= mostBytes) {
      return;
    }
    Tensor weight = constants.getFirst();
    long extent = weight.shape().extent(axes.getFirst());
    long granule = Math.max(1, GRANULE / columns);
    long bytes = Math.max(1, weight.type().bytes() / extent);
    long most = Math.max(1, mostBytes / bytes / granule) * granule;
    long count = Math.ceilDiv(extent, most);
    if (count < 2) {
      return;
    }
    long size = Math.ceilDiv(Math.ceilDiv(extent, count), granule) * granule;
    graph.before(node);
    List<Value> results = new ArrayList<>();
    for (long start = 0; start < extent; start += size) {
      long width = Math.min(size, extent - start);
      List<Value> operands = new ArrayList<>();
      operands.add(node.operand(0));
      for (int i = 0; i < constants.size(); i++) {
        operands.add(graph.constant(part(constants.get(i), axes.get(i), start, width)));
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
