package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code unary.h}, {@code binary.h} and {@code cast.h}. */
final class ElementwiseLowering {
  /** The elements of the part of a core. Unary functions need less memory. */
  private static final long PART = 8;

  private ElementwiseLowering() {}

  static Optional<TileSpace> lower(
      Elementwise op,
      List<TensorView> operands,
      List<TensorView> results,
      TileEpilogues epilogues,
      boolean isPaged) {
    TensorView out = results.getFirst();
    ElementType element = operands.getFirst().element();
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) ->
          line(function.text() + "_" + element, operands.getFirst(), out, epilogues, isPaged);
      case Elementwise.Cast(ElementType to)
          when element.bits() < Byte.SIZE || to.bits() < Byte.SIZE ->
          nibbles(operands.getFirst(), out);
      case Elementwise.Cast(ElementType to) ->
          line("cast_" + element + "_" + to, operands.getFirst(), out, epilogues, isPaged);
      case Elementwise.Binary(BinaryFunction function) ->
          KernelTable.has(function.text() + "_" + element) && operands.get(1).element() == element
              ? Optional.of(
                  broadcasting(
                      function.text() + "_" + element,
                      List.of("left", "right"),
                      operands,
                      out,
                      epilogues,
                      isPaged))
              : Optional.empty();
      case Elementwise.Select select ->
          out.element().bits() < 8
              ? Optional.empty()
              : Optional.of(
                  broadcasting(
                      "select_" + out.element().bits(),
                      List.of("condition", "then", "otherwise"),
                      operands,
                      out,
                      epilogues,
                      isPaged));
    };
  }

  /** Lowers casts of packed elements, with the packed tensor as bytes. */
  private static Optional<TileSpace> nibbles(TensorView x, TensorView out) {
    ElementType nibble = x.element().bits() < Byte.SIZE ? x.element() : out.element();
    ElementType wide = nibble.kind() == ElementType.Kind.SIGNED ? ElementType.I8 : ElementType.U8;
    boolean hasKernel = x.element() == wide || out.element() == wide;
    if (!hasKernel || !isLine(x) || !isLine(out)) {
      return Optional.empty();
    }
    String function = "cast_" + x.element() + "_" + out.element();
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    long elements = x.elements();
    int pairs = space.axis("pairs", Math.ceilDiv(elements, 2), PART / 2);
    TileExpression first = TileExpression.start(pairs).times(2);
    TileExpression count =
        TileExpression.size(pairs).times(2).minimum(TileExpression.of(elements).minus(first));
    List<BoxDimension> packed = List.of(BoxDimension.along(pairs, Math.ceilDiv(elements, 2), 1));
    List<BoxDimension> apart = List.of(new BoxDimension(first, count, elements, 1));
    boolean isPacked = x.element() == nibble;
    int in = space.load("x", 0, isPacked ? ElementType.U8 : wide, isPacked ? packed : apart);
    int result = space.store("out", 1, isPacked ? wide : ElementType.U8, isPacked ? apart : packed);
    space.call(
        function, List.of(pointer("x", in), pointer("out", result), integer("count", count)));
    return Optional.of(space.build());
  }

  /** Whether a tensor is contiguous. */
  private static boolean isLine(TensorView view) {
    TileGrid grid = TileGrid.of(view.shape(), List.of(view.strides()), List.of());
    return grid.rank() == 0 || grid.rank() == 1 && grid.strides().getFirst().getFirst() == 1;
  }

  private static TileGrid grid(
      TensorView out, List<List<Long>> strides, TileEpilogues epilogues, boolean isPaged) {
    return isPaged ? TileGrid.ofRows(out.shape(), strides) : epilogues.grid(out.shape(), strides);
  }

  /** Lowers an elementwise function of contiguous tiles. */
  private static Optional<TileSpace> line(
      String function, TensorView x, TensorView out, TileEpilogues epilogues, boolean isPaged) {
    if (!KernelTable.has(function)) {
      return Optional.empty();
    }
    List<List<Long>> strides = new ArrayList<>(List.of(x.strides(), out.strides()));
    strides.addAll(epilogues.strides(out));
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    TileGrid grid = grid(out, strides, epilogues, isPaged);
    int walked = epilogues.functions().isEmpty() ? grid.rank() : TileGrid.KERNEL_AXES;
    List<Integer> axes = grid.axes(space, "i", epilogues.granule(1, grid), walked);
    List<TileExpression> sizes = TileGrid.sizes(axes);
    int in = space.load("x", 0, x.element(), grid.repeated(0, axes));
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(grid, 2, axes));
    int result = space.store("out", 1 + others.count(), out.element(), grid.repeated(1, axes));
    TileEpilogues.Values values = others.values(result, out.element(), sizes);
    space.call(
        function,
        List.of(
            pointer("x", in),
            new Argument("out", values.first(out.element())),
            integer("count", TileGrid.elements(axes))));
    values.call(List.of());
    return Optional.of(space.build());
  }

  private static TileSpace broadcasting(
      String function,
      List<String> names,
      List<TensorView> operands,
      TensorView out,
      TileEpilogues epilogues,
      boolean isPaged) {
    TileSpaceBuilder space = new TileSpaceBuilder(function);
    List<List<Long>> strides = new ArrayList<>();
    operands
        .subList(0, names.size())
        .forEach(each -> strides.add(TileGrid.broadcast(each, out.shape())));
    strides.addAll(epilogues.strides(out));
    strides.add(out.strides());
    TileGrid grid = grid(out, strides, epilogues, isPaged);
    List<Integer> axes = grid.axes(space, "i", epilogues.granule(PART, grid), TileGrid.KERNEL_AXES);
    List<TileExpression> sizes = TileGrid.sizes(axes);
    List<Argument> pointers = new ArrayList<>();
    List<Argument> steps = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      pointers.add(
          pointer(name, space.load(name, i, operands.get(i).element(), grid.box(i, axes))));
      steps.add(integers(name + "_strides", TileGrid.six(grid.tileStrides(i, axes), 0)));
    }
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(grid, names.size(), axes));
    List<BoxDimension> box = grid.box(strides.size() - 1, axes);
    int stored = space.store("out", operands.size(), out.element(), box);
    TileEpilogues.Values values = others.values(stored, out.element(), sizes);
    pointers.add(new Argument("out", values.first(out.element())));
    pointers.add(integers("extents", TileGrid.six(sizes, 1)));
    pointers.addAll(steps);
    space.call(function, pointers);
    values.call(List.of());
    return space.build();
  }
}
