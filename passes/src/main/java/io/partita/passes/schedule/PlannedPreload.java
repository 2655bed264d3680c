package io.partita.passes.schedule;

import io.partita.passes.schedule.view.Region;
import java.util.List;

/**
 * A weight that is copied to the working memory ahead of its loop.
 *
 * @param parts in the order of their bytes
 * @param to the task of the loop that uses it
 * @param offset of the copy in the working memory
 */
record PlannedPreload(List<Part> parts, int to, Region constant, long offset) {
  /** The alignment of copies in the working memory, in bytes. */
  static final long ALIGNMENT = 16;

  /** Bytes whose transfer a task starts. */
  record Part(int task, long start, long bytes) {}

  PlannedPreload {
    parts = List.copyOf(parts);
  }

  /** Returns the task that starts the first part. */
  int from() {
    return parts.getFirst().task;
  }

  /** Whether the run before starts it. */
  boolean isAhead() {
    return from() > to;
  }

  /** Whether its bytes are taken at a task. */
  boolean isAt(int task) {
    return isAhead() ? task <= to || from() <= task : from() <= task && task <= to;
  }

  /** Whether there is a task at which the bytes of both are taken. */
  boolean meets(PlannedPreload other) {
    return isAt(other.from()) || other.isAt(from());
  }

  long end() {
    return offset + aligned(constant.bytes());
  }

  /** Returns the next multiple of the alignment of copies. */
  static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }
}
