package io.partita.passes.schedule.place;

import io.partita.ir.schedule.ScheduleStep;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * When weights are fetched: each as soon as its room is free and the queue of transfers isn't full,
 * in the order in which they're needed.
 */
final class TransferQueue {
  /** What a port queues; with more, the control core would wait to start one. */
  private static final int MOST_UNDER_WAY = 8;

  /** A multiple of the alignment that one transfer can move (hal.h). */
  private static final long LONGEST = 131_064;

  /**
   * One transfer.
   *
   * @param free the task before which it may begin
   * @param first the task before which it must have ended
   */
  private record Piece(
      int number, int free, int first, long l3, long l2, long bytes, String node) {}

  private final Deque<Piece> waiting = new ArrayDeque<>();
  private final Deque<Piece> underWay = new ArrayDeque<>();
  private final boolean ahead;
  private int count;

  /**
   * @param ahead whether transfers begin before they're needed
   */
  TransferQueue(boolean ahead) {
    this.ahead = ahead;
  }

  /** Adds what is needed after all that was added before, or at the same time. */
  void add(int free, int first, long l3, long l2, long bytes, String node) {
    for (long done = 0; done < bytes; done += LONGEST) {
      long size = Math.min(LONGEST, bytes - done);
      waiting.add(
          new Piece(count++ % MOST_UNDER_WAY, free, first, l3 + done, l2 + done, size, node));
    }
  }

  /** The steps that come right before a task; tasks come in order. */
  List<ScheduleStep> before(int task) {
    List<ScheduleStep> steps = new ArrayList<>();
    startFree(task, steps);
    while (!waiting.isEmpty() && waiting.peek().first <= task) {
      if (underWay.size() == MOST_UNDER_WAY) {
        await(steps);
      }
      start(steps);
    }
    while (!underWay.isEmpty() && underWay.peek().first <= task) {
      await(steps);
    }
    startFree(task, steps);
    return steps;
  }

  private void startFree(int task, List<ScheduleStep> steps) {
    while (ahead
        && !waiting.isEmpty()
        && waiting.peek().free <= task
        && underWay.size() < MOST_UNDER_WAY) {
      start(steps);
    }
  }

  private void start(List<ScheduleStep> steps) {
    Piece next = waiting.remove();
    underWay.add(next);
    steps.add(
        new ScheduleStep.StartTransfer(next.number, true, next.l3, next.l2, next.bytes, next.node));
  }

  private void await(List<ScheduleStep> steps) {
    Piece oldest = underWay.remove();
    steps.add(new ScheduleStep.WaitTransfer(oldest.number, oldest.node));
  }
}
