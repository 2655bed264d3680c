package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** {@code integer_network.h}. */
final class IntegerNetworkLowering {
  private static final Set<ElementType> TYPES =
      EnumSet.of(ElementType.I8, ElementType.U8, ElementType.I32);

  /** The names of the parameters of norms. */
  private static final List<String> VECTORS = List.of("weight", "bias");

  private IntegerNetworkLowering() {}

  static Optional<TileSpace> lower(
      IntegerNetwork op, List<TensorView> operands, TensorView result, TileEpilogues epilogues) {
    List<TensorView> own = operands.subList(0, operands.size() - epilogues.operands().size());
    return hasKernel(op, own, result)
        ? Optional.of(space(op, operands, result, epilogues))
        : Optional.empty();
  }

  /** Parameters have 32 bits, and tables those of the result. */
  private static boolean hasKernel(
      IntegerNetwork op, List<TensorView> operands, TensorView result) {
    return op instanceof IntegerNetwork.Lookup
        || TYPES.contains(operands.getFirst().element())
            && TYPES.contains(result.element())
            && operands.stream().skip(1).allMatch(view -> view.element() == ElementType.I32);
  }

  private static TileSpace space(
      IntegerNetwork op, List<TensorView> operands, TensorView result, TileEpilogues epilogues) {
    return switch (op) {
      case IntegerNetwork.Requantize requantize ->
          requantize(requantize, operands, result, epilogues);
      case IntegerNetwork.IntegerGelu gelu -> gelu(gelu, operands.getFirst(), result);
      case IntegerNetwork.Lookup lookup -> lookup(operands, result, epilogues);
      case IntegerNetwork.IntegerSoftmax softmax
          when SoftmaxWeights.serve(softmax, operands.getFirst()) ->
          rows(
              "weighted_softmax",
              operands,
              result,
              loop -> SoftmaxWeights.computed(softmax, loop),
              epilogues);
      case IntegerNetwork.IntegerSoftmax softmax ->
          rows(
              "integer_softmax",
              operands,
              result,
              loop ->
                  List.of(
                      integer("a", softmax.a()),
                      integer("b", softmax.b()),
                      integer("c", softmax.c()),
                      integer("log2", softmax.log2()),
                      integer("levels", softmax.levels()),
                      integer(
                          "is_small",
                          SoftmaxWeights.areSmall(softmax, operands.getFirst()) ? 1 : 0)),
              epilogues);
      case IntegerNetwork.PowerSoftmax softmax ->
          rows(
              "power_softmax",
              operands,
              result,
              loop ->
                  List.of(
                      integer("unit", softmax.unit()),
                      integer("group", softmax.group()),
                      integer("levels", softmax.levels())),
              epilogues);
      case IntegerNetwork.IntegerNorm norm ->
          rows(
              norm.mnemonic(),
              operands,
              result,
              loop -> arguments(norm, operands.subList(1, operands.size())),
              epilogues);
    };
  }

  private static TileSpace requantize(
      IntegerNetwork.Requantize op,
      List<TensorView> operands,
      TensorView result,
      TileEpilogues epilogues) {
    String kernel = "requantize_" + operands.getFirst().element() + "_" + op.to();
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    List<List<Long>> strides = new ArrayList<>();
    List<String> names = List.of("x", "multiplier", "addend");
    operands
        .subList(0, names.size())
        .forEach(each -> strides.add(TileGrid.broadcast(each, result.shape())));
    strides.addAll(epilogues.strides(result));
    strides.add(result.strides());
    TileGrid grid = epilogues.grid(result.shape(), strides);
    List<Integer> axes = grid.axes(space, "i", epilogues.granule(1, grid), TileGrid.KERNEL_AXES);
    List<TileExpression> sizes = TileGrid.sizes(axes);
    List<Argument> arguments = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      ElementType element = operands.get(i).element();
      List<BoxDimension> part = i == 0 ? grid.repeated(0, axes) : grid.box(i, axes);
      int operand = space.load(names.get(i), i, element, part);
      arguments.add(pointer(names.get(i), operand));
    }
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(grid, names.size(), axes));
    List<BoxDimension> box = grid.box(strides.size() - 1, axes);
    int out = space.store("out", operands.size(), result.element(), box);
    TileEpilogues.Values values = others.values(out, result.element(), sizes);
    arguments.add(new Argument("out", values.first(op.to())));
    arguments.add(integers("extents", TileGrid.six(sizes, 1)));
    for (int i = 1; i < names.size(); i++) {
      List<TileExpression> steps = TileGrid.six(grid.tileStrides(i, axes), 0);
      arguments.add(integers(names.get(i) + "_strides", steps));
    }
    arguments.add(integer("low", op.low()));
    arguments.add(integer("high", op.high()));
    arguments.add(integer("shift", op.shift()));
    space.call(kernel, arguments);
    values.call(List.of());
    return space.build();
  }

  private static TileSpace gelu(IntegerNetwork.IntegerGelu op, TensorView x, TensorView result) {
    String kernel = "integer_gelu_" + x.element();
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    TileGrid grid = TileGrid.of(x.shape(), List.of(x.strides(), result.strides()), List.of());
    List<Integer> axes = grid.axes(space, "i", 1, grid.rank());
    int in = space.load("x", 0, x.element(), grid.repeated(0, axes));
    int out = space.store("out", 1, result.element(), grid.repeated(1, axes));
    TileExpression count = TileGrid.elements(axes);
    space.call(
        kernel,
        List.of(
            pointer("x", in),
            pointer("out", out),
            integer("b", op.b()),
            integer("one", op.one()),
            integer("count", count)));
    return space.build();
  }

  private static TileSpace lookup(
      List<TensorView> operands, TensorView result, TileEpilogues epilogues) {
    TensorView x = operands.getFirst();
    TensorView table = operands.get(1);
    String kernel = "lookup_" + x.element() + "_" + table.element();
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    List<List<Long>> strides = new ArrayList<>(List.of(x.strides()));
    strides.addAll(epilogues.strides(result));
    strides.add(result.strides());
    TileGrid grid = TileGrid.of(result.shape(), strides, List.of());
    List<Integer> axes = grid.axes(space, "i", 1, TileGrid.KERNEL_AXES);
    int in = space.load("x", 0, x.element(), grid.repeated(0, axes));
    int entries =
        space.load("table", 1, table.element(), List.of(BoxDimension.whole(table.elements(), 1)));
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(grid, 1, axes));
    int stored = operands.size();
    int out = space.store("out", stored, result.element(), grid.box(stored - 1, axes));
    TileEpilogues.Values values = others.values(out, result.element(), TileGrid.sizes(axes));
    space.call(
        kernel,
        List.of(
            pointer("x", in),
            pointer("table", entries),
            new Argument("out", values.first(table.element())),
            integer("count", TileGrid.elements(axes))));
    values.call(List.of());
    return space.build();
  }

  /**
   * Returns the arguments of a norm.
   *
   * @param vectors the operands of the loop with weight and bias; {@code views} are their views
   */
  static List<Argument> arguments(
      IntegerNetwork.IntegerNorm norm,
      List<TensorView> views,
      Argument.Value x,
      List<Integer> vectors,
      Argument.Value out,
      TileExpression rows,
      TileExpression size) {
    List<Argument> arguments = ofRows(x, vectors, out, rows, size);
    arguments.addAll(arguments(norm, views));
    return arguments;
  }

  /** Returns the arguments of whole rows, and of vectors along a row. */
  private static List<Argument> ofRows(
      Argument.Value x,
      List<Integer> vectors,
      Argument.Value out,
      TileExpression rows,
      TileExpression size) {
    List<Argument> arguments = new ArrayList<>();
    arguments.add(new Argument("x", x));
    for (int i = 0; i < vectors.size(); i++) {
      arguments.add(pointer(VECTORS.get(i), vectors.get(i)));
    }
    arguments.add(new Argument("out", out));
    arguments.add(integer("rows", rows));
    arguments.add(integer("size", size));
    return arguments;
  }

  private static List<Argument> arguments(
      IntegerNetwork.IntegerNorm norm, List<TensorView> vectors) {
    boolean bias = norm.kind() == NormKind.LAYER;
    return List.of(
        integer("weight_stride", stride(vectors.getFirst())),
        integer("bias_stride", bias ? stride(vectors.get(1)) : 0),
        integer("low", norm.low()),
        integer("high", norm.high()),
        integer("shift", norm.shift()));
  }

  private static long stride(TensorView vector) {
    return vector.elements() == 1 ? 0 : 1;
  }

  /**
   * Lowers operations on whole rows of x; all further operands but those of epilogues are vectors
   * along a row.
   *
   * @param more returns further arguments, and adds calls that go before
   */
  private static TileSpace rows(
      String function,
      List<TensorView> operands,
      TensorView result,
      Function<TileSpaceBuilder, List<Argument>> more,
      TileEpilogues epilogues) {
    TensorView x = operands.getFirst();
    String kernel = function + "_" + x.element();
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    int last = x.shape().size() - 1;
    List<List<Long>> strides = new ArrayList<>();
    strides.add(x.strides().subList(0, last));
    strides.add(result.strides().subList(0, last));
    epilogues.strides(result).forEach(each -> strides.add(each.subList(0, last)));
    TileGrid grid = TileGrid.of(x.shape().subList(0, last), strides, List.of());
    int walked = epilogues.functions().isEmpty() ? grid.rank() : TileGrid.KERNEL_AXES - 1;
    List<Integer> axes = grid.axes(space, "rows", 1, walked);
    long size = x.shape().getLast();
    int in = space.load("x", 0, x.element(), row(grid, 0, axes, size, 1));
    List<Integer> vectors = new ArrayList<>();
    for (int i = 1; i < operands.size() - epilogues.operands().size(); i++) {
      TensorView vector = operands.get(i);
      List<BoxDimension> whole = List.of(BoxDimension.whole(vector.elements(), 1));
      vectors.add(space.load(VECTORS.get(i - 1), i, vector.element(), whole));
    }
    TileEpilogues.Loaded loaded = epilogues.load(space, epilogues.alongRows(grid, 2, axes, result));
    int out = space.store("out", operands.size(), result.element(), row(grid, 1, axes, size, 1));
    List<TileExpression> sizes = new ArrayList<>(TileGrid.sizes(axes));
    sizes.add(TileExpression.of(size));
    TileEpilogues.Values values = loaded.values(out, result.element(), sizes);
    List<Argument> arguments =
        ofRows(
            pointer("x", in).value(),
            vectors,
            values.first(result.element()),
            TileGrid.elements(axes),
            TileExpression.of(size));
    arguments.addAll(more.apply(space));
    space.call(kernel, arguments);
    values.call(List.of());
    return space.build();
  }

  private static List<BoxDimension> row(
      TileGrid grid, int tensor, List<Integer> axes, long size, long stride) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      long own = grid.strides().get(tensor).get(i);
      box.add(BoxDimension.along(axes.get(i), grid.extents().get(i), own));
    }
    box.add(BoxDimension.whole(size, stride));
    return box;
  }
}
