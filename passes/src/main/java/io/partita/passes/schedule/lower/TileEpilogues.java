package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
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
import java.util.stream.Stream;

/**
 * The functions that a loop applies to each finished tile of its main kernel: activations, sums or
 * products with other operands, which are loaded in tiles like those of the result, quantizations,
 * and at most one norm, for which tiles consist of whole rows. They are applied in the order of the
 * nodes, and each result is rounded as without fusion, so that it has the same bits.
 *
 * <p>Values as wide as the result are in its tile, where functions run in place. Values of another
 * width are in scratch memory, with as many elements as the tile. So a function that changes the
 * width reads one place and writes another. What a norm normalises is either the first result, if
 * the group has two, or in scratch memory.
 *
 * @param first the index of the first operand among those of the group
 * @param last the last result, if the group has another one before it
 */
record TileEpilogues(List<Function> functions, int first, Optional<TensorView> last) {
  static final TileEpilogues NONE = new TileEpilogues(List.of(), 0, Optional.empty());

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
      ElementType to) {
    private boolean isNorm() {
      return op instanceof Structured.Norm || op instanceof IntegerNetwork.IntegerNorm;
    }
  }

  /** The source of an operand's tile, and its strides along the tile of the result. */
  record Place(List<BoxDimension> box, List<TileExpression> strides) {}

  /**
   * @param operands the operands of the group
   * @param results the results of the group
   */
  static TileEpilogues of(Group group, List<TensorView> operands, List<TensorView> results) {
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
    return new TileEpilogues(
        functions,
        first,
        nodes.isEmpty() ? Optional.empty() : results.stream().skip(1).findFirst());
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
      case Structured.Norm norm ->
          NormLowering.vectors(norm).stream().map(name -> "norm_" + name).toList();
      case IntegerNetwork.IntegerNorm norm ->
          List.of("weight", "norm_bias").subList(0, node.operands().size() - 1);
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

  /** Whether tiles consist of whole rows, along the last dimension of the result. */
  boolean areOfRows() {
    return functions.stream().anyMatch(Function::isNorm);
  }

  /**
   * Returns the unit of the extents of tiles along the last dimension.
   *
   * @param usual the unit for functions of elements
   */
  long granule(long usual, long extent) {
    return areOfRows() ? extent : usual;
  }

  long granule(long usual, TileGrid grid) {
    return grid.rank() == 0 ? usual : granule(usual, grid.extents().getLast());
  }

  /** Returns a grid of functions of elements, whose last dimension consists of rows if tiles do. */
  TileGrid grid(List<Long> shape, List<List<Long>> strides) {
    return areOfRows() ? TileGrid.ofRows(shape, strides) : TileGrid.of(shape, strides, List.of());
  }

  /** Returns the other operands, in the order of the group. */
  List<TensorView> operands() {
    return functions.stream().flatMap(each -> each.operands().stream()).toList();
  }

  /**
   * Returns what has a place along the result: the other operands, and the last result if it is
   * apart.
   */
  List<TensorView> placed() {
    return Stream.concat(operands().stream(), last.stream()).toList();
  }

  /**
   * Loads the operands.
   *
   * @param places those of {@link #placed}
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

  /** The tiles of results, and scratch memory for other values. */
  final class Values {
    private final Loaded operands;
    private final List<TileExpression> sizes;
    private final Tiles before;

    /** Those from a norm on. */
    private final Tiles normalized;

    private Values(Loaded operands, int out, ElementType result, List<TileExpression> sizes) {
      this.operands = operands;
      this.sizes = sizes;
      this.before = new Tiles("values");
      this.normalized = new Tiles("normalized");
      Tiles first = areOfRows() && last.isEmpty() ? normalized : before;
      first.put(result, out);
      last.ifPresent(
          view -> {
            int value = operands.space.value(out) + 1;
            List<BoxDimension> box = operands.places.getLast().box();
            normalized.put(
                view.element(), operands.space.store("normalized", value, view.element(), box));
          });
    }

    /** The places of values by their width. */
    private final class Tiles {
      private final String name;
      private final Map<Integer, Argument.Value> places = new HashMap<>();

      Tiles(String name) {
        this.name = name;
      }

      void put(ElementType type, int result) {
        places.put(type.bits(), pointer("out", result).value());
      }

      Argument.Value of(ElementType type) {
        return places.computeIfAbsent(
            type.bits(),
            bits -> {
              TileExpression bytes = TileSpaceBuilder.product(sizes).times(bits / Byte.SIZE);
              return Argument.scratch("out", operands.space.scratch(name + bits, bytes)).value();
            });
      }
    }

    private TileExpression rows() {
      return TileSpaceBuilder.product(sizes.subList(0, sizes.size() - 1));
    }

    /** Returns the place of what the main kernel computes. */
    Argument.Value first(ElementType result) {
      return before.of(from(result));
    }

    /**
     * Calls the kernels.
     *
     * @param onLast the axes of summation
     */
    void call(List<Integer> onLast) {
      int next = 0;
      Tiles source = before;
      for (Function each : functions) {
        int end = next + each.operands().size();
        List<Integer> own = operands.numbers.subList(next, end);
        List<List<TileExpression>> strides =
            operands.places.subList(next, end).stream().map(Place::strides).toList();
        next = end;
        if (each.kernel().isEmpty()) {
          continue;
        }
        Argument.Value from = source.of(each.from());
        source = each.isNorm() ? normalized : source;
        Argument.Value to = source.of(each.to());
        List<Argument> arguments =
            switch (each.op()) {
              case Requantize op -> requantize(op, from, to, sizes, own, strides);
              case Lookup op -> lookup(from, to, sizes, own.getFirst());
              case Quantized.Quantize op -> quantize(from, to, sizes, own);
              case Structured.Norm op ->
                  NormLowering.arguments(op, from, own, to, rows(), sizes.getLast());
              case IntegerNetwork.IntegerNorm op ->
                  IntegerNetworkLowering.arguments(
                      op, each.operands(), from, own, to, rows(), sizes.getLast());
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
    return placed().stream().map(view -> along(view, result, box)).toList();
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
    return IntStream.range(before, before + placed().size())
        .mapToObj(i -> new Place(grid.box(i, axes), grid.tileStrides(i, axes)))
        .toList();
  }

  /** Returns the strides of the operands along the result. */
  List<List<Long>> strides(TensorView result) {
    return placed().stream().map(each -> TileGrid.broadcast(each, result.shape())).toList();
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
