package io.partita.ir.schedule;

import java.util.List;

/**
 * What one processor does for each tile, in order. Several stages of a loop run at the same time,
 * each as far as its queues let it: the slots of a tile's operand are the queue between the stage
 * that fills them and the one that empties them.
 *
 * @param name a short C identifier: {@code control}, or {@code reader}, {@code compute}, {@code
 *     writer}
 */
public record Stage(String name, List<Action> actions) {
  public Stage {
    actions = List.copyOf(actions);
  }

  /** Something that is done once for each tile, or where a tile is another one. */
  public sealed interface Action {}

  /**
   * Waits until the operand's tile is there, or until the slot of a result may be written to.
   *
   * @param operand its number in the loop
   */
  public record Await(int operand) implements Action {}

  /** Loads the operand's tile as soon as it has a free slot. */
  public record Load(int operand) implements Action {}

  /** Starts to load the operand's tile of the tile that follows. */
  public record LoadNext(int operand) implements Action {}

  /**
   * Runs a kernel.
   *
   * @param call its number in the loop
   * @param meanwhile what the processor does while cores run it
   */
  public record Call(int call, List<LoadNext> meanwhile) implements Action {
    public Call {
      meanwhile = List.copyOf(meanwhile);
    }
  }

  /** Starts to store the result's tile. */
  public record Store(int operand) implements Action {}
}
