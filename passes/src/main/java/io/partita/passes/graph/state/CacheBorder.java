package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Gives the inputs and outputs of caches the shapes in which they are joined. A stacked cache, such
 * as {@code [2, batch, heads, past, d]} for keys and values, becomes an input and an output for
 * each part. Reshapes and transposes between an input and a join are removed together with their
 * inverses before the output.
 */
final class CacheBorder {
  private final GraphEditor graph;

  private CacheBorder(GraphEditor graph) {
    this.graph = graph;
  }

  /** Returns the graph with such inputs and outputs; the same graph if it has them already. */
  static Graph move(Graph graph) {
    CacheBorder border = new CacheBorder(new GraphEditor(graph));
    boolean isMoved = false;
    while (border.moveOne()) {
      isMoved = true;
    }
    return isMoved ? border.graph.freeze() : graph;
  }

  private boolean moveOne() {
    for (Graph.Output output : List.copyOf(graph.outputs())) {
      if (divides(output) || undoes(output)) {
        graph.dropDead();
        return true;
      }
    }
    return false;
  }

  /** Matches {@code concat(join(slice(past)), ...)} with the parts that are sliced. */
  private boolean divides(Graph.Output output) {
    Node stack = graph.definition(output.value()).orElse(null);
    if (stack == null || !(stack.op() instanceof Movement.Concat(int axis))) {
      return false;
    }
    Value past = null;
    List<Node> slices = new ArrayList<>();
    Dim start = Dim.ZERO;
    for (Value part : graph.operands(stack)) {
      Node slice = pastOf(part).flatMap(graph::definition).orElse(null);
      if (slice == null || !(slice.op() instanceof Movement.Slice cut)) {
        return false;
      }
      Value input = graph.operand(slice, 0);
      Dim size = part.type().dim(axis);
      boolean isNext =
          input.isInput()
              && (past == null || past == input)
              && isLonger(input.type().shape(), output.value().type().shape())
              && isPart(cut, input.type().shape(), axis, start, size);
      if (!isNext) {
        return false;
      }
      past = input;
      start = start.plus(size);
      slices.add(slice);
    }
    if (!start.equals(past.type().dim(axis)) || graph.uses(past) != slices.size()) {
      return false;
    }
    for (int i = 0; i < slices.size(); i++) {
      Value own = graph.addInput(past.name() + "." + i, slices.get(i).result().type());
      graph.replace(slices.get(i).result(), own);
      graph.addOutput(output.name() + "." + i, graph.operand(stack, i));
    }
    graph.removeOutput(output.name());
    graph.dropDead();
    graph.removeInput(past);
    return true;
  }

  private static boolean isPart(Movement.Slice cut, Shape shape, int along, Dim start, Dim size) {
    for (int axis = 0; axis < shape.rank(); axis++) {
      Dim from = axis == along ? start : Dim.ZERO;
      Dim count = axis == along ? size : shape.dim(axis);
      boolean isRight =
          cut.starts().get(axis).equals(from)
              && cut.sizes().get(axis).equals(count)
              && cut.steps().get(axis) == 1;
      if (!isRight) {
        return false;
      }
    }
    return true;
  }

  /**
   * Matches {@code undo(join(move(past)))}: the movement in the next run gives the join of this
   * one.
   */
  private boolean undoes(Graph.Output output) {
    Node undo = graph.definition(output.value()).orElse(null);
    if (undo == null || undo.operands().size() != 1) {
      return false;
    }
    Value joined = graph.operand(undo, 0);
    Value past = firstMoved(joined).orElse(null);
    if (past == null || !isLonger(past.type().shape(), output.value().type().shape())) {
      return false;
    }
    List<Node> readers =
        graph.nodes().stream()
            .filter(node -> graph.isLive(node) && graph.operands(node).contains(past))
            .toList();
    if (readers.size() != 1
        || graph.uses(past) != 1
        || !undoes(undo.op(), readers.getFirst().op())
        || !isLonger(readers.getFirst().result().type().shape(), joined.type().shape())) {
      return false;
    }
    Value moved = readers.getFirst().result();
    Value own = graph.retypeInput(past, moved.type());
    graph.replace(moved, own);
    graph.setOutput(output.name(), joined);
    return true;
  }

  private static boolean undoes(Op undo, Op move) {
    if (!(undo instanceof Movement.Transpose(var back))
        || !(move instanceof Movement.Transpose(var permutation))) {
      return undo instanceof Movement.Reshape && move instanceof Movement.Reshape;
    }
    for (int i = 0; i < permutation.size(); i++) {
      if (back.size() != permutation.size() || back.get(permutation.get(i)) != i) {
        return false;
      }
    }
    return true;
  }

  /** Returns the past of a part of an output, before its movement to the join. */
  private Optional<Value> pastOf(Value part) {
    return beforeMoves(part, false)
        .map(join -> graph.operand(graph.definition(join).orElseThrow(), 0))
        .flatMap(past -> beforeMoves(past, true));
  }

  /** Returns the input whose moved elements are joined in a value. */
  private Optional<Value> firstMoved(Value joined) {
    return beforeMoves(joined, false)
        .map(join -> graph.operand(graph.definition(join).orElseThrow(), 0))
        .flatMap(past -> beforeMoves(past, true))
        .filter(Value::isInput);
  }

  /** Follows reshapes and transposes upwards to a join or to any other value. */
  private Optional<Value> beforeMoves(Value value, boolean isPast) {
    Value at = value;
    while (true) {
      Node node = graph.definition(at).orElse(null);
      Op op = node == null ? null : node.op();
      if (op instanceof Movement.Reshape || op instanceof Movement.Transpose) {
        at = graph.operand(node, 0);
      } else if (isPast) {
        return Optional.of(at);
      } else {
        return op instanceof Movement.Concat && node.operands().size() == 2
            ? Optional.of(at)
            : Optional.empty();
      }
    }
  }

  /** Whether two shapes differ in one axis only, which is longer in the second one. */
  private static boolean isLonger(Shape before, Shape after) {
    if (before.rank() != after.rank()) {
      return false;
    }
    int longer = 0;
    for (int axis = 0; axis < before.rank(); axis++) {
      if (!before.dim(axis).equals(after.dim(axis))) {
        longer += after.dim(axis).minus(before.dim(axis)).isAtLeast(1) ? 1 : 2;
      }
    }
    return longer == 1;
  }
}
