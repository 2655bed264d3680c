package io.partita.passes.schedule;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorRules;
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
import io.partita.passes.schedule.legalize.Epilogues;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits products with large weights along their columns: {@code x [w1 w2] -> concat(x w1, x w2)},
 * each part of which is written directly to its place. Functions of single elements that follow are
 * split with them, so that they stay in the loops of products. The order of summation does not
 * change.
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
    Map<Value, List<Node>> readers = module.graph().readers();
    for (Node node : module.graph().nodes()) {
      switch (node.op()) {
        case Structured.Linear(var transposed, var bias) ->
            cut(graph, readers, node, transposed ? List.of(0, 0) : List.of(1, 0), 1);
        case Contraction.MatMul product when node.operand(1).type().rank() == 2 ->
            cut(graph, readers, node, List.of(1), 1);
        case Contraction.NibbleMatMul product ->
            cut(graph, readers, node, List.of(0, 0), NibblePanels.COLUMNS);
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
  private void cut(
      GraphEditor graph,
      Map<Value, List<Node>> readers,
      Node node,
      List<Integer> axes,
      long columns) {
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
    List<Node> functions = functions(graph, readers, node);
    Node last = functions.isEmpty() ? node : functions.getLast();
    List<Value> results = new ArrayList<>();
    for (long start = 0; start < extent; start += size) {
      long width = Math.min(size, extent - start);
      graph.before(last).from(node);
      List<Value> operands = new ArrayList<>();
      operands.add(node.operand(0));
      for (int i = 0; i < constants.size(); i++) {
        operands.add(graph.constant(part(constants.get(i), axes.get(i), start, width)));
      }
      Value result = graph.add(node.op(), operands);
      Value whole = node.result();
      for (Node function : functions) {
        graph.from(function);
        result = function(graph, function, whole, result, start * columns, width * columns);
        whole = function.result();
      }
      results.add(result);
    }
    int axis = node.result().type().rank() - 1;
    graph.replace(last.result(), graph.add(new Movement.Concat(axis), results));
  }

  /** Returns the functions of single elements that alone use the result of a product, in order. */
  private static List<Node> functions(
      GraphEditor graph, Map<Value, List<Node>> readers, Node product) {
    List<Node> functions = new ArrayList<>();
    Value values = product.result();
    while (graph.uses(values) == 1 && readers.containsKey(values)) {
      Node next = readers.get(values).getFirst();
      if (!Epilogues.isEpilogue(next, values)) {
        break;
      }
      functions.add(next);
      values = next.result();
    }
    return functions;
  }

  /**
   * Adds a function of some columns.
   *
   * @param whole the operand whose columns are {@code part}
   */
  private Value function(
      GraphEditor graph, Node function, Value whole, Value part, long start, long width) {
    List<TensorType> types = function.operands().stream().map(Value::type).toList();
    FactorRule rule = FactorRules.of(function.op(), types);
    List<Integer> columns = rule.results().getFirst().getLast();
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      Value operand = function.operand(i);
      List<List<Integer>> dims = rule.operands().get(i);
      boolean isSplit = !dims.isEmpty() && dims.getLast().equals(columns);
      if (operand == whole) {
        operands.add(part);
      } else if (isSplit) {
        operands.add(columns(graph, operand, start, width));
      } else {
        operands.add(operand);
      }
    }
    return graph.add(function.op(), operands);
  }

  private Value columns(GraphEditor graph, Value values, long start, long width) {
    int axis = values.type().rank() - 1;
    return graph
        .constant(values)
        .map(constant -> graph.constant(part(constant, axis, start, width)))
        .orElseGet(() -> graph.add(slice(values.type().shape(), axis, start, width), values));
  }

  /** Returns the same tensor for all users of the same part. */
  private Tensor part(Tensor whole, int axis, long start, long size) {
    return parts
        .computeIfAbsent(whole, key -> new HashMap<>())
        .computeIfAbsent(List.of((long) axis, start, size), key -> made(whole, axis, start, size));
  }

  private static Tensor made(Tensor whole, int axis, long start, long size) {
    TensorType type = whole.type().with(whole.shape().with(axis, Dim.of(size)));
    Op slice = slice(whole.shape(), axis, start, size);
    return Tensor.deferred(
        type, () -> OpEvaluator.evaluate(slice, List.of(whole)).getFirst().bytes());
  }

  private static Op slice(Shape whole, int axis, long start, long size) {
    Shape shape = whole.with(axis, Dim.of(size));
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
    starts.set(axis, Dim.of(start));
    return new Movement.Slice(starts, shape.dims(), Collections.nCopies(shape.rank(), 1L));
  }
}
