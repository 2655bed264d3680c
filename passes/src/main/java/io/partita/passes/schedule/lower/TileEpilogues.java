package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.passes.schedule.legalize.Epilogues;
import io.partita.passes.schedule.legalize.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The functions that a loop applies in place to each finished tile of its result: activations, and
 * sums or products with another operand, which is loaded in tiles like those of the result. They
 * are applied in the order of the nodes, and each result is rounded as without fusion, so that it
 * has the same bits.
 *
 * @param first the index of the first operand among those of the group
 */
record TileEpilogues(List<Function> functions, int first) {
  static final TileEpilogues NONE = new TileEpilogues(List.of(), 0);

  /**
   * @param name the name of the operand in the loop
   * @param operand the other operand of a binary function, which broadcasts to the result
   * @param sumsFirst whether the sums are the left operand
   */
  record Function(String kernel, String name, Optional<TensorView> operand, boolean sumsFirst) {}

  /** The source of an operand's tile, and its strides along the tile of the result. */
  record Place(List<BoxDimension> box, List<TileExpression> strides) {}

  /**
   * @param operands the operands of the group
   */
  static TileEpilogues of(Group group, List<TensorView> operands) {
    List<Node> nodes = group.epilogueNodes();
    List<TensorView> own = new ArrayList<>();
    List<Function> functions = new ArrayList<>();
    int count = (int) nodes.stream().filter(node -> node.operands().size() == 2).count();
    int next = operands.size() - count;
    for (Node node : nodes) {
      Optional<TensorView> operand = Optional.empty();
      boolean sumsFirst = true;
      if (node.operands().size() == 2) {
        operand = Optional.of(operands.get(next + own.size()));
        own.add(operand.get());
        Value left = node.operand(0);
        sumsFirst = !left.isInput() && group.nodes().contains(left.definition());
      }
      String kernel = Epilogues.kernel(node).orElseThrow().name();
      functions.add(new Function(kernel, name(node, own.size()), operand, sumsFirst));
    }
    return new TileEpilogues(functions, next);
  }

  private static String name(Node node, int number) {
    String role =
        switch (node.op()) {
          case Elementwise.Binary(var function) when function == BinaryFunction.ADD -> "residual";
          case Elementwise.Binary(var function) when function == BinaryFunction.MUL -> "factor";
          default -> "operand";
        };
    return number > 1 ? role + number : role;
  }

  /** Returns the other operands, in the order of the group. */
  List<TensorView> operands() {
    return functions.stream().flatMap(each -> each.operand().stream()).toList();
  }

  /**
   * Loads the operands.
   *
   * @param places the place of each
   * @return their numbers in the space
   */
  List<Integer> load(TileSpaceBuilder space, List<Place> places) {
    List<Integer> loaded = new ArrayList<>();
    for (Function each : functions) {
      if (each.operand().isPresent()) {
        int own = loaded.size();
        loaded.add(
            space.load(
                each.name(), first + own, each.operand().get().element(), places.get(own).box()));
      }
    }
    return loaded;
  }

  /**
   * Calls the kernels on the tile of the result.
   *
   * @param sizes the extents of the tile of the result, along which {@code places} has strides
   * @param loaded the result of {@link #load}
   * @param onLast the axes of summation
   */
  void call(
      TileSpaceBuilder space,
      int out,
      List<TileExpression> sizes,
      List<Place> places,
      List<Integer> loaded,
      List<Integer> onLast) {
    int next = 0;
    for (Function each : functions) {
      List<Argument> arguments =
          each.operand().isEmpty()
              ? unary(out, sizes)
              : binary(each, out, sizes, loaded.get(next), places.get(next).strides());
      next += each.operand().isPresent() ? 1 : 0;
      space.call(each.kernel(), arguments, onLast);
    }
  }

  private static List<Argument> unary(int out, List<TileExpression> sizes) {
    return List.of(
        pointer("x", out), pointer("out", out), integer("count", TileSpaceBuilder.product(sizes)));
  }

  private static List<Argument> binary(
      Function function,
      int out,
      List<TileExpression> sizes,
      int operand,
      List<TileExpression> strides) {
    List<TileExpression> whole = contiguous(sizes);
    boolean isAlike = strides.equals(whole);
    List<TileExpression> extents = isAlike ? List.of(TileSpaceBuilder.product(sizes)) : sizes;
    List<TileExpression> own = isAlike ? List.of(TileExpression.of(1)) : whole;
    List<TileExpression> other = isAlike ? own : strides;
    return List.of(
        pointer("left", function.sumsFirst() ? out : operand),
        pointer("right", function.sumsFirst() ? operand : out),
        pointer("out", out),
        integers("extents", TileGrid.six(extents, 1)),
        integers("left_strides", TileGrid.six(function.sumsFirst() ? own : other, 0)),
        integers("right_strides", TileGrid.six(function.sumsFirst() ? other : own, 0)));
  }

  /** Returns the strides of a tile of these extents. */
  static List<TileExpression> contiguous(List<TileExpression> sizes) {
    List<TileExpression> strides = new ArrayList<>();
    TileExpression inner = TileExpression.of(1);
    for (TileExpression size : sizes.reversed()) {
      strides.addFirst(inner);
      inner = inner.times(size);
    }
    return strides;
  }

  /**
   * Returns the places of operands for a part of the result.
   *
   * @param box a box with one dimension for each dimension of the result
   */
  List<Place> along(TensorView result, List<BoxDimension> box) {
    return operands().stream().map(view -> along(view, result, box)).toList();
  }

  private static Place along(TensorView view, TensorView result, List<BoxDimension> box) {
    if (!view.shape().equals(result.shape())) {
      return new Place(Broadcasts.box(view, box), Broadcasts.strides(view, box));
    }
    List<BoxDimension> own = new ArrayList<>();
    for (int i = 0; i < box.size(); i++) {
      BoxDimension over = box.get(i);
      long stride = view.shape().get(i) == 1 ? over.stride() : view.strides().get(i);
      own.add(new BoxDimension(over.start(), over.size(), over.extent(), stride));
    }
    return new Place(own, contiguous(box.stream().map(BoxDimension::size).toList()));
  }
}
