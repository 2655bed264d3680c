package io.partita.ir.schedule;

import java.util.List;

/**
 * The actions of one processor for each tile, in order. The stages of a loop run concurrently, as
 * far as queues allow: the slots of an operand are the queue between the stage that fills them and
 * the one that empties them.
 *
 * @param name a short C identifier: {@code control}, or {@code reader}, {@code compute}, {@code
 *     writer}
 */
public record Stage(String name, List<Action> actions) {
  public Stage {
    actions = List.copyOf(actions);
  }

  /**
   * Returns whether the load of an operand's next tile starts before the current one is awaited, so
   * that both may be in progress.
   */
  public boolean queues(int operand) {
    int next = actions.indexOf(new LoadNext(operand));
    return next >= 0 && next < actions.indexOf(new Await(operand));
  }

  /** An action for each tile, or for each tile that differs from the previous one. */
  public sealed interface Action {}

  /**
   * Waits until the tile of an operand is loaded, or until the slot of a result may be written.
   *
   * @param operand the number of the operand in the loop
   */
  public record Await(int operand) implements Action {}

  /** Loads the tile of an operand as soon as there is a free slot. */
  public record Load(int operand) implements Action {}

  /** Starts to load the tile of an operand for the next tile. */
  public record LoadNext(int operand) implements Action {}

  /**
   * Runs a kernel.
   *
   * @param call the number of the call in the loop
   * @param meanwhile the actions of the processor while cores run it
   */
  public record Call(int call, List<LoadNext> meanwhile) implements Action {
    public Call {
      meanwhile = List.copyOf(meanwhile);
    }
  }

  /** Starts to store the tile of a result. */
  public record Store(int operand) implements Action {}
}
