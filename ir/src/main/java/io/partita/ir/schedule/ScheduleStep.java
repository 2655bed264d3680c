package io.partita.ir.schedule;

import io.partita.ir.graph.Origin;
import io.partita.ir.op.Communication;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/** One thing that the control core of a chip does; the next begins when it's done. */
public sealed interface ScheduleStep {
  /** Where the node that it's for comes from: for comments, traces and reports. */
  Origin origin();

  /**
   * Runs a loop over tiles.
   *
   * @param kernel index in {@link ChipSchedule#kernels}
   * @param operands offset at home of the first element of each of the loop's operands, in order
   * @param text what it computes, with shapes
   */
  record RunTiles(int kernel, List<Long> operands, Origin origin, String text)
      implements ScheduleStep {
    public RunTiles {
      operands = List.copyOf(operands);
    }
  }

  /**
   * Starts a transfer between {@link ChipSchedule#home} and a farther memory, which goes on during
   * the steps that follow.
   *
   * @param transfer its number among those under way at once; a {@link WaitTransfer} of the same
   *     number ends it
   * @param fetch whether from the farther memory
   */
  record StartTransfer(
      int transfer, boolean fetch, Address far, long home, long bytes, Origin origin)
      implements ScheduleStep {}

  record WaitTransfer(int transfer, Origin origin) implements ScheduleStep {}

  /**
   * Fetches rows of a table in a farther memory, one after the other, by indices that are at home.
   * An index below 0 counts from the end; one that is out of range gives zeros.
   *
   * @param rowBytes a multiple of the alignment of that memory
   * @param indices offset at home
   * @param home offset of the first row that is fetched
   * @param index i32 or i64
   */
  record FetchRows(
      Address table,
      long rows,
      long rowBytes,
      long indices,
      ElementType index,
      long count,
      long home,
      Origin origin)
      implements ScheduleStep {}

  /**
   * This chip's messages of one collective.
   *
   * @param exchanges for each of the devices of the role, in their order: peers and places differ,
   *     kinds and sizes of steps don't
   * @param operand offset at home of the elements that the chip has, in the order of the exchange;
   *     none if they are in the vector
   * @param result likewise of the elements that it's to have
   * @param vector offset at home of the whole vector
   * @param message offset at home of room for the largest message that isn't sent or received in
   *     place; none if all are
   * @param working offset in {@link ChipSchedule#working} of the room for joining what is received
   */
  record Exchange(
      List<Communication.Exchange> exchanges,
      ElementType element,
      Optional<Long> operand,
      Optional<Long> result,
      long vector,
      Optional<Long> message,
      long working,
      long workingBytes,
      Origin origin)
      implements ScheduleStep {
    public Exchange {
      exchanges = List.copyOf(exchanges);
    }
  }

  /** Fills bytes at home with zeros: a cache before its first run, a padding. */
  record Clear(long home, long bytes, Origin origin) implements ScheduleStep {}
}
