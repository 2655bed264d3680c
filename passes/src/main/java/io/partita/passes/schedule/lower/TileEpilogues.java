package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.Epilogues;
import io.partita.passes.schedule.legalize.Group;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The functions that a loop applies to each finished tile of its main kernel: activations, sums or
 * products with other operands, which are loaded in tiles like those of the result, and
 * quantizations. They are applied in the order of the nodes, and each result is rounded as without
 * fusion, so that it has the same bits.
 *
 * <p>Values as wide as the result are in its tile, where functions run in place. Values of another
 * width are in scratch memory, with as many elements as the tile. So a function that changes the
 * width reads one place and writes another.
 *
 * @param first the index of the first operand among those of the group
 */
record TileEpilogues(List<Function> functions, int first) {
  static final TileEpilogues NONE = new TileEpilogues(List.of(), 0);

  /**
   * @param op the operation
   * @param kernel the kernel; empty if the bits don't change, only their type
   * @param names the names of the other operands in the loop
   * @param operands the other operands, which broadcast to the result; the first entry of a table
   * @param sumsFirst whether the values are the left operand
   */
  record Function(
      Op op,
      Optional<String> kernel,
      List<String> names,
      List<TensorView> operands,
      boolean sumsFirst,
      ElementType from,
      ElementType to) {}

  /** The source of an operand's tile, and its strides along the tile of the result. */
  record Place(List<BoxDimension> box, List<TileExpression> strides) {}

  /**
   * @param operands the operands of the group
   */
  static TileEpilogues of(Group group, List<TensorView> operands) {
    List<Node> nodes = group.epilogueNodes();
    List<Function> functions = new ArrayList<>();
    int count = nodes.stream().mapToInt(node -> node.operands().size() - 1).sum();
    int next = operands.size() - count;
    int first = next;
    Map<String, Integer> used = new HashMap<>();
    for (Node node : nodes) {
      boolean sumsFirst = group.computes(node.operand(0));
      List<String> names = names(node).stream().map(name -> unique(name, used)).toList();
      List<TensorView> own =
          operands.subList(next, next + names.size()).stream()
              .map(view -> node.op() instanceof Lookup ? first(view) : view)
              .toList();
      next += names.size();
      functions.add(
          new Function(
              node.op(),
              Epilogues.kernel(node).map(Kernel::name),
              names,
              own,
              sumsFirst,
              node.operand(sumsFirst ? 0 : 1).type().element(),
              node.result().type().element()));
    }
    return new TileEpilogues(functions, first);
  }

  /** A table, of which tiles need all entries, is placed like a scalar. */
  private static TensorView first(TensorView table) {
    return new TensorView(table.element(), List.of(), List.of());
  }

  private static List<String> names(Node node) {
    return switch (node.op()) {
      case Requantize requantize -> List.of("factor", "offset");
      case Lookup lookup -> List.of("entries");
      case Quantized.Quantize quantize -> List.of("step", "zero");
      case Elementwise.Binary(var function) when function == BinaryFunction.ADD ->
          List.of("residual");
      case Elementwise.Binary(var function) when function == BinaryFunction.MUL ->
          List.of("factor");
      case Elementwise.Binary other -> List.of("operand");
      case Op unary -> List.of();
    };
  }

  private static String unique(String name, Map<String, Integer> used) {
    int number = used.merge(name, 1, Integer::sum);
    return number > 1 ? name + number : name;
  }

  /** Returns the type of what the main kernel computes, for that of the last result. */
  ElementType from(ElementType result) {
    return functions.isEmpty() ? result : functions.getFirst().from();
  }

  /** Returns the other operands, in the order of the group. */
  List<TensorView> operands() {
    return functions.stream().flatMap(each -> each.operands().stream()).toList();
  }

  /**
   * Loads the operands.
   *
   * @param places the place of each
   */
  Loaded load(TileSpaceBuilder space, List<Place> places) {
    List<Integer> loaded = new ArrayList<>();
    for (Function each : functions) {
      for (int i = 0; i < each.operands().size(); i++) {
        int own = loaded.size();
        List<BoxDimension> box =
            each.op() instanceof Lookup
                ? List.of(BoxDimension.whole(Lookup.ENTRIES, 1))
                : places.get(own).box();
        loaded.add(
            space.load(each.names().get(i), first + own, each.operands().get(i).element(), box));
      }
    }
    return new Loaded(space, places, loaded);
  }

  /** The operands of a loop. */
  final class Loaded {
    private final TileSpaceBuilder space;
    private final List<Place> places;
    private final List<Integer> numbers;

    private Loaded(TileSpaceBuilder space, List<Place> places, List<Integer> numbers) {
      this.space = space;
      this.places = places;
      this.numbers = numbers;
    }

    int count() {
      return numbers.size();
    }

    /**
     * @param out the number of the result in the space
     * @param sizes the extents of the tile of the result, along which the places have strides
     */
    Values values(int out, ElementType result, List<TileExpression> sizes) {
      return new Values(this, out, result, sizes);
    }
  }

  /** The tile of the result, and scratch memory for values of other widths. */
  final class Values {
    private final Loaded operands;
    private final List<TileExpression> sizes;
    private final Map<Integer, Argument.Value> tiles = new HashMap<>();

    private Values(Loaded operands, int out, ElementType result, List<TileExpression> sizes) {
      this.operands = operands;
      this.sizes = sizes;
      tiles.put(result.bits(), pointer("out", out).value());
    }

    /** Returns the place of values of a type. */
    private Argument.Value of(ElementType type) {
      return tiles.computeIfAbsent(
          type.bits(),
          bits -> {
            TileExpression bytes = TileSpaceBuilder.product(sizes).times(bits / Byte.SIZE);
            return Argument.scratch("out", operands.space.scratch("values" + bits, bytes)).value();
          });
    }

    /** Returns the place of what the main kernel computes. */
    Argument.Value first(ElementType result) {
      return of(from(result));
    }

    /**
     * Calls the kernels.
     *
     * @param onLast the axes of summation
     */
    void call(List<Integer> onLast) {
      int next = 0;
      for (Function each : functions) {
        int last = next + each.operands().size();
        List<Integer> own = operands.numbers.subList(next, last);
        List<List<TileExpression>> strides =
            operands.places.subList(next, last).stream().map(Place::strides).toList();
        next = last;
        if (each.kernel().isEmpty()) {
          continue;
        }
        Argument.Value from = of(each.from());
        Argument.Value to = of(each.to());
        List<Argument> arguments =
            switch (each.op()) {
              case Requantize op -> requantize(op, from, to, sizes, own, strides);
              case Lookup op -> lookup(from, to, sizes, own.getFirst());
              case Quantized.Quantize op -> quantize(from, to, sizes, own);
              case Elementwise.Binary op ->
                  binary(each, from, to, sizes, own.getFirst(), strides.getFirst());
              case Op unary -> unary(from, to, sizes);
            };
        operands.space.call(each.kernel().get(), arguments, onLast);
      }
    }
  }

  private static List<Argument> unary(
      Argument.Value from, Argument.Value to, List<TileExpression> sizes) {
    return List.of(
        new Argument("x", from),
        new Argument("out", to),
        integer("count", TileSpaceBuilder.product(sizes)));
  }

  private static List<Argument> lookup(
      Argument.Value from, Argument.Value to, List<TileExpression> sizes, int table) {
    List<Argument> arguments = new ArrayList<>(unary(from, to, sizes));
    arguments.add(1, pointer("table", table));
    return arguments;
  }

  private static List<Argument> binary(
      Function function,
      Argument.Value from,
      Argument.Value to,
      List<TileExpression> sizes,
      int operand,
      List<TileExpression> strides) {
    List<TileExpression> whole = contiguous(sizes);
    boolean isAlike = strides.equals(whole);
    List<TileExpression> extents = isAlike ? List.of(TileSpaceBuilder.product(sizes)) : sizes;
    List<TileExpression> own = isAlike ? List.of(TileExpression.of(1)) : whole;
    List<TileExpression> other = isAlike ? own : strides;
    Argument.Value second = pointer("right", operand).value();
    return List.of(
        new Argument("left", function.sumsFirst() ? from : second),
        new Argument("right", function.sumsFirst() ? second : from),
        new Argument("out", to),
        integers("extents", TileGrid.six(extents, 1)),
        integers("left_strides", TileGrid.six(function.sumsFirst() ? own : other, 0)),
        integers("right_strides", TileGrid.six(function.sumsFirst() ? other : own, 0)));
  }

  /** With one scale. */
  private static List<Argument> quantize(
      Argument.Value from, Argument.Value to, List<TileExpression> sizes, List<Integer> operands) {
    return List.of(
        new Argument("x", from),
        pointer("scale", operands.get(0)),
        pointer("zero", operands.get(1)),
        new Argument("out", to),
        integers("extents", TileGrid.six(List.of(TileSpaceBuilder.product(sizes)), 1)),
        integers("parameter_strides", TileGrid.six(List.of(), 0)));
  }

  private static List<Argument> requantize(
      Requantize op,
      Argument.Value from,
      Argument.Value to,
      List<TileExpression> sizes,
      List<Integer> operands,
      List<List<TileExpression>> strides) {
    boolean isOne =
        strides.stream().flatMap(List::stream).allMatch(each -> each.equals(TileExpression.of(0)));
    return List.of(
        new Argument("x", from),
        pointer("multiplier", operands.get(0)),
        pointer("addend", operands.get(1)),
        new Argument("out", to),
        integers(
            "extents", TileGrid.six(isOne ? List.of(TileSpaceBuilder.product(sizes)) : sizes, 1)),
        integers("multiplier_strides", TileGrid.six(isOne ? List.of() : strides.get(0), 0)),
        integers("addend_strides", TileGrid.six(isOne ? List.of() : strides.get(1), 0)),
        integer("low", op.low()),
        integer("high", op.high()),
        integer("shift", op.shift()));
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

  /**
   * Returns the places of operands along the axes of a grid, whose last tensors they are.
   *
   * @param before the number of tensors of the grid before them
   */
  List<Place> along(TileGrid grid, int before, List<Integer> axes) {
    return IntStream.range(before, before + operands().size())
        .mapToObj(i -> new Place(grid.box(i, axes), grid.tileStrides(i, axes)))
        .toList();
  }

  /** Returns the strides of the operands along the result. */
  List<List<Long>> strides(TensorView result) {
    return operands().stream().map(each -> TileGrid.broadcast(each, result.shape())).toList();
  }

  /**
   * Returns the places of operands for whole rows of the result along its last dimension.
   *
   * @param grid the other dimensions; its last tensors are the operands
   * @param before the number of tensors of the grid before them
   */
  List<Place> alongRows(TileGrid grid, int before, List<Integer> axes, TensorView result) {
    long size = result.shape().getLast();
    List<List<Long>> strides = strides(result);
    return IntStream.range(0, strides.size())
        .mapToObj(i -> inRow(grid, before + i, axes, size, strides.get(i).getLast()))
        .toList();
  }

  /**
   * @param stride the stride along a row
   */
  private static Place inRow(
      TileGrid grid, int tensor, List<Integer> axes, long size, long stride) {
    List<BoxDimension> box = new ArrayList<>(grid.walked(tensor, axes));
    List<TileExpression> strides = new ArrayList<>();
    TileExpression inner = TileExpression.of(1);
    strides.add(TileExpression.of(stride == 0 ? 0 : 1));
    if (stride != 0) {
      box.add(BoxDimension.whole(size, stride));
      inner = TileExpression.of(size);
    }
    for (TileExpression each : grid.tileStrides(tensor, axes).reversed()) {
      strides.addFirst(each.times(inner));
    }
    return new Place(TileGrid.closed(box), strides);
  }
}
