package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.ConvolutionKernels;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A convolution in tiles of filters, or of whole groups if there are several, and of output
 * positions. The data of adjacent tiles overlap.
 */
final class ConvolutionSpace {
  /** The most bytes of gathered windows: for larger ones, weights need the memory. */
  private static final long MOST_WINDOWS = 48 * 1024;

  private final Convolution op;
  private final List<TensorView> operands;
  private final TensorView result;
  private final TileSpaceBuilder space;
  private final String kernel;
  private final int batch;

  /** The axis of groups, or of the filters of a single group. */
  private final int parts;

  private final WindowTiles tiles;

  /** Whether cores gather windows, if their sums need it. */
  private final boolean gathers;

  private ConvolutionSpace(
      Convolution op, List<TensorView> operands, TensorView result, boolean gathers) {
    this.op = op;
    this.gathers = gathers;
    this.operands = operands;
    this.result = result;
    this.kernel = "convolution_" + KernelTypes.operands(data().element(), weight().element());
    this.space = new TileSpaceBuilder(kernel);
    this.batch = space.axis("batch", data().shape().getFirst(), 1);
    this.parts =
        isGrouped() ? space.axis("groups", op.groups(), 1) : space.axis("filters", filters(), 1);
    int y = space.axis("y", WindowTiles.places(result, 2), 1);
    int x = space.axis("x", WindowTiles.places(result, 1), 1);
    this.tiles = new WindowTiles(op.window(), data(), result, y, x, false);
  }

  private TensorView data() {
    return operands.get(0);
  }

  private TensorView weight() {
    return operands.get(1);
  }

  private boolean isGrouped() {
    return op.groups() > 1;
  }

  private long filters() {
    return weight().shape().getFirst();
  }

  /** Of a group. */
  private long channels() {
    return weight().shape().get(1);
  }

  /** Returns the part of the tile's groups or filters, with a number of elements for each. */
  private BoxDimension part(long each, long extent, long stride) {
    return new BoxDimension(
        TileExpression.start(parts).times(each),
        TileExpression.size(parts).times(each),
        extent,
        stride);
  }

  private BoxDimension filterBox(long stride) {
    return part(isGrouped() ? filters() / op.groups() : 1, filters(), stride);
  }

  private List<BoxDimension> dataBox() {
    List<BoxDimension> box = new ArrayList<>();
    box.add(BoxDimension.along(batch, data().shape().get(0), data().strides().get(0)));
    long stride = data().strides().get(1);
    box.add(
        isGrouped()
            ? part(channels(), data().shape().get(1), stride)
            : BoxDimension.whole(channels(), stride));
    box.addAll(tiles.box());
    return box;
  }

  private List<BoxDimension> weightBox() {
    List<BoxDimension> box = new ArrayList<>();
    box.add(filterBox(weight().strides().getFirst()));
    for (int i = 1; i < weight().shape().size(); i++) {
      box.add(BoxDimension.whole(weight().shape().get(i), weight().strides().get(i)));
    }
    return box;
  }

  /** Returns the dimensions of the result, without rows if there is one spatial dimension. */
  private List<BoxDimension> resultBox() {
    List<BoxDimension> box = new ArrayList<>();
    box.add(BoxDimension.along(batch, result.shape().get(0), result.strides().get(0)));
    box.add(filterBox(result.strides().get(1)));
    List<BoxDimension> places = tiles.resultBox();
    box.addAll(places.subList(2 - op.window().spatialRank(), 2));
    return box;
  }

  /**
   * Returns the tilings of a convolution, and those without gathered windows, which take less
   * memory.
   *
   * @param requantize the requantization of the sums in the same group; its parameters are the last
   *     operands before those of epilogues
   */
  static TileSpace of(
      Convolution op,
      List<TensorView> operands,
      TensorView result,
      Optional<Requantize> requantize,
      TileEpilogues epilogues) {
    ConvolutionSpace gathering = new ConvolutionSpace(op, operands, result, true);
    TileSpace space = gathering.build(requantize, epilogues);
    return gathering.needsWindows()
        ? space.inLessMemory(
            new ConvolutionSpace(op, operands, result, false).build(requantize, epilogues))
        : space;
  }

  private TileSpace build(Optional<Requantize> requantize, TileEpilogues epilogues) {
    List<Argument> arguments = new ArrayList<>();
    arguments.add(pointer("x", space.load("x", 0, data().element(), dataBox())));
    arguments.add(pointer("weight", space.load("weight", 1, weight().element(), weightBox())));
    arguments.add(
        op.bias()
            ? pointer("bias", space.load("bias", 2, op.result(), List.of(filterBox(1))))
            : none("bias"));
    List<BoxDimension> box = resultBox();
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(result, box));
    int out = space.store("out", operands.size(), result.element(), box);
    List<TensorView> own = operands.subList(0, operands.size() - others.count());
    // Before the sums, which a fused kernel has no need of.
    OptionalInt windows = windows();
    Optional<Requantization> end = requantize.map(each -> new Requantization(each, own, box));
    List<TileExpression> sizes = box.stream().map(BoxDimension::size).toList();
    TileEpilogues.Values values = others.values(out, result.element(), sizes);
    Argument.Value first = values.first(result.element());
    Argument sums = end.map(each -> each.sums(space, first)).orElse(new Argument("out", first));
    arguments.add(sums);
    arguments.add(windows.isPresent() ? scratch("windows", windows.getAsInt()) : none("windows"));
    arguments.add(tiles.arguments());
    arguments.add(integer("batch", TileExpression.size(batch)));
    arguments.add(integer("groups", isGrouped() ? TileExpression.size(parts) : one()));
    arguments.add(integer("channels", channels()));
    arguments.add(integer("filters", filterBox(1).size()));
    arguments.add(integer("parts", windows.isPresent() ? ConvolutionKernels.PARTS : 0));
    space.call(kernel, arguments);
    end.ifPresent(each -> each.call(space, sums, first, List.of()));
    values.call(List.of());
    return space.build();
  }

  /** Adds a place where cores gather windows of bytes. */
  private OptionalInt windows() {
    return needsWindows()
        ? OptionalInt.of(space.scratch("windows", TileExpression.of(windowBytes())))
        : OptionalInt.empty();
  }

  /** Whether sums need a place for windows, and it is small. */
  private boolean needsWindows() {
    boolean isOfBytes = data().element().isByte() && weight().element().isByte();
    return gathers
        && isOfBytes
        && windowBytes() > 0
        && windowBytes() <= MOST_WINDOWS
        && !isOfLines();
  }

  private long windowBytes() {
    return ConvolutionKernels.windowBytes(channels() * tiles.kernel());
  }

  private boolean isOfLines() {
    List<Long> dilations = op.window().dilations();
    return ConvolutionKernels.isOfLines(
        channels(),
        filters() / op.groups(),
        tiles.kernelRows(),
        tiles.kernel() / tiles.kernelRows(),
        dilations.getLast());
  }

  private static TileExpression one() {
    return TileExpression.of(1);
  }
}
