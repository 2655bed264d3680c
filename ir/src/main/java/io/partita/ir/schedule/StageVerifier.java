package io.partita.ir.schedule;

import io.partita.ir.schedule.Stage.Action;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Verifies that the stages of a loop contain all its actions once, in an order in which nothing is
 * read before it is written or written while it is read.
 */
final class StageVerifier {
  private static final ScheduleFault FAULT = ScheduleFault.TILES;

  private final TiledKernel kernel;

  private StageVerifier(TiledKernel kernel) {
    this.kernel = kernel;
  }

  static void verify(TiledKernel kernel) {
    new StageVerifier(kernel).run();
  }

  private void require(boolean condition, Stage stage, Object expected, Object found) {
    FAULT.require(condition, "loop " + kernel.name() + ", stage " + stage.name(), expected, found);
  }

  private void run() {
    List<Stage> computing =
        kernel.stages().stream()
            .filter(stage -> stage.actions().stream().anyMatch(Stage.Call.class::isInstance))
            .toList();
    FAULT.require(
        computing.size() == 1,
        "loop " + kernel.name() + ", stages",
        "a stage that runs kernels",
        computing.size());
    List<Integer> loaded = new ArrayList<>();
    List<Integer> stored = new ArrayList<>();
    for (Stage stage : kernel.stages()) {
      boolean computes = stage == computing.getFirst();
      for (Action action : stage.actions()) {
        switch (action) {
          case Stage.Load(int operand) -> {
            require(!computes, stage, "prefetching loads in a separate stage", action);
            loaded.add(operand);
          }
          case Stage.LoadNext(int operand) -> {
            require(computes, stage, "loads for the next tile in the stage of kernels", action);
            loaded.add(operand);
          }
          case Stage.Store(int operand) -> stored.add(operand);
          case Stage.Await(int operand) -> requireMoved(stage, operand);
          case Stage.Call(int call, var meanwhile) ->
              meanwhile.forEach(next -> loaded.add(next.operand()));
        }
      }
    }
    boolean isAlone = kernel.stages().size() == 1;
    for (int i = 0; i < kernel.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      boolean isLoaded =
          operand.isMoved()
              && operand.direction() == Direction.LOAD
              && (!isAlone || changes(operand));
      boolean isStored = operand.isMoved() && operand.direction() == Direction.STORE;
      requireOnce(loaded, i, isLoaded, "load");
      requireOnce(stored, i, isStored, "store");
      FAULT.require(
          !operand.isMoved() || !isAlone || operand.slots() <= 2,
          "loop " + kernel.name() + ", " + operand.name(),
          isAlone ? "1 or 2 slots, because one stage prefetches one tile" : "at least one slot",
          operand.slots());
    }
    requireOrder(computing.getFirst());
  }

  private boolean changes(TileOperand operand) {
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      if (kernel.axes().get(axis).count() > 1 && operand.dependsOn(axis)) {
        return true;
      }
    }
    return false;
  }

  private void requireMoved(Stage stage, int operand) {
    boolean isKnown = operand >= 0 && operand < kernel.operands().size();
    require(
        isKnown && kernel.operands().get(operand).isMoved(),
        stage,
        "an operand whose tiles move",
        operand);
  }

  private void requireOnce(List<Integer> moved, int operand, boolean expected, String verb) {
    long times = moved.stream().filter(each -> each == operand).count();
    FAULT.require(
        times == (expected ? 1 : 0),
        "loop " + kernel.name() + ", " + kernel.operands().get(operand).name(),
        verb + " it " + (expected ? "once" : "in no stage"),
        times + " times");
  }

  /** Verifies the stage that runs kernels. */
  private void requireOrder(Stage stage) {
    Set<Integer> awaited = new HashSet<>();
    int calls = 0;
    for (Action action : stage.actions()) {
      switch (action) {
        case Stage.Await(int operand) -> awaited.add(operand);
        case Stage.Call(int call, var meanwhile) -> {
          require(call == calls, stage, "call " + calls, action);
          for (int i = 0; i < kernel.operands().size(); i++) {
            boolean isNeeded =
                calls >= kernel.calls().size() - 1 || kernel.calls().get(call).uses(i);
            require(
                awaited.contains(i) || !isNeeded || !kernel.operands().get(i).isMoved(),
                stage,
                kernel.operands().get(i).name() + " to be awaited before kernels that use it",
                action);
          }
          meanwhile.forEach(next -> requireFree(stage, next, true));
          calls++;
        }
        case Stage.LoadNext next -> requireFree(stage, next, calls < kernel.calls().size());
        case Stage.Store store ->
            require(calls == kernel.calls().size(), stage, "stores after all kernels", store);
        case Stage.Load load -> require(false, stage, "no loads", load);
      }
    }
    require(calls == kernel.calls().size(), stage, kernel.calls().size() + " calls", calls);
  }

  private void requireFree(Stage stage, Stage.LoadNext next, boolean isRead) {
    require(
        !isRead || kernel.operands().get(next.operand()).slots() > 1,
        stage,
        "a slot that kernels don't read",
        next);
  }
}
