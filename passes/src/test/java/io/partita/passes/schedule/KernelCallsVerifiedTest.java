package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each single change of a kernel call in a valid schedule is rejected. */
class KernelCallsVerifiedTest {
  /** Loops of several tiles, in which strides and counts matter. */
  enum Loop {
    UNARY_OF_BROADCAST(
        graph -> {
          Value x = SmallPrograms.input(graph, "x", 1, 3, 1, 50);
          Value wide = graph.add(new Movement.Broadcast(Shape.of(2, 3, 4, 50)), x);
          graph.output("y", SmallPrograms.unary(graph, UnaryFunction.NEG, wide));
        }),
    BINARY(
        graph -> {
          Value x = SmallPrograms.input(graph, "x", 2, 30, 5);
          Value y = SmallPrograms.input(graph, "y", 30, 1);
          graph.output("z", graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, y));
        }),
    PRODUCT(
        graph -> {
          Value left = SmallPrograms.input(graph, "left", 2, 9, 40);
          Value right = SmallPrograms.input(graph, "right", 2, 40, 21);
          graph.output("y", graph.add(new Contraction.MatMul(ElementType.F32), left, right));
        }),
    REDUCTION(
        graph -> {
          Value x = SmallPrograms.input(graph, "x", 7, 30, 9);
          graph.output(
              "y", graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1), false), x));
        }),
    SOFTMAX(
        graph -> {
          Value x = SmallPrograms.input(graph, "x", 7, 30, 9);
          graph.output("y", graph.add(new Reduction.Softmax(1, false), x));
        }),
    ATTENTION(
        graph -> {
          Value q = SmallPrograms.input(graph, "q", 1, 4, 3, 8);
          Value k = SmallPrograms.input(graph, "k", 1, 2, 40, 8);
          Value v = SmallPrograms.input(graph, "v", 1, 2, 40, 8);
          Structured.Attention attention =
              new Structured.Attention(0.5, 0, false, Dim.of(0), 0, false, false);
          graph.output("y", graph.add(attention, q, k, v));
        }),
    STREAMED_ATTENTION(
        graph -> {
          Value q = graph.input("q", TensorType.of(ElementType.I8, 1, 2, 3, 8));
          Value k = graph.input("k", TensorType.of(ElementType.I8, 1, 2, 196, 8));
          Value v = graph.input("v", TensorType.of(ElementType.I8, 1, 2, 196, 8));
          Structured.Attention attention =
              new Structured.Attention(0.01, 0, false, Dim.of(0), 0, false, false, 0.5);
          graph.output("y", graph.add(attention, q, k, v));
        });

    private final Schedule schedule;

    Loop(Consumer<GraphBuilder> body) {
      schedule =
          Scheduler.schedule(
              SmallPrograms.of(body),
              TargetLibrary.find("siracusa"),
              new SchedulerOptions(OptionalLong.of(2000), true, true));
    }

    private TiledKernel kernel() {
      return schedule.roles().getFirst().kernels().getFirst();
    }

    private void requireRefused(TiledKernel changed, String change) {
      assertThatThrownBy(() -> ScheduleVerifier.verify(with(changed)), "%s: %s", this, change)
          .hasMessageContaining("error P441");
    }

    private Schedule with(TiledKernel kernel) {
      ChipSchedule chip = schedule.roles().getFirst();
      return ChangedChips.with(schedule, ChangedChips.withKernels(chip, List.of(kernel)));
    }
  }

  /** Fields that determine the function, not counts or positions of elements. */
  private static final Set<String> MEANING =
      Set.of("group", "causal", "window", "position", "more_keys");

  private static TiledKernel with(TiledKernel kernel, List<KernelCall> calls) {
    return new TiledKernel(
        kernel.name(),
        kernel.axes(),
        kernel.operands(),
        kernel.scratch(),
        calls,
        kernel.stages(),
        kernel.workingBytes());
  }

  private static KernelCall with(KernelCall call, int argument, Argument.Value value) {
    List<Argument> arguments = new ArrayList<>(call.arguments());
    arguments.set(argument, new Argument(arguments.get(argument).field(), value));
    return new KernelCall(call.kernel(), arguments, call.onFirst(), call.onLast());
  }

  /** Returns the value of an expression in full tiles. */
  private static long atFullSize(TiledKernel kernel, TileExpression expression) {
    TileExpression known =
        expression.replacing(
            leaf ->
                leaf instanceof TileExpression.Size(int axis)
                    ? TileExpression.of(kernel.axes().get(axis).tile())
                    : leaf);
    return known instanceof TileExpression.Literal(long value) ? value : 2;
  }

  /** Returns the number of indices of a stride. */
  private static long extent(TiledKernel kernel, KernelCall call, String stride, int index) {
    return switch (stride) {
      case "left_batch", "right_batch", "out_batch" -> argument(kernel, call, "batch", 0);
      case "q_head", "out_head" -> argument(kernel, call, "heads", 0);
      case "q_row", "out_row" ->
          call.kernel().struct().name().startsWith("attention")
              ? argument(kernel, call, "seq", 0)
              : 2;
      case "k_head", "v_head" ->
          argument(kernel, call, "heads", 0) / argument(kernel, call, "group", 0);
      case "scores_row" -> argument(kernel, call, "heads", 0) * argument(kernel, call, "seq", 0);
      case "joined_strides" -> argument(kernel, call, "joined_extents", index);
      case "strides", "left_strides", "right_strides" -> argument(kernel, call, "extents", index);
      default -> 2;
    };
  }

  private static long argument(TiledKernel kernel, KernelCall call, String field, int index) {
    Argument found =
        call.arguments().stream().filter(each -> each.field().equals(field)).findFirst().get();
    return switch (found.value()) {
      case Argument.Value.Integer(var value) -> atFullSize(kernel, value);
      case Argument.Value.Integers(var values) -> atFullSize(kernel, values.get(index));
      case Argument.Value other -> throw new AssertionError(found);
    };
  }

  /** A change of an argument. */
  private interface Changes {
    List<Argument.Value> of(TiledKernel kernel, KernelCall call, Argument argument);
  }

  /** Changes each argument of each call, one at a time. */
  private static int refusesChanges(Loop loop, Function<Argument, List<Argument.Value>> changes) {
    return refuses(loop, (kernel, call, argument) -> changes.apply(argument));
  }

  private static int refuses(Loop loop, Changes changes) {
    TiledKernel kernel = loop.kernel();
    int refused = 0;
    for (int i = 0; i < kernel.calls().size(); i++) {
      KernelCall call = kernel.calls().get(i);
      for (int argument = 0; argument < call.arguments().size(); argument++) {
        for (Argument.Value value : changes.of(kernel, call, call.arguments().get(argument))) {
          List<KernelCall> calls = new ArrayList<>(kernel.calls());
          calls.set(i, with(call, argument, value));
          loop.requireRefused(with(kernel, calls), call.arguments().get(argument) + " as " + value);
          refused++;
        }
      }
    }
    return refused;
  }

  @ParameterizedTest
  @EnumSource
  void validLoopsAreAccepted(Loop loop) {
    assertThat(loop.kernel().tiles()).isGreaterThan(1);
    ScheduleVerifier.verify(loop.with(loop.kernel()));
  }

  @ParameterizedTest
  @EnumSource
  void largerCountsAndStridesAreRefused(Loop loop) {
    int refused = refuses(loop, (kernel, call, argument) -> changed(kernel, call, argument, 1));
    assertThat(refused).isGreaterThan(0);
  }

  @ParameterizedTest
  @EnumSource
  void smallerCountsAndStridesAreRefused(Loop loop) {
    int refused = refuses(loop, (kernel, call, argument) -> changed(kernel, call, argument, -1));
    assertThat(refused).isGreaterThan(0);
  }

  /** Excludes values that are 0 or 1 in all tiles, and unused strides. */
  private static List<Argument.Value> changed(
      TiledKernel kernel, KernelCall call, Argument argument, long by) {
    return switch (argument.value()) {
      case Argument.Value.Integer(var value)
          when matters(argument.field(), value) && extent(kernel, call, argument.field(), 0) > 1 ->
          List.of(new Argument.Value.Integer(value.plus(by)));
      case Argument.Value.Integers(var values) -> {
        List<Argument.Value> changes = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
          boolean isPresent =
              !(values.get(i) instanceof TileExpression.Literal(long known)) || known > 1;
          if (isPresent && extent(kernel, call, argument.field(), i) > 1) {
            List<TileExpression> one = new ArrayList<>(values);
            one.set(i, one.get(i).plus(by));
            changes.add(new Argument.Value.Integers(one));
          }
        }
        yield changes;
      }
      case Argument.Value other -> List.of();
    };
  }

  private static boolean matters(String field, TileExpression value) {
    boolean isFlag = field.equals("accumulate") || field.equals("first");
    boolean isPresent = !(value instanceof TileExpression.Literal(long known)) || known > 1;
    return !isFlag && isPresent && !MEANING.contains(field);
  }

  /** Tests that only the first tile initialises sums. */
  @ParameterizedTest
  @EnumSource(names = {"PRODUCT", "ATTENTION"})
  void readsBeforeWritesAreRefused(Loop loop) {
    int refused =
        refusesChanges(
            loop,
            argument ->
                switch (argument.field()) {
                  case "accumulate" -> List.of(new Argument.Value.Integer(TileExpression.of(1)));
                  case "first" -> List.of(new Argument.Value.Integer(TileExpression.of(0)));
                  default -> List.of();
                });
    assertThat(refused).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void missingAndMovedPointersAreRefused(Loop loop) {
    int refused =
        refusesChanges(
            loop,
            argument ->
                switch (argument.value()) {
                  case Argument.Value.OperandPointer(var operand, var offset) ->
                      List.of(
                          new Argument.Value.Null(),
                          new Argument.Value.OperandPointer(operand, offset.plus(1)),
                          new Argument.Value.OperandPointer(operand, offset.plus(-1)));
                  case Argument.Value.ScratchPointer(var scratch, var offset) ->
                      List.of(
                          new Argument.Value.Null(),
                          new Argument.Value.ScratchPointer(scratch, offset.plus(4)));
                  case Argument.Value other -> List.of();
                });
    assertThat(refused).isGreaterThan(3);
  }

  @ParameterizedTest
  @EnumSource
  void smallerLoadsAreRefused(Loop loop) {
    TiledKernel kernel = loop.kernel();
    for (int i = 0; i < kernel.operands().size(); i++) {
      TileOperand one = kernel.operands().get(i);
      for (int dimension = 0; dimension < one.box().size(); dimension++) {
        List<BoxDimension> box = new ArrayList<>(one.box());
        BoxDimension whole = box.remove(dimension);
        if (one.direction() == Direction.LOAD && atFullSize(kernel, whole.size()) > 1) {
          loop.requireRefused(with(kernel, i, one, box), one.name() + " without " + whole);
          box.add(
              dimension,
              new BoxDimension(
                  whole.start(),
                  whole.size().minus(TileExpression.of(1)),
                  whole.extent(),
                  whole.stride()));
          loop.requireRefused(with(kernel, i, one, box), one.name() + " with less of " + whole);
        }
      }
    }
  }

  private static TiledKernel with(
      TiledKernel kernel, int index, TileOperand operand, List<BoxDimension> box) {
    List<TileOperand> operands = new ArrayList<>(kernel.operands());
    operands.set(
        index,
        new TileOperand(
            operand.name(),
            operand.element(),
            operand.direction(),
            box,
            operand.offset(),
            operand.slotBytes(),
            operand.slots()));
    return new TiledKernel(
        kernel.name(),
        kernel.axes(),
        operands,
        kernel.scratch(),
        kernel.calls(),
        kernel.stages(),
        kernel.workingBytes());
  }

  /** Scores need keys, weights all scores, and values the tile of the second pass. */
  @ParameterizedTest
  @CsvSource({"0, true", "1, false", "2, false"})
  void callsInMoreTilesAreRefused(int index, boolean isFirst) {
    TiledKernel kernel = Loop.STREAMED_ATTENTION.kernel();
    KernelCall call = kernel.calls().get(index);
    List<KernelCall> calls = new ArrayList<>(kernel.calls());
    calls.set(
        index,
        new KernelCall(
            call.kernel(),
            call.arguments(),
            isFirst ? List.of() : call.onFirst(),
            isFirst ? call.onLast() : List.of()));
    assertThat(calls).isNotEqualTo(kernel.calls());
    Loop.STREAMED_ATTENTION.requireRefused(with(kernel, calls), call.function());
  }

  @ParameterizedTest
  @EnumSource
  void missingCallsAreRefused(Loop loop) {
    TiledKernel kernel = loop.kernel();
    for (int i = 0; i < kernel.calls().size(); i++) {
      List<KernelCall> calls = new ArrayList<>(kernel.calls());
      KernelCall call = calls.remove(i);
      loop.requireRefused(with(kernel, calls), "without " + call.function());
    }
  }

  @ParameterizedTest
  @EnumSource(names = "ATTENTION")
  void smallerScratchIsRefused(Loop loop) {
    TiledKernel kernel = loop.kernel();
    assertThat(kernel.scratch()).isNotEmpty();
    for (int i = 0; i < kernel.scratch().size(); i++) {
      List<TileScratch> scratch = new ArrayList<>(kernel.scratch());
      TileScratch one = scratch.get(i);
      scratch.set(i, new TileScratch(one.name(), one.offset(), one.bytes() / 2));
      TiledKernel changed =
          new TiledKernel(
              kernel.name(),
              kernel.axes(),
              kernel.operands(),
              scratch,
              kernel.calls(),
              kernel.stages(),
              kernel.workingBytes());
      loop.requireRefused(changed, one + " with half the bytes");
    }
  }
}
