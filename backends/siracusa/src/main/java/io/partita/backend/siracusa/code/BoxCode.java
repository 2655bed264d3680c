package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.LoopFunction.BoxCall;
import io.partita.backend.siracusa.model.LoopFunction.BoxFunction;
import io.partita.backend.siracusa.model.LoopFunction.Dimension;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.NearCopy;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The loads, stores and addresses of the operands of one loop. */
final class BoxCode {
  /** {@code PARTITA_TRANSFER_LIMIT}. */
  private static final long LARGEST_TRANSFER = 131_071;

  private final TiledKernel kernel;
  private final Expressions expressions;
  private final Optional<NearCopy> copy;

  /**
   * @param copy what the loop copies without a kernel
   */
  BoxCode(TiledKernel kernel, Expressions expressions, Optional<NearCopy> copy) {
    this.kernel = kernel;
    this.expressions = expressions;
    this.copy = copy;
  }

  private TileOperand operand(int index) {
    return kernel.operands().get(index);
  }

  /** The parameter with the operand's address in L2, or in L1 if it is near. */
  String place(int index) {
    return operand(index).name() + (operand(index).isNear() ? "_l1" : "_l2");
  }

  String slot(int index) {
    return operand(index).name() + "_slot";
  }

  String tile(int index) {
    return operand(index).name() + "_tile";
  }

  /** Whether the operand's tiles alternate between two slots. */
  boolean alternates(int index) {
    TileOperand operand = operand(index);
    return operand.slots() == 2
        && IntStream.range(0, kernel.axes().size())
            .anyMatch(axis -> expressions.isLoop(axis) && operand.dependsOn(axis));
  }

  /** The axes that determine a tile's address or size. */
  private List<Integer> axesOf(int index) {
    return IntStream.range(0, kernel.axes().size())
        .filter(expressions::isLoop)
        .filter(axis -> operand(index).box().stream().anyMatch(each -> moves(each, axis)))
        .boxed()
        .toList();
  }

  private boolean moves(BoxDimension dimension, int axis) {
    return dimension.stride() != 0 && expressions.simplified(dimension.start()).dependsOn(axis)
        || expressions.simplified(dimension.size()).dependsOn(axis);
  }

  /** The address of the first element of a tile in its tensor. */
  String address(int index) {
    TileOperand operand = operand(index);
    TileExpression offset = TileExpression.of(0);
    for (BoxDimension dimension : operand.box()) {
      long bytes = dimension.stride() * bytes(operand);
      offset = offset.plus(expressions.simplified(dimension.start().times(bytes)));
    }
    String text = expressions.print(offset);
    return text.equals("0") ? place(index) : place(index) + " + " + text;
  }

  static long bytes(TileOperand operand) {
    return operand.element().packedBytes(1);
  }

  /** The address in L1 of the current tile. */
  private String local(int index) {
    TileOperand operand = operand(index);
    if (copy.isPresent()) {
      return address(copy.get().from());
    }
    if (operand.isNear()) {
      return address(index);
    }
    String first = "partita_l1 + " + operand.offset();
    return alternates(index) ? first + " + " + slot(index) + " * " + operand.slotBytes() : first;
  }

  private String functionName(int index) {
    String verb = operand(index).direction() == Direction.STORE ? "_store_" : "_load_";
    return kernel.name() + verb + operand(index).name();
  }

  BoxFunction function(int index) {
    TileOperand operand = operand(index);
    boolean isStore = operand.direction() == Direction.STORE;
    List<String> parameters = new ArrayList<>();
    parameters.add((isStore ? "uint8_t *" : "const uint8_t *") + place(index));
    copy.ifPresent(own -> parameters.add("const uint8_t *" + place(own.from())));
    if (alternates(index)) {
      parameters.add("int32_t " + slot(index));
    }
    axesOf(index).forEach(axis -> parameters.add("int32_t " + expressions.variable(axis)));
    scalarsOf(index).forEach(scalar -> parameters.add("int32_t " + expressions.scalar(scalar)));
    List<BoxDimension> box = operand.box().stream().map(BoxDimension::whenLoaded).toList();
    TileExpression line =
        expressions.simplified(
            (box.isEmpty() ? TileExpression.of(1) : box.getLast().size()).times(bytes(operand)));
    List<Dimension> dimensions = new ArrayList<>();
    for (BoxDimension dimension : box.subList(0, Math.max(0, box.size() - 1)).reversed()) {
      TileExpression size = expressions.simplified(dimension.size());
      long stride = Math.multiplyExact(dimension.stride(), bytes(operand));
      if (dimensions.isEmpty() && line.equals(TileExpression.of(stride))) {
        line = size.times(stride);
      } else if (!size.equals(TileExpression.of(1))) {
        dimensions.addFirst(new Dimension(expressions.print(size), Expressions.literal(stride)));
      }
    }
    return new BoxFunction(
        functionName(index),
        comment(operand),
        parameters,
        sizes(index),
        condition(operand),
        started(isStore, operand.slotBytes() <= LARGEST_TRANSFER ? dimensions.size() : 0),
        box(index),
        isStore ? address(index) : local(index),
        isStore ? local(index) : address(index),
        dimensions,
        unsigned(expressions.print(expressions.simplified(line))));
  }

  /** The condition under which a tile isn't empty; empty if none is. */
  private Optional<String> condition(TileOperand operand) {
    List<String> conditions =
        operand.box().stream()
            .flatMap(dimension -> dimension.conditions().stream())
            .map(expressions::print)
            .filter(text -> !text.equals("1"))
            .toList();
    String all = String.join(" && ", conditions);
    return switch (conditions.size()) {
      case 0 -> Optional.empty();
      case 1 -> Optional.of(all);
      default -> Optional.of("(" + all + ")");
    };
  }

  /**
   * The runtime function: lines that one transfer moves, and planes of them, take shorter ones.
   *
   * @param dimensions of lines, if one transfer can move them all
   */
  private static String started(boolean isStore, int dimensions) {
    String kind =
        switch (dimensions) {
          case 1 -> "_lines";
          case 2 -> "_planes";
          default -> "_start";
        };
    return "partita_box_" + (isStore ? "store" : "load") + kind;
  }

  private static String unsigned(String expression) {
    return expression.matches("[0-9]+") ? expression : "(uint32_t)(" + expression + ")";
  }

  private static String comment(TileOperand operand) {
    return operand.box().stream()
        .map(dimension -> Long.toString(dimension.extent()))
        .collect(Collectors.joining(", ", operand.name() + ": " + operand.element() + "[", "]"));
  }

  /** Only the sizes that the box uses. */
  private List<Variable> sizes(int index) {
    return axesOf(index).stream()
        .filter(expressions::hasRemainder)
        .filter(axis -> operand(index).box().stream().anyMatch(each -> usesSize(each, axis)))
        .map(
            axis -> new Variable(expressions.sizeVariable(axis), expressions.sizeInitialiser(axis)))
        .toList();
  }

  private static boolean usesSize(BoxDimension dimension, int axis) {
    return Uses.size(dimension.start(), axis) || Uses.size(dimension.size(), axis);
  }

  private List<Integer> scalarsOf(int index) {
    return IntStream.range(0, kernel.operands().size())
        .filter(
            scalar ->
                operand(index).box().stream()
                    .anyMatch(
                        each ->
                            Uses.scalar(each.start(), scalar) || Uses.scalar(each.size(), scalar)))
        .boxed()
        .toList();
  }

  /** Starts the load or store of the tile that begins at the given axis variables. */
  BoxCall call(
      int index, Optional<String> condition, Optional<String> flip, IntFunction<String> starts) {
    List<String> arguments = new ArrayList<>();
    arguments.add(place(index));
    copy.ifPresent(own -> arguments.add(place(own.from())));
    if (alternates(index)) {
      arguments.add(slot(index));
    }
    axesOf(index).forEach(axis -> arguments.add(starts.apply(axis)));
    scalarsOf(index).forEach(scalar -> arguments.add(expressions.scalar(scalar)));
    boolean isLoad = operand(index).direction() == Direction.LOAD;
    return new BoxCall(condition, flip, isLoad, functionName(index), arguments);
  }

  /** The number of the operand's first box among those of its direction. */
  private long number(int index) {
    return count(kernel, operand(index).direction(), index);
  }

  /** Returns how many boxes loads of a loop need, or how many pairs of boxes its stores. */
  static long count(TiledKernel kernel, Direction direction) {
    return count(kernel, direction, kernel.operands().size());
  }

  private static long count(TiledKernel kernel, Direction direction, int end) {
    return IntStream.range(0, end)
        .filter(index -> kernel.operands().get(index).isMoved())
        .filter(index -> kernel.operands().get(index).direction() == direction)
        .map(index -> isQueued(kernel, index) ? 2 : 1)
        .sum();
  }

  private static boolean isQueued(TiledKernel kernel, int index) {
    return kernel.stages().stream().anyMatch(stage -> stage.queues(index));
  }

  /** A store may be in progress for each slot, and a load if loads are queued. */
  private String box(int index) {
    long number = number(index);
    if (operand(index).direction() == Direction.LOAD) {
      return "&loads[" + number + (isQueued(kernel, index) ? " + " + slot(index) : "") + "]";
    }
    return "&stores[" + number + "][" + (alternates(index) ? slot(index) : "0") + "]";
  }

  /** The box of the current tile; the slot may be that of the next one already. */
  String awaited(int index) {
    return isQueued(kernel, index) ? operand(index).name() + "_load" : box(index);
  }

  /** The boxes of current tiles whose loads are queued. */
  List<Variable> queued() {
    return IntStream.range(0, kernel.operands().size())
        .filter(index -> isQueued(kernel, index))
        .mapToObj(index -> new Variable(awaited(index), box(index)))
        .toList();
  }

  /** All stores of an operand that may be in progress. */
  List<String> stores(int index) {
    String boxes = "&stores[" + number(index) + "]";
    return alternates(index) ? List.of(boxes + "[0]", boxes + "[1]") : List.of(boxes + "[0]");
  }

  /** The addresses of the current tiles in L1. */
  List<Variable> pointers() {
    return IntStream.range(0, kernel.operands().size())
        .filter(index -> operand(index).direction() != Direction.SCALAR)
        .filter(index -> Uses.pointer(kernel, index))
        .mapToObj(index -> new Variable(tile(index), local(index)))
        .toList();
  }
}
