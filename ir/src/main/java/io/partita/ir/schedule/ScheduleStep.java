package io.partita.ir.schedule;

import io.partita.ir.graph.Origin;
import io.partita.ir.message.Actions;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Verdict;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/** A step of the control core of a chip. Steps are executed one after the other. */
public sealed interface ScheduleStep {
  /** The origin of its node, for comments, traces and reports. */
  Origin origin();

  /**
   * Runs a loop over tiles.
   *
   * @param kernel the index in {@link ChipSchedule#kernels}
   * @param operands the offset of the first element of each operand of the loop, in order: in the
   *     home memory, or in the working memory if the operand is {@link TileOperand#isNear near}
   * @param text a description of the computation with shapes
   */
  record RunTiles(int kernel, List<Long> operands, Origin origin, String text)
      implements ScheduleStep {
    public RunTiles {
      operands = List.copyOf(operands);
    }
  }

  /**
   * Starts a transfer between {@link ChipSchedule#home} and a farther memory, which continues
   * during the following steps.
   *
   * @param transfer the number among transfers in flight; a {@link WaitTransfer} with the same
   *     number ends it
   * @param fetch whether it reads from the farther memory
   * @param far the place of the first byte in the farther memory; of the whole state, if only lines
   *     of it are moved
   * @param home likewise in the home memory
   * @param bytes the bytes that it moves
   * @param lines the lines of a state to which it is limited; the number of the first one is read
   *     when it starts
   */
  record StartTransfer(
      int transfer,
      boolean fetch,
      Address far,
      long home,
      long bytes,
      Optional<StateLines> lines,
      Origin origin)
      implements ScheduleStep {
    /** A transfer of adjacent bytes. */
    public StartTransfer(
        int transfer, boolean fetch, Address far, long home, long bytes, Origin origin) {
      this(transfer, fetch, far, home, bytes, Optional.empty(), origin);
    }

    /** Returns the spill of the changed lines of a state. */
    public static StartTransfer spill(
        int transfer, Address far, long home, StateLines lines, Origin origin) {
      return new StartTransfer(
          transfer, false, far, home, lines.bytes(), Optional.of(lines), origin);
    }

    /** Returns the bytes from the first place on among which the moved ones are. */
    public long extent() {
      return lines.map(StateLines::stateBytes).orElse(bytes);
    }
  }

  record WaitTransfer(int transfer, Origin origin) implements ScheduleStep {}

  /**
   * Copies bytes of a constant from {@link ChipSchedule#home} to {@link ChipSchedule#working},
   * behind the bytes that steps use there. If the next step that is no preload is a loop, it starts
   * the transfer when its own last tile has arrived; an exchange starts it when it has begun, if
   * its messages are received in place, and else parts then and while it waits for messages, and
   * the rest at its end. Before any other step, the transfer starts at once. Transfers are served
   * in the order of their steps. One continues until an {@link AwaitPreload} with the same number,
   * which ends all transfers with this number.
   *
   * @param preload the number among preloads in flight
   * @param home the offset of the bytes in the home memory
   * @param working the offset of their copy in the working memory
   */
  record Preload(int preload, long home, long working, long bytes, Origin origin)
      implements ScheduleStep {
    /**
     * The most preloads before a loop or an exchange; {@code PARTITA_PRELOADS} of the C runtime.
     */
    public static final int MOST = 4;
  }

  record AwaitPreload(int preload, Origin origin) implements ScheduleStep {}

  /**
   * Starts to fetch rows of a table in a farther memory, by indices in the home memory, which it
   * reads. Negative indices count from the end; an index out of range gives zeros. The rows are on
   * their way until an {@link AwaitRows} with the same number, in the same guarded region or
   * likewise outside of any.
   *
   * @param number the number among fetches of rows in flight
   * @param rowBytes a multiple of the alignment of that memory
   * @param indices the offset of the indices in the home memory
   * @param home the offset of the first fetched row in the home memory
   * @param index the type of indices, i32 or i64
   */
  record FetchRows(
      int number,
      Address table,
      long rows,
      long rowBytes,
      long indices,
      ElementType index,
      long count,
      long home,
      Origin origin)
      implements ScheduleStep {
    /** Returns the bytes of the fetched rows. */
    public long bytes() {
      return count * rowBytes;
    }
  }

  record AwaitRows(int number, Origin origin) implements ScheduleStep {}

  /**
   * Begins the next exchange of the run: copies its operand into its vector, posts receives, and
   * starts sends, up to the first message that it waits for ({@link Actions#beginning}). Messages
   * are on their way during the steps before the exchange, which leave its vector and its buffers
   * alone, and may read its operand, also in the vector.
   */
  record BeginExchange(Origin origin) implements ScheduleStep {
    /**
     * Returns the exchange that it begins: the first one after it, unless another one is begun
     * before.
     *
     * @param steps of the run
     * @param index of this step among them
     */
    public Optional<Exchange> next(List<ScheduleStep> steps, int index) {
      return steps.stream()
          .skip(index + 1L)
          .filter(step -> step instanceof Exchange || step instanceof BeginExchange)
          .findFirst()
          .filter(Exchange.class::isInstance)
          .map(Exchange.class::cast);
    }
  }

  /**
   * The messages of this chip in a collective, those that have begun before included.
   *
   * @param exchanges the exchange of each device of the role, in order; peers and places differ,
   *     kinds and sizes of steps do not
   * @param operand the offset in the home memory of the chip's elements, in the order of the
   *     exchange; empty if they are in the vector
   * @param result likewise for the elements of the result; empty if they stay in the vector
   * @param vector the offset in the home memory of the whole vector
   * @param message the offset in the home memory of the buffers of {@link Actions}; empty if all
   *     messages are sent and received in place
   * @param working the offset in {@link ChipSchedule#working} of the buffer for combining received
   *     elements
   */
  record Exchange(
      List<Communication.Exchange> exchanges,
      ElementType element,
      Optional<Long> operand,
      Optional<Lines> result,
      long vector,
      Optional<Long> message,
      long working,
      long workingBytes,
      Origin origin)
      implements ScheduleStep {
    public Exchange {
      exchanges = List.copyOf(exchanges);
    }

    /** Returns the bytes of the buffers of messages; 0 if none is needed. */
    public long messageBytes() {
      return messageBytes(exchanges);
    }

    /** Returns the bytes of the buffers of messages for the exchange of each device of a role. */
    public static long messageBytes(List<Communication.Exchange> exchanges) {
      return exchanges.stream().mapToLong(each -> each.actions().room()).max().orElse(0);
    }
  }

  /**
   * Bytes in lines.
   *
   * @param home the offset of the first line in the home memory
   * @param bytes of a line; all bytes if they are contiguous
   * @param stride from one line to the next, in bytes; as many as a line has if they are contiguous
   */
  record Lines(long home, long bytes, long stride) {
    public static Lines contiguous(long home, long bytes) {
      return new Lines(home, bytes, bytes);
    }

    public boolean isContiguous() {
      return bytes == stride;
    }

    /** Returns the offset in the home memory of a byte. */
    public long place(long number) {
      return home + number / bytes * stride + number % bytes;
    }
  }

  /**
   * Begins a guarded region: reads its conditions once, and skips the steps after it unless all of
   * them hold. Transfers among these steps run anyway, so that the same ones are in flight for all
   * outcomes.
   *
   * @param conditions at least one
   * @param steps the number of steps after this one to which the region extends, transfers included
   * @param foreseen which devices run the region, for predictions; empty if that depends on data
   */
  record Guard(List<Condition> conditions, int steps, Optional<Foreseen> foreseen, Origin origin)
      implements ScheduleStep {
    public Guard {
      conditions = List.copyOf(conditions);
    }

    /** Whether a device runs the region if all comparisons have this outcome, as far as known. */
    public boolean runs(int device, Verdict verdict) {
      return foreseen.map(known -> known.devices(verdict).contains(device)).orElse(true);
    }
  }

  /**
   * The devices of the role that run a guarded region.
   *
   * @param hits those that run it if all comparisons of floats are true
   * @param misses those that run it if all are false
   */
  record Foreseen(List<Integer> hits, List<Integer> misses) {
    public Foreseen {
      hits = List.copyOf(hits);
      misses = List.copyOf(misses);
    }

    public List<Integer> devices(Verdict verdict) {
      return switch (verdict) {
        case HIT -> hits;
        case MISS -> misses;
      };
    }
  }

  /**
   * A condition of a guarded region.
   *
   * @param home the offset in the home memory of a {@code bool[]}
   * @param expected the value with which the condition holds
   */
  record Condition(long home, boolean expected) {}

  /** Whether a guard may skip the step; it never skips transfers. */
  default boolean isSkippable() {
    return switch (this) {
      case StartTransfer _, WaitTransfer _, Preload _, AwaitPreload _ -> false;
      case RunTiles _, FetchRows _, AwaitRows _, BeginExchange _, Exchange _, Guard _, Clear _ ->
          true;
    };
  }

  /** Whether the step starts the transfers of each {@link Preload} directly before it. */
  default boolean startsPreloads() {
    return this instanceof RunTiles || this instanceof Exchange;
  }

  /** Fills bytes of the home memory with zeros: a cache before its first run, or padding. */
  record Clear(long home, long bytes, Origin origin) implements ScheduleStep {}
}
