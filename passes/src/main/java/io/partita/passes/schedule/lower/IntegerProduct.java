package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * An integer matrix product in tiles of batches, rows, columns and depth: {@code [batch…, m, k] ×
 * [batch…, k, n]}. Sums of 32 bits stay in the working memory along the depth.
 */
final class IntegerProduct {
  private final List<TensorView> operands;
  private final TensorView result;
  private final TileSpaceBuilder space;
  private final String kernel;

  /**
   * The part of the result, with one dimension for each of its dimensions, {@code m} and {@code n}
   * last.
   */
  private final List<BoxDimension> box = new ArrayList<>();

  private final int depth;

  private IntegerProduct(List<TensorView> operands, TensorView result, TileEpilogues epilogues) {
    this.operands = operands;
    this.result = result;
    long columns = fromEnd(result.shape(), 1);
    this.kernel = ProductCall.kernel(result.elements() == columns, left(), right());
    this.space = new TileSpaceBuilder(kernel);
    int rank = result.shape().size();
    for (int dimension = 0; dimension < rank - 2; dimension++) {
      box.add(batch(dimension));
    }
    box.add(along("m", rank - 2, ProductCall.BLOCK, result.shape().get(rank - 2)));
    box.add(along("n", rank - 1, epilogues.granule(ProductCall.BLOCK, columns), columns));
    this.depth = space.reduction("k", fromEnd(left().shape(), 1), ProductCall.BLOCK);
  }

  static boolean hasKernel(ElementType left, ElementType right, ElementType result) {
    return result == ElementType.I32 && KernelTypes.hasProduct(left, right);
  }

  /**
   * @param operands left and right; then a bias {@code [n]}, if any, the parameters of {@code
   *     requantize}, and the operands of epilogues
   * @param requantize the requantization of the sums in the same group
   */
  static TileSpace of(
      List<TensorView> operands,
      TensorView result,
      boolean bias,
      Optional<Requantize> requantize,
      TileEpilogues epilogues) {
    return new IntegerProduct(operands, result, epilogues).build(bias, requantize, epilogues);
  }

  /** Creates a product without requantization. */
  static Optional<TileSpace> lower(
      MatMul product, List<TensorView> operands, TensorView result, TileEpilogues epilogues) {
    return hasKernel(operands.get(0).element(), operands.get(1).element(), product.result())
        ? Optional.of(of(operands, result, false, Optional.empty(), epilogues))
        : Optional.empty();
  }

  private TensorView left() {
    return operands.get(0);
  }

  private TensorView right() {
    return operands.get(1);
  }

  private static long fromEnd(List<Long> values, int place) {
    return values.size() < place ? 1 : values.get(values.size() - place);
  }

  /**
   * The kernel steps through both operands or neither; an axis through which it can't step has
   * tiles of 1.
   */
  private BoxDimension batch(int dimension) {
    int place = result.shape().size() - dimension;
    boolean isAlike = fromEnd(left().shape(), place) == fromEnd(right().shape(), place);
    long extent = result.shape().get(dimension);
    return along("batch" + dimension, dimension, 1, isShared() || isAlike ? extent : 1);
  }

  private BoxDimension along(String name, int dimension, long granule, long largest) {
    long extent = result.shape().get(dimension);
    long stride = result.strides().get(dimension);
    if (extent == 1) {
      return BoxDimension.whole(1, stride);
    }
    int axis =
        space.axis(
            new TileSpace.Axis(
                name, extent, Math.min(granule, extent), largest, false, Optional.empty()));
    return BoxDimension.along(axis, extent, stride);
  }

  /** Whether all batches share the right matrix, so that their rows form one product. */
  private boolean isShared() {
    long rightBatches =
        right().elements() / fromEnd(right().shape(), 1) / fromEnd(right().shape(), 2);
    long leftRows = left().elements() / fromEnd(left().shape(), 1);
    return rightBatches == 1 && leftRows == result.elements() / fromEnd(result.shape(), 1);
  }

  /** Returns the part of an operand in the batch dimensions that it has. */
  private List<BoxDimension> operandBox(TensorView view, BoxDimension... last) {
    int rank = view.shape().size();
    List<BoxDimension> part = new ArrayList<>();
    for (int dimension = 0; dimension < rank - 2; dimension++) {
      if (view.shape().get(dimension) > 1) {
        BoxDimension over = box.get(result.shape().size() - rank + dimension);
        part.add(with(over, view.strides().get(dimension)));
      }
    }
    part.add(with(last[0], view.strides().get(rank - 2)));
    part.add(with(last[1], view.strides().get(rank - 1)));
    return part;
  }

  private static BoxDimension with(BoxDimension over, long stride) {
    return new BoxDimension(over.start(), over.size(), over.extent(), stride);
  }

  private TileSpace build(boolean bias, Optional<Requantize> requantize, TileEpilogues epilogues) {
    BoxDimension m = box.get(box.size() - 2);
    BoxDimension n = box.getLast();
    BoxDimension k = BoxDimension.along(depth, fromEnd(left().shape(), 1), 1);
    int left = space.load("left", 0, left().element(), operandBox(left(), m, k));
    List<BoxDimension> rightBox = operandBox(right(), k, n);
    if (isTransposed()) {
      Collections.swap(rightBox, rightBox.size() - 1, rightBox.size() - 2);
    }
    int right = space.load("right", 1, right().element(), rightBox);
    Argument vector =
        bias ? ProductCall.bias(space, ElementType.I32, with(n, 1), depth) : none("bias");
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(result, box));
    int out = space.store("out", operands.size(), result.element(), box);
    List<TensorView> own = operands.subList(0, operands.size() - others.count());
    Optional<Requantization> end = requantize.map(each -> new Requantization(each, own, box));
    List<TileExpression> sizes = box.stream().map(BoxDimension::size).toList();
    TileEpilogues.Values values = others.values(out, result.element(), sizes);
    Argument.Value first = values.first(result.element());
    Argument sums = end.map(each -> each.sums(space, first)).orElse(new Argument("out", first));
    List<Argument> arguments = new ArrayList<>();
    arguments.addAll(List.of(pointer("left", left), pointer("right", right), vector, sums));
    arguments.addAll(product(m.size(), n.size(), k.size()).extents(depth));
    space.call(kernel, arguments);
    end.ifPresent(each -> each.call(space, sums, first, List.of(depth)));
    values.call(List.of(depth));
    return space.build();
  }

  private ProductCall product(TileExpression m, TileExpression n, TileExpression k) {
    TileExpression batches = batches();
    return new ProductCall(
        isShared() ? TileExpression.of(1) : batches,
        isShared() ? batches.times(m) : m,
        n,
        k,
        m.times(k),
        m.times(n),
        isTransposed());
  }

  /** Whether columns of the right matrix are contiguous, and rows are not. */
  private boolean isTransposed() {
    List<Long> strides = right().strides();
    int last = strides.size() - 1;
    return last > 0 && strides.get(last - 1) == 1 && strides.get(last) != 1;
  }

  private TileExpression batches() {
    return TileSpaceBuilder.product(
        box.subList(0, box.size() - 2).stream().map(BoxDimension::size).toList());
  }
}
