package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.KernelCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Assigns the work of a loop to processors, and its order. */
public final class Stages {
  private final List<TileAxis> axes;
  private final List<TileOperand> operands;
  private final List<KernelCall> calls;

  private Stages(List<TileAxis> axes, List<TileOperand> operands, List<KernelCall> calls) {
    this.axes = axes;
    this.operands = operands;
    this.calls = calls;
  }

  /**
   * One processor moves tiles and starts kernels. Operands with a second slot are loaded for the
   * next tile while the cores compute, if a kernel runs in each tile; those with one slot are
   * loaded after kernels have read them. Large tiles of a loop without further tiles are awaited
   * before the first kernel that uses them.
   *
   * @param queuesLoads whether loads for the next tile start before those of the current one are
   *     awaited, so that the DMA never waits for the processor; otherwise cores are started first,
   *     so that they never do
   */
  public static List<Stage> control(
      List<TileAxis> axes,
      List<TileOperand> operands,
      List<KernelCall> calls,
      boolean queuesLoads) {
    return List.of(new Stages(axes, operands, calls).control(queuesLoads));
  }

  /** One processor loads, one computes and one stores, each as far as queues allow. */
  static List<Stage> pipeline(
      List<TileAxis> axes, List<TileOperand> operands, List<KernelCall> calls) {
    return new Stages(axes, operands, calls).pipeline();
  }

  private Stage control(boolean queuesLoads) {
    List<Stage.LoadNext> early = new ArrayList<>();
    List<Stage.LoadNext> late = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      if (is(i, Direction.LOAD) && changes(operands.get(i))) {
        (operands.get(i).slots() > 1 ? early : late).add(new Stage.LoadNext(i));
      }
    }
    List<Stage.LoadNext> meanwhile = List.of();
    List<Stage.Action> actions = awaitsBefore(0);
    if (queuesLoads) {
      actions.addAll(0, early);
    } else if (!calls.isEmpty() && runsInEachTile(calls.getFirst())) {
      meanwhile = early;
    } else {
      actions.addAll(early);
    }
    for (int call = 0; call < calls.size(); call++) {
      if (call > 0) {
        actions.addAll(awaitsBefore(call));
      }
      actions.add(new Stage.Call(call, call == 0 ? meanwhile : List.of()));
    }
    actions.addAll(stores());
    actions.addAll(late);
    return new Stage("control", actions);
  }

  private List<Stage> pipeline() {
    List<Stage.Action> loads = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      if (is(i, Direction.LOAD)) {
        loads.add(new Stage.Load(i));
      }
    }
    List<Stage.Action> compute = awaits(operand -> true);
    for (int call = 0; call < calls.size(); call++) {
      compute.add(new Stage.Call(call, List.of()));
    }
    return List.of(
        new Stage("reader", loads), new Stage("compute", compute), new Stage("writer", stores()));
  }

  private List<Stage.Action> awaitsBefore(int call) {
    return awaits(operand -> call == (isLong(operand) ? firstCall(calls, operand) : 0));
  }

  private List<Stage.Action> awaits(IntPredicate which) {
    List<Stage.Action> awaits = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      if (operands.get(i).isMoved() && which.test(i)) {
        awaits.add(new Stage.Await(i));
      }
    }
    return awaits;
  }

  private boolean isLong(int operand) {
    return axes.stream().allMatch(axis -> axis.count() == 1)
        && is(operand, Direction.LOAD)
        && isLong(operands.get(operand).slotBytes());
  }

  /** Whether loading the only tile takes longer than starting cores once more. */
  static boolean isLong(double bytes) {
    return bytes >= PreloadRoom.LEAST_BYTES;
  }

  /** Returns the first call that uses an operand, or the first of the run that it is a part of. */
  static int firstCall(List<KernelCall> calls, int operand) {
    int first =
        IntStream.range(0, calls.size())
            .filter(call -> calls.get(call).uses(operand))
            .findFirst()
            .orElse(0);
    return ElementRun.of(calls).stream()
        .filter(run -> run.first() <= first && first < run.end())
        .findFirst()
        .map(ElementRun::first)
        .orElse(first);
  }

  private List<Stage.Action> stores() {
    List<Stage.Action> stores = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      if (is(i, Direction.STORE)) {
        stores.add(new Stage.Store(i));
      }
    }
    return stores;
  }

  private boolean is(int operand, Direction direction) {
    return operands.get(operand).isMoved() && operands.get(operand).direction() == direction;
  }

  private boolean changes(TileOperand operand) {
    for (int axis = 0; axis < axes.size(); axis++) {
      if (axes.get(axis).count() > 1 && operand.dependsOn(axis)) {
        return true;
      }
    }
    return false;
  }

  private boolean runsInEachTile(KernelCall call) {
    return IntStream.range(0, axes.size())
        .noneMatch(axis -> call.isConditional(axis) && axes.get(axis).count() > 1);
  }
}
